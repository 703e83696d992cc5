/** Reversals and rollbacks: every move by compare-and-set, and a session that is rolled back takes no call. */
import assert from 'node:assert/strict';
import type { CallId, SessionId } from '../../../src/core/call/call.ts';
import type { Reversal, Rollback, RollbackStep } from '../../../src/core/reversal/reversal.ts';
import type { ReversalWrite, RollbackWrite, Store } from '../../../src/ports/store.ts';
import {
  aSession,
  aTransition,
  commitOne,
  mustCommit,
  nextId,
  opening,
  startMs,
  verdictOf,
} from '../store-fixtures.ts';
import { type Create, withStore } from '../with-store.ts';

const windowMs = 60_000;
const order = { by: 'ada', reason: 'twice' } as const;
const by = 'call_undo' as CallId;

const aReversal = (over: Partial<Reversal> = {}): Reversal => ({
  id: `rev_${nextId('r')}`,
  tenant: 'acme',
  agent: 'clerk',
  session: null,
  call: nextId('call') as CallId,
  tool: 'book',
  reverser: 'cancel',
  state: 'issued',
  windowMs,
  expiresAtMs: null,
  redeemedBy: null,
  tries: 0,
  askedBy: null,
  reason: null,
  ...over,
});

const moving = (...reversals: readonly ReversalWrite[]) => aTransition({ reversals });
const rolling = (...rollbacks: readonly RollbackWrite[]) => aTransition({ rollbacks });

async function mustIssue(store: Store, over: Partial<Reversal> = {}): Promise<Reversal> {
  const reversal = aReversal(over);
  await mustCommit(store, moving({ kind: 'issue', reversal }));
  return reversal;
}

async function mustArm(store: Store): Promise<Reversal> {
  const reversal = await mustIssue(store);
  await mustCommit(store, moving({ kind: 'arm', call: reversal.call, atMs: startMs, due: null }));
  return reversal;
}

export function provesReversals(create: Create): void {
  provesTokens(create);
  provesOrders(create);
}

function provesTokens(create: Create): void {
  const prove = withStore(create);

  prove('a reversal is issued once for a call, and armed by its success with the end of its time', async (store) => {
    const reversal = await mustIssue(store);
    assert.deepEqual(await store.reversal(reversal.id), reversal);
    const second = moving({ kind: 'issue', reversal: aReversal({ call: reversal.call }) });
    assert.equal(verdictOf(await commitOne(store, second)), 'reversal');
    await mustCommit(store, moving({ kind: 'arm', call: reversal.call, atMs: startMs + 5, due: null }));
    const armed = { ...reversal, state: 'armed', expiresAtMs: startMs + 5 + windowMs };
    assert.deepEqual(await store.reversalOf(reversal.call), armed);
    for (const late of [
      { kind: 'arm', call: reversal.call, atMs: startMs + 9, due: order },
      { kind: 'void', call: reversal.call },
      { kind: 'arm', call: 'call_none' as CallId, atMs: startMs, due: null },
    ] as const)
      await mustCommit(store, moving(late));
    assert.deepEqual(await store.reversalOf(reversal.call), armed);
  });

  prove('one that is issued can be neither redeemed nor ordered, and void stays void', async (store) => {
    const reversal = await mustIssue(store);
    const early = [
      { kind: 'redeem', id: reversal.id, by, tries: 0 },
      { kind: 'order', id: reversal.id, order },
      { kind: 'give_up', id: reversal.id },
    ] as const;
    for (const write of early) assert.equal(verdictOf(await commitOne(store, moving(write))), 'reversal');
    await mustCommit(store, moving({ kind: 'void', call: reversal.call }));
    await mustCommit(store, moving({ kind: 'arm', call: reversal.call, atMs: startMs, due: null }));
    for (const write of early) assert.equal(verdictOf(await commitOne(store, moving(write))), 'reversal');
    assert.deepEqual(await store.reversal(reversal.id), { ...reversal, state: 'void' });
  });
}

function provesOrders(create: Create): void {
  const prove = withStore(create);

  prove('it is redeemed once; what did nothing gives it back, and only with the next number', async (store) => {
    const { id, call } = await mustArm(store);
    const redeem = (tries: number, who = by) => moving({ kind: 'redeem', id, by: who, tries });
    await mustCommit(store, redeem(0));
    assert.equal(verdictOf(await commitOne(store, redeem(0, 'call_other' as CallId))), 'reversal');
    await mustCommit(store, moving({ kind: 'rearm', id, by: 'call_other' as CallId }));
    assert.equal((await store.reversal(id))?.state, 'redeemed');
    await mustCommit(store, moving({ kind: 'rearm', id, by }));
    const again = await store.reversal(id);
    assert.deepEqual([again?.state, again?.tries, again?.redeemedBy], ['armed', 1, null]);
    assert.equal(verdictOf(await commitOne(store, redeem(0))), 'reversal');
    await mustCommit(store, redeem(1));
    assert.equal((await store.reversalOf(call))?.redeemedBy, by);
  });

  prove('an order is listed until it is carried out or given up', async (store) => {
    const reversal = await mustArm(store);
    await mustCommit(store, moving({ kind: 'order', id: reversal.id, order }));
    assert.deepEqual(
      (await store.dueReversals(10)).map(({ id, askedBy }) => [id, askedBy]),
      [[reversal.id, 'ada']],
    );
    const twice = moving({ kind: 'order', id: reversal.id, order });
    assert.equal(verdictOf(await commitOne(store, twice)), 'reversal');
    await mustCommit(store, moving({ kind: 'give_up', id: reversal.id }));
    const given = await store.reversal(reversal.id);
    assert.deepEqual([given?.state, given?.askedBy, given?.reason], ['armed', null, null]);
    await mustCommit(store, moving({ kind: 'order', id: reversal.id, order }));
    await mustCommit(store, moving({ kind: 'redeem', id: reversal.id, by, tries: 0 }));
    assert.deepEqual(await store.dueReversals(10), []);
    const atOnce = await mustIssue(store);
    await mustCommit(store, moving({ kind: 'arm', call: atOnce.call, atMs: startMs, due: order }));
    assert.deepEqual(
      (await store.dueReversals(10)).map(({ id }) => id),
      [atOnce.id],
    );
  });

  prove('a transition that repeats itself moves nothing twice', async (store) => {
    const { id } = await mustArm(store);
    const redeem = moving({ kind: 'redeem', id, by, tries: 0 });
    await mustCommit(store, redeem);
    await mustCommit(store, redeem);
    assert.equal((await store.reversal(id))?.redeemedBy, by);
  });

  prove('what contradicts itself is illegal', async (store) => {
    const wrong: readonly (readonly ReversalWrite[])[] = [
      [{ kind: 'issue', reversal: aReversal({ state: 'armed' }) }],
      [{ kind: 'issue', reversal: aReversal({ tries: 1 }) }],
      [{ kind: 'arm', call: nextId('call') as CallId, atMs: 0.5, due: null }],
    ];
    for (const writes of wrong) assert.equal(verdictOf(await commitOne(store, moving(...writes))), 'illegal');
  });
}

