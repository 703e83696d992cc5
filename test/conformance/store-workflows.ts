/**
 * Workflow sessions: one turn at a time, states kept under their sequence, fences, timers, and a history of their own.
 */
import assert from 'node:assert/strict';

import type { CallId, SessionId } from '../../src/core/call/call.ts';
import type { CallState } from '../../src/core/taxonomy.ts';
import type { Session, SessionChange, Store, Transition, WorkflowChange } from '../../src/ports/store.ts';
import {
  aCall,
  aRecord,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  startMs,
  stepping,
  updating,
  verdictOf,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const nothing: WorkflowChange = {
  turn: null,
  call: null,
  operation: null,
  snapshot: null,
  fence: null,
  becomes: null,
  manifest: null,
};
const one = 'call_one' as CallId;
const two = 'call_two' as CallId;
const taking = (call: CallId) => ({ turn: 'take', call, operation: `op of ${call}` }) as const;

const aWorkflow = (timerAtMs: number | null = null): Session['workflow'] => ({
  name: 'coffee',
  manifest: 'm1',
  pinnedAtSeq: 0,
  turn: null,
  timerAtMs,
  reason: null,
});

/** Committed with a note, as every step of a session is. */
function change(id: SessionId, over: Partial<WorkflowChange>, at: Partial<Transition> = {}): Transition {
  const workflow = { ...nothing, ...over };
  const session: SessionChange = {
    ...stepping(id, { expectOpen: false }),
    advance: workflow.snapshot !== null,
    workflow,
  };
  return aTransition({ session, records: [aRecord({ kind: 'clock_held', session: id })], ...at });
}

async function opened(store: Store, timerAtMs: number | null = null, over: Partial<Session> = {}): Promise<SessionId> {
  const session = aSession({ workflow: aWorkflow(timerAtMs), ...over });
  await mustCommit(
    store,
    aTransition({
      session: { kind: 'open', session, snapshot: { text: '"begin"', dueAtMs: timerAtMs }, fences: [] },
      records: [aRecord({ kind: 'session_opened', session: session.id })],
    }),
  );
  return session.id;
}

export function provesWorkflows(create: Create): void {
  const prove = withStore(create);

  prove('a session begins with its first state, pinned to its manifest', async (store) => {
    const id = await opened(store);
    assert.equal(await store.snapshot(id, 0), '"begin"');
    assert.equal(await store.snapshot(id, 1), null);
    assert.deepEqual((await store.session(id))?.workflow, aWorkflow());
  });

  prove('the turn is taken once, by whoever comes first, and given back only by its holder', async (store) => {
    const id = await opened(store);
    await mustCommit(store, change(id, taking(one)));
    assert.deepEqual((await store.session(id))?.workflow?.turn, { call: one, operation: 'op of call_one' });
    const second = await commitOne(store, change(id, taking(two)));
    assert.equal(second.kind === 'conflict' && second.on === 'session' && second.found?.workflow?.turn?.call, one);
    assert.equal(verdictOf(await commitOne(store, change(id, { turn: 'free' }))), 'session');
    await mustCommit(store, change(id, { turn: 'release', call: two }));
    assert.equal((await store.session(id))?.workflow?.turn?.call, one);
    await mustCommit(store, change(id, taking(one)));
    await mustCommit(store, change(id, { turn: 'release', call: one }));
    await mustCommit(store, change(id, { turn: 'free' }));
    await mustCommit(store, change(id, taking(two)));
  });

  prove('of many who take the turn at once exactly one gets it', async (store) => {
    const id = await opened(store);
    const takes = Array.from({ length: 40 }, (_, n) => commitOne(store, change(id, taking(`call_${n}` as CallId))));
    const verdicts = (await Promise.all(takes)).map(verdictOf);
    assert.equal(verdicts.filter((verdict) => verdict === 'committed').length, 1);
  });

  prove(
    'a state is kept under the sequence that its step gives the session, and neither moves alone',
    async (store) => {
      const id = await opened(store);
      const moved = await mustCommit(store, change(id, { snapshot: { text: '"next"', dueAtMs: null } }));
      assert.equal(moved.seq, 1);
      assert.equal(await store.snapshot(id, 1), '"next"');
      assert.equal(await store.snapshot(id, 0), '"begin"');
      const alone = change(id, {});
      const bare = { ...alone, session: { ...alone.session, advance: true } as SessionChange };
      assert.equal(verdictOf(await commitOne(store, bare)), 'illegal');
      const plainStep = aTransition({ session: stepping(id, { advance: true }) });
      assert.equal(verdictOf(await commitOne(store, plainStep)), 'illegal');
      const still = change(id, { snapshot: { text: '"x"', dueAtMs: null } });
      const stuck = { ...still, session: { ...still.session, advance: false } as SessionChange };
      assert.equal(verdictOf(await commitOne(store, stuck)), 'illegal');
    },
  );

  prove('the first state that is kept is found from any sequence on', async (store) => {
    const id = await opened(store);
    for (let n = 0; n < 2; n++) await mustCommit(store, change(id, { snapshot: { text: '1', dueAtMs: null } }));
    const firsts = await Promise.all([0, 1, 2, 3].map((from) => store.firstSnapshot(id, from)));
    assert.deepEqual(firsts, [0, 1, 2, null]);
    assert.equal(await store.firstSnapshot('ses_other' as SessionId, 0), null);
  });

  prove('a manifest holds from the sequence at which it became another, also after a crash', async (store, home) => {
    const id = await opened(store);
    const move = (manifest: string | null) => change(id, { snapshot: { text: '1', dueAtMs: null }, manifest });
    const pins: string[] = [];
    for (const manifest of [null, 'm1', 'm2', null, 'm2', 'm1']) {
      await mustCommit(store, move(manifest));
      const now = await store.session(id);
      pins.push([now?.seq, now?.workflow?.manifest, now?.workflow?.pinnedAtSeq].join(' '));
    }
    assert.deepEqual(pins, ['1 m1 0', '2 m1 0', '3 m2 3', '4 m2 3', '5 m2 3', '6 m1 6']);
    await home.crash();
    const again = await home.open();
    await mustCommit(again, move(null));
    assert.equal((await again.session(id))?.workflow?.pinnedAtSeq, 6);
  });

  prove('a step that was applied and is committed again moves nothing', async (store) => {
    const id = await opened(store);
    const step = change(id, { snapshot: { text: '"next"', dueAtMs: null } });
    const first = await mustCommit(store, step);
    await mustCommit(store, change(id, { snapshot: { text: '"third"', dueAtMs: null } }));
    assert.deepEqual(await mustCommit(store, step), first);
    assert.equal((await store.session(id))?.seq, 2);
  });

  prove('what a turn or a fence is about must be said, and only a workflow session has them', async (store) => {
    const id = await opened(store);
    for (const over of [{ turn: 'take' }, { turn: 'release' }, { fence: 'raised' }, { fence: 'lifted' }] as const)
      assert.equal(verdictOf(await commitOne(store, change(id, over))), 'illegal', JSON.stringify(over));
    assert.equal(verdictOf(await commitOne(store, change(id, { turn: 'take', call: one }))), 'illegal');
    const plain = aSession();
    await mustCommit(store, aTransition({ session: { kind: 'open', session: plain, snapshot: null, fences: [] } }));
    assert.equal(verdictOf(await commitOne(store, change(plain.id, taking(one)))), 'illegal');
  });

  prove('a fence stands while its call is in doubt or has succeeded since, until it is lifted', async (store) => {
    const id = await opened(store);
    const call = aCall({ session: id, state: 'DISPATCHED', attempt: 1 });
    const take = { session: change(id, taking(call.id)).session };
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], take));
    const raise = change(id, { turn: 'release', call: call.id, fence: 'raised' }).session;
    await mustCommit(store, updating(call, { state: 'IN_DOUBT', dueAtMs: null }, { session: raise }));
    const [fence, ...more] = await store.fences(id);
    assert.deepEqual(
      [fence?.operation, fence?.call.id, fence?.call.state, more.length],
      [`op of ${call.id}`, call.id, 'IN_DOUBT', 0],
    );
    const doubted = { ...call, state: 'IN_DOUBT' as const, dueAtMs: null };
    await mustCommit(store, updating(doubted, { state: 'SUCCEEDED' }, { session: change(id, {}).session }));
    assert.deepEqual(
      (await store.fences(id)).map((found) => found.call.state),
      ['SUCCEEDED'],
    );
    assert.deepEqual(await store.fences('ses_other' as SessionId), []);
    await mustCommit(store, change(id, { call: call.id, fence: 'lifted' }));
    assert.deepEqual(await store.fences(id), []);
  });

  prove('the fence of a call that failed after all does not stand', async (store) => {
    const id = await opened(store);
    const call = aCall({ session: id, state: 'DISPATCHED', attempt: 1 });
    const take = { session: change(id, taking(call.id)).session };
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], take));
    const raise = change(id, { turn: 'release', call: call.id, fence: 'raised' }).session;
    await mustCommit(store, updating(call, { state: 'IN_DOUBT', dueAtMs: null }, { session: raise }));
    const doubted = { ...call, state: 'IN_DOUBT' as CallState, dueAtMs: null };
    await mustCommit(store, updating(doubted, { state: 'FAILED' }, { session: change(id, {}).session }));
    assert.deepEqual(await store.fences(id), []);
  });

  prove('timers are due in their order, move with the state, and end with the session', async (store) => {
    const late = await opened(store, startMs + 50);
    const soon = await opened(store, startMs + 10);
    await opened(store);
    const due = async (atMs: number) => (await store.dueSessions(atMs, ['m1'], 10)).map(({ id }) => id);
    assert.deepEqual(await due(startMs + 9), []);
    assert.deepEqual(await due(startMs + 100), [soon, late]);
    assert.equal((await store.dueSessions(startMs + 100, ['m1'], 1)).length, 1);
    assert.deepEqual(await store.dueSessions(startMs + 100, ['m2'], 10), []);
    assert.equal((await store.dueSessions(startMs + 100, ['m2', 'm1'], 10)).length, 2);
    assert.deepEqual(await store.dueSessions(startMs + 100, [], 10), [], 'whoever serves nothing fires nothing');
    await mustCommit(store, change(soon, { snapshot: { text: '1', dueAtMs: startMs + 90 } }));
    assert.deepEqual(await due(startMs + 100), [late, soon]);
    await mustCommit(store, change(late, { snapshot: { text: '1', dueAtMs: null } }));
    assert.deepEqual(await due(startMs + 100), [soon]);
    await mustCommit(store, change(soon, taking(one)));
    assert.deepEqual(await due(startMs + 100), [], 'whoever has the turn lets it wait');
    await mustCommit(store, change(soon, { turn: 'release', call: one }));
    assert.deepEqual(await due(startMs + 100), [soon]);
    await mustCommit(store, change(soon, { becomes: { state: 'stopped', reason: 'repair' } }));
    assert.deepEqual(await due(startMs + 100), []);
    assert.equal((await store.session(soon))?.workflow?.timerAtMs, null);
    const other = await opened(store, startMs + 10);
    await mustCommit(store, aTransition({ session: { kind: 'cancel', id: other } }));
    assert.deepEqual(await due(startMs + 100), []);
  });

  prove('a stopped session says why, and opens again', async (store) => {
    const id = await opened(store);
    await mustCommit(store, change(id, { becomes: { state: 'stopped', reason: 'refusal_limit' } }));
    const stopped = await store.session(id);
    assert.deepEqual([stopped?.state, stopped?.workflow?.reason], ['stopped', 'refusal_limit']);
    const closed = { ...change(id, {}), session: { ...change(id, {}).session, expectOpen: true } as SessionChange };
    assert.equal(verdictOf(await commitOne(store, closed)), 'session');
    await mustCommit(store, change(id, { becomes: { state: 'open', reason: null }, manifest: 'm2' }));
    const again = await store.session(id);
    assert.deepEqual([again?.state, again?.workflow?.reason, again?.workflow?.manifest], ['open', null, 'm2']);
  });

  prove('idle are those in which nothing runs and no timer waits, the longest unused first', async (store) => {
    const running = await opened(store);
    await opened(store, startMs + 10);
    const older = await opened(store);
    const newer = await opened(store);
    const gone = await opened(store);
    await mustCommit(store, change(running, taking(one)));
    await mustCommit(store, change(gone, { becomes: { state: 'closed', reason: 'unused' } }));
    await mustCommit(store, change(newer, {}, { atMs: startMs + 500 }));
    const idle = async (beforeMs: number) => (await store.idleSessions(beforeMs, 10)).map(({ id }) => id);
    assert.deepEqual(await idle(startMs + 1_000), [older, newer]);
    assert.deepEqual(await idle(startMs + 500), [older]);
    assert.equal((await store.idleSessions(startMs + 1_000, 1)).length, 1);
    assert.equal(await store.countSessions(), 4);
  });

  prove('sessions are listed by who has them and what they are of, the last used first', async (store) => {
    const first = await opened(store, null, { agent: 'ada' });
    const second = await opened(store, null, { agent: 'eve' });
    await mustCommit(
      store,
      aTransition({ session: { kind: 'open', session: aSession(), snapshot: null, fences: [] } }),
    );
    await mustCommit(store, change(first, {}, { atMs: startMs + 10 }));
    const listed = async (filter: object) => (await store.listSessions({ ...filter, limit: 10 })).map(({ id }) => id);
    assert.deepEqual(await listed({}), [first, second]);
    assert.deepEqual(await listed({ agent: 'eve' }), [second]);
    assert.deepEqual(await listed({ workflow: 'coffee', tenant: 'acme', state: 'open' }), [first, second]);
    assert.deepEqual(await listed({ workflow: 'tea' }), []);
    assert.equal((await store.listSessions({ limit: 1 })).length, 1);
  });

  prove('its records are read by their number in the session', async (store) => {
    const id = await opened(store);
    for (let n = 0; n < 5; n++) await mustCommit(store, change(id, {}));
    const numbers = async (after: number, limit: number) =>
      (await store.sessionEntries(id, after, limit)).map(({ sessionSeq }) => sessionSeq);
    assert.deepEqual(await numbers(0, 100), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(await numbers(2, 2), [3, 4]);
    assert.deepEqual(await store.sessionEntries('ses_other' as SessionId, 0, 10), []);
  });

  prove('everything about it survives a crash, and so does the identity of the store', async (store, home) => {
    const id = await opened(store, startMs + 10);
    const identity = await store.identity();
    assert.match(identity, /^[0-9a-f]{8}$/);
    await mustCommit(store, change(id, { snapshot: { text: '"next"', dueAtMs: startMs + 20 } }));
    await mustCommit(store, change(id, taking(one)));
    const before = await store.session(id);
    await home.crash();
    const again = await home.open();
    assert.deepEqual({ ...(await again.session(id)) }, { ...before });
    assert.equal(await again.snapshot(id, 1), '"next"');
    assert.equal(await again.identity(), identity);
    assert.equal(verdictOf(await commitOne(again, change(id, taking(two)))), 'session');
    await mustCommit(again, change(id, { turn: 'release', call: one }));
    assert.deepEqual(
      (await again.dueSessions(startMs + 20, ['m1'], 10)).map((due) => due.id),
      [id],
    );
  });
}
