/** Sessions: one standing session for an agent, a sequence that only successes move, records numbered without gaps. */
import assert from 'node:assert/strict';

import type { SessionId } from '../../src/core/call/call.ts';
import type { Transition } from '../../src/ports/store.ts';
import {
  aCall,
  aRecord,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  opening,
  startMs,
  stepping,
  stored,
  updating,
  verdictOf,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const note = (id: SessionId) => aRecord({ kind: 'clock_held', session: id });
const stepOf = (id: SessionId, over: Parameters<typeof stepping>[1] = {}): Transition =>
  aTransition({ session: stepping(id, over), records: [note(id)] });

export function provesSessions(create: Create): void {
  const prove = withStore(create);

  prove('an opened session is read back, with its first record counted', async (store) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    assert.deepEqual({ ...(await store.session(session.id)) }, { ...session, entries: 1 });
    assert.equal(await store.session('ses_none' as SessionId), null);
    assert.equal(await store.standingSession('acme', 'clerk'), null);
  });

  prove('an agent has at most one standing session', async (store) => {
    const first = aSession({ standing: true });
    const sessions = [first, ...Array.from({ length: 20 }, () => aSession({ standing: true }))];
    const results = await Promise.all(sessions.map((session) => commitOne(store, opening(session))));
    assert.equal(results.filter(({ kind }) => kind === 'committed').length, 1);
    const standing = await store.standingSession('acme', 'clerk');
    for (const result of results)
      if (result.kind === 'conflict') assert.equal(result.on === 'session' && result.found?.id, standing?.id);
    await mustCommit(store, opening(aSession({ standing: true, agent: 'other' })));
    await mustCommit(store, opening(aSession({ standing: true, tenant: 'other' })));
    await mustCommit(store, opening(aSession()));
  });

  prove('a session id is opened once, and the same token again is the same opening', async (store) => {
    const session = aSession();
    const open = opening(session);
    const first = await mustCommit(store, open);
    assert.deepEqual(await mustCommit(store, open), first);
    const other = await commitOne(store, opening(session));
    assert.equal(other.kind === 'conflict' && other.on === 'session' && other.found?.id, session.id);
    assert.equal((await store.session(session.id))?.entries, 1);
  });

  prove('only an advance moves the sequence, and the result tells it', async (store) => {
    const { id } = await opened(store);
    assert.equal((await mustCommit(store, stepOf(id))).seq, 0);
    assert.equal((await mustCommit(store, stepOf(id, { advance: true }))).seq, 1);
    assert.equal((await mustCommit(store, stepOf(id, { advance: true, expectSeq: 1 }))).seq, 2);
    const stale = await commitOne(store, stepOf(id, { expectSeq: 1 }));
    assert.equal(stale.kind === 'conflict' && stale.on === 'session' && stale.found?.seq, 2);
    assert.equal((await store.session(id))?.entries, 4);
  });

  prove('a step that was applied and is committed again moves nothing', async (store) => {
    const { id } = await opened(store);
    const step = stepOf(id, { advance: true });
    const first = await mustCommit(store, step);
    await mustCommit(store, stepOf(id, { advance: true }));
    assert.deepEqual(await mustCommit(store, step), first);
    assert.equal((await store.session(id))?.seq, 2);
  });

  prove('of many who expect the same sequence exactly one advances', async (store) => {
    const { id } = await opened(store);
    const steps = Array.from({ length: 50 }, () => commitOne(store, stepOf(id, { advance: true, expectSeq: 0 })));
    const verdicts = (await Promise.all(steps)).map(verdictOf);
    assert.equal(verdicts.filter((verdict) => verdict === 'committed').length, 1);
    assert.equal((await store.session(id))?.seq, 1);
  });

  prove('a call keeps the sequence of its session', async (store) => {
    const { id } = await opened(store);
    const call = aCall({ session: id, state: 'DISPATCHED' });
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], { session: stepping(id) }));
    const settled = updating(call, { state: 'SUCCEEDED', dueAtMs: null }, { session: stepping(id, { advance: true }) });
    const result = await mustCommit(store, settled);
    assert.equal(result.seq, 1);
    await mustCommit(store, stepOf(id, { advance: true }));
    assert.equal((await stored(store, call.id)).seq, 1);
    assert.deepEqual(await mustCommit(store, settled), result);
  });

  prove('a cancelled session refuses those who expect it open, and only them', async (store) => {
    const { id } = await opened(store);
    await mustCommit(store, aTransition({ session: { kind: 'cancel', id }, records: [note(id)] }));
    assert.equal((await store.session(id))?.state, 'cancelled');
    assert.equal(verdictOf(await commitOne(store, stepOf(id))), 'session');
    await mustCommit(store, stepOf(id, { expectOpen: false }));
  });

  prove('a cancelled turn is known, and no other', async (store) => {
    const { id } = await opened(store);
    const cancel = { kind: 'cancel_turn', id, turn: 't1' } as const;
    await mustCommit(store, aTransition({ session: cancel }));
    await mustCommit(store, aTransition({ session: cancel }));
    assert.equal(await store.turnCancelled(id, 't1'), true);
    assert.equal(await store.turnCancelled(id, 't2'), false);
    assert.equal(await store.turnCancelled('ses_other' as SessionId, 't1'), false);
  });

  prove('changes and records of a session that is not there are refused', async (store) => {
    const id = 'ses_none' as SessionId;
    const nothing = { kind: 'conflict', on: 'session', found: null };
    for (const session of [
      stepping(id),
      { kind: 'cancel', id } as const,
      { kind: 'cancel_turn', id, turn: 't' } as const,
    ])
      assert.deepEqual(await commitOne(store, aTransition({ session })), nothing);
    assert.deepEqual(await commitOne(store, aTransition({ records: [note(id)] })), nothing);
  });

  prove('records of a session are numbered without gaps or doubles, whatever fails between', async (store) => {
    const { id } = await opened(store);
    const steps = Array.from({ length: 60 }, (_, index) =>
      commitOne(store, index % 3 === 0 ? stepOf(id, { expectSeq: 99 }) : stepOf(id)),
    );
    await Promise.all(steps);
    const entries = await store.entries(null, 1_000);
    const numbers = entries.map(({ sessionSeq }) => sessionSeq).filter((number) => number > 0);
    assert.deepEqual(
      numbers,
      Array.from({ length: 41 }, (_, index) => index + 1),
    );
    assert.equal((await store.session(id))?.entries, 41);
  });

  async function opened(store: Parameters<typeof mustCommit>[0]) {
    const session = aSession({ openedAtMs: startMs });
    await mustCommit(store, opening(session));
    return session;
  }
}