const aStep = (over: Partial<RollbackStep> = {}): RollbackStep => ({
  call: nextId('call') as CallId,
  tool: 'book',
  position: 1,
  outcome: 'reversed',
  why: null,
  reversal: by,
  atMs: startMs,
  ...over,
});

async function started(store: Store, over: Partial<Rollback> = {}) {
  const session = aSession();
  await mustCommit(store, opening(session));
  const { id, tenant, agent } = session;
  const rollback: Rollback = {
    session: id,
    tenant,
    agent,
    state: 'running',
    by: 'ada',
    reason: 'off',
    startedAtMs: startMs,
    finishedAtMs: null,
    version: 1,
    ...over,
  };
  await mustCommit(store, rolling({ kind: 'start', rollback }));
  return rollback;
}

export function provesRollbacks(create: Create): void {
  const prove = withStore(create);

  prove('starting one closes its session; started again it is the same one', async (store) => {
    const rollback = await started(store);
    assert.equal((await store.session(rollback.session))?.state, 'closed');
    await mustCommit(store, rolling({ kind: 'start', rollback: { ...rollback, by: 'ben', startedAtMs: startMs + 1 } }));
    assert.deepEqual(await store.rollback(rollback.session), rollback);
    assert.deepEqual(await store.runningRollbacks(10), [rollback]);
    const nowhere = rolling({ kind: 'start', rollback: { ...rollback, session: 'ses_none' as SessionId } });
    assert.equal(verdictOf(await commitOne(store, nowhere)), 'session');
  });

  prove(
    'a step is written at the version that was read; a later one about the same call replaces it',
    async (store) => {
      const { session } = await started(store);
      const first = aStep({ outcome: 'in_doubt', reversal: null });
      const write = (expect: number, step: RollbackStep) => rolling({ kind: 'step', session, expect, step });
      await mustCommit(store, write(1, first));
      assert.equal(verdictOf(await commitOne(store, write(1, aStep({ position: 2 })))), 'rollback');
      await mustCommit(store, write(2, aStep({ position: 2, call: 'call_second' as CallId })));
      await mustCommit(store, write(3, { ...first, outcome: 'reversed' }));
      assert.deepEqual(
        (await store.rollbackSteps(session)).map(({ outcome, position }) => [outcome, position]),
        [
          ['reversed', 1],
          ['reversed', 2],
        ],
      );
    },
  );

  provesEnds(create);
}

function provesEnds(create: Create): void {
  const prove = withStore(create);

  prove('it is finished once, and then runs again only when it is started', async (store) => {
    const rollback = await started(store);
    const { session } = rollback;
    const finish = (expect: number) => rolling({ kind: 'finish', session, expect, atMs: startMs + 7 });
    await mustCommit(store, finish(1));
    assert.equal(verdictOf(await commitOne(store, finish(2))), 'rollback');
    const late = rolling({ kind: 'step', session, expect: 2, step: aStep() });
    assert.equal(verdictOf(await commitOne(store, late)), 'rollback');
    const finished = await store.rollback(session);
    assert.deepEqual([finished?.state, finished?.finishedAtMs], ['finished', startMs + 7]);
    assert.deepEqual(await store.runningRollbacks(10), []);
    await mustCommit(store, rolling({ kind: 'start', rollback: { ...rollback, startedAtMs: startMs + 9 } }));
    const again = await store.rollback(session);
    assert.deepEqual([again?.state, again?.startedAtMs, again?.version], ['running', startMs + 9, 3]);
  });

  prove('a call that was listed as in doubt is found once its reversal is armed', async (store) => {
    const { session } = await started(store);
    const reversal = await mustIssue(store);
    const step = aStep({ call: reversal.call, outcome: 'in_doubt', reversal: null });
    await mustCommit(store, rolling({ kind: 'step', session, expect: 1, step }));
    assert.deepEqual(await store.lateReversals(10), []);
    await mustCommit(store, moving({ kind: 'arm', call: reversal.call, atMs: startMs, due: null }));
    assert.deepEqual(
      (await store.lateReversals(10)).map(({ id }) => id),
      [reversal.id],
    );
  });
}
