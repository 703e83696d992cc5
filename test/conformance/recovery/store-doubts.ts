/** Calls in doubt: when somebody must look at them again, and what they fence outside workflows. */
import assert from 'node:assert/strict';

import type { Call, CallId, SessionId } from '../../../src/core/call/call.ts';
import type { FenceWrite, Session, Store, Transition } from '../../../src/ports/store.ts';
import {
  aCall,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  nextId,
  opening,
  startMs,
  stepping,
  stored,
  updating,
  verdictOf,
} from '../store-fixtures.ts';
import { type Create, withStore } from '../with-store.ts';

export function provesDoubts(create: Create): void {
  provesDueDoubts(create);
  provesLateLooks(create);
  provesFences(create);
}

async function doubted(store: Store, dueAtMs: number | null, over: Partial<Call> = {}): Promise<Call> {
  const call = aCall({ state: 'DISPATCHED', attempt: 1, ...over });
  await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
  await mustCommit(store, updating(call, { state: 'IN_DOUBT', dueAtMs }));
  return { ...call, state: 'IN_DOUBT', dueAtMs };
}

const looking = (id: CallId, expectAtMs: number | null, atMs: number | null, over: Partial<Transition> = {}) =>
  aTransition({ call: { kind: 'mark', id, requester: null, repeats: 0, due: { expectAtMs, atMs } }, ...over });

const dueIds = async (store: Store, nowMs: number) => (await store.due(nowMs, 99)).map(({ id }) => id);

function provesDueDoubts(create: Create): void {
  const prove = withStore(create);

  prove('a call in doubt is due if it has a time, and unfinished in no case', async (store) => {
    const [timed, forgotten] = [await doubted(store, startMs + 5), await doubted(store, null)];
    assert.deepEqual(await dueIds(store, startMs + 4), []);
    assert.deepEqual(await dueIds(store, startMs + 99), [timed.id]);
    assert.deepEqual(await store.unfinished('', 9), []);
    await mustCommit(store, updating(timed, { state: 'SUCCEEDED', dueAtMs: null }));
    assert.deepEqual(await dueIds(store, startMs + 99), []);
    assert.equal((await stored(store, forgotten.id)).state, 'IN_DOUBT');
  });

  prove('when to look at it again is moved, taken away and set anew', async (store) => {
    const { id } = await doubted(store, startMs + 5);
    await mustCommit(store, looking(id, startMs + 5, startMs + 50, { atMs: startMs + 6 }));
    const { dueAtMs, updatedAtMs, state } = await stored(store, id);
    assert.deepEqual([dueAtMs, updatedAtMs, state], [startMs + 50, startMs + 6, 'IN_DOUBT']);
    assert.deepEqual(await dueIds(store, startMs + 49), []);
    assert.deepEqual(await dueIds(store, startMs + 50), [id]);
    await mustCommit(store, looking(id, startMs + 50, null));
    assert.deepEqual(await dueIds(store, startMs + 999), []);
    await mustCommit(store, looking(id, null, startMs + 70));
    assert.deepEqual(await dueIds(store, startMs + 70), [id]);
  });

  prove('of many who saw the same time one sets the next, and the same token is the same act', async (store) => {
    const { id } = await doubted(store, startMs + 5);
    const all = Array.from({ length: 20 }, (_, index) => looking(id, startMs + 5, startMs + 100 + index));
    const results = await Promise.all(all.map((transition) => commitOne(store, transition)));
    const won = all.filter((_, index) => results[index]?.kind === 'committed');
    assert.equal(won.length, 1);
    const found = await stored(store, id);
    for (const result of results)
      if (result.kind !== 'committed') assert.deepEqual(result, { kind: 'conflict', on: 'call', found });
    await mustCommit(store, won[0] as Transition);
    assert.deepEqual(await dueIds(store, startMs + 999), [id], 'it has one timer');
  });
}

function provesLateLooks(create: Create): void {
  const prove = withStore(create);

  prove(
    'only a call in doubt is looked at again, and whoever settles it must have seen the last time',
    async (store) => {
      const running = aCall();
      await mustCommit(store, inserting(running));
      assert.equal(verdictOf(await commitOne(store, looking(running.id, running.dueAtMs, startMs))), 'call');
      const none = await commitOne(store, looking('call_none' as CallId, null, startMs));
      assert.deepEqual(none, { kind: 'conflict', on: 'call', found: null });
      const call = await doubted(store, startMs + 5);
      assert.equal(verdictOf(await commitOne(store, looking(call.id, startMs + 5, 0.5))), 'illegal');
      await mustCommit(store, looking(call.id, startMs + 5, startMs + 9));
      assert.equal(verdictOf(await commitOne(store, updating(call, { state: 'FAILED', dueAtMs: null }))), 'call');
      await mustCommit(store, updating({ ...call, dueAtMs: startMs + 9 }, { state: 'FAILED', dueAtMs: null }));
      assert.equal(verdictOf(await commitOne(store, looking(call.id, null, startMs))), 'call');
    },
  );

  prove('when to look at it again survives a crash', async (store, home) => {
    const { id } = await doubted(store, startMs + 5);
    await mustCommit(store, looking(id, startMs + 5, startMs + 50));
    await home.crash();
    const again = await home.open();
    assert.deepEqual(await dueIds(again, startMs + 49), []);
    assert.deepEqual(await dueIds(again, startMs + 50), [id]);
  });
}

const fencing = (id: SessionId, fence: FenceWrite) => ({ ...stepping(id, { expectOpen: false }), fence });

async function openedSession(store: Store, over: Partial<Session> = {}): Promise<SessionId> {
  const session = aSession(over);
  const snapshot = session.workflow === null ? null : { text: '{}', dueAtMs: null };
  await mustCommit(store, opening(session, { session: { kind: 'open', session, snapshot, fences: [] } }));
  return session.id;
}

function provesFences(create: Create): void {
  const prove = withStore(create);
  const fenced = async (store: Store, id: SessionId) =>
    (await store.fences(id)).map(({ operation, call }) => [operation, call.id, call.state]);

  prove('outside workflows an operation is fenced with the end of its call, until that is lifted', async (store) => {
    const id = await openedSession(store);
    const call = aCall({ session: id, state: 'DISPATCHED', attempt: 1 });
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
    const session = fencing(id, { kind: 'raised', call: call.id, operation: 'refund 7' });
    const doubt = updating(call, { state: 'IN_DOUBT', dueAtMs: null }, { session });
    await mustCommit(store, doubt);
    await mustCommit(store, doubt);
    assert.deepEqual(await fenced(store, id), [['refund 7', call.id, 'IN_DOUBT']]);
    assert.deepEqual(await store.fences(await openedSession(store)), []);
    const before = { ...call, state: 'IN_DOUBT' as const, dueAtMs: null };
    await mustCommit(store, updating(before, { state: 'SUCCEEDED' }));
    assert.deepEqual(await fenced(store, id), [['refund 7', call.id, 'SUCCEEDED']]);
    const lift = fencing(id, { kind: 'lifted', call: call.id });
    await mustCommit(store, aTransition({ session: lift }));
    await mustCommit(store, aTransition({ session: lift }));
    assert.deepEqual(await fenced(store, id), []);
  });

  prove(
    'a fence is raised also in a session that is over, moves no sequence, and survives a crash',
    async (store, home) => {
      const id = await openedSession(store);
      const call = await doubted(store, null, { session: id });
      await mustCommit(store, aTransition({ session: { kind: 'cancel', id } }));
      await mustCommit(
        store,
        aTransition({ session: fencing(id, { kind: 'raised', call: call.id, operation: 'op' }) }),
      );
      await home.crash();
      const again = await home.open();
      assert.deepEqual(await fenced(again, id), [['op', call.id, 'IN_DOUBT']]);
      assert.equal((await again.session(id))?.seq, 0);
    },
  );

  prove('a workflow fences with its own steps alone', async (store) => {
    const workflow = { name: 'coffee', manifest: 'm1', pinnedAtSeq: 0, turn: null, timerAtMs: null, reason: null };
    const id = await openedSession(store, { workflow });
    const session = fencing(id, { kind: 'raised', call: nextId('call') as CallId, operation: 'op' });
    assert.equal(verdictOf(await commitOne(store, aTransition({ session }))), 'illegal');
    const none = {
      turn: null,
      call: null,
      operation: null,
      snapshot: null,
      fence: null,
      becomes: null,
      manifest: null,
    };
    const both = aTransition({ session: { ...session, workflow: none } });
    assert.equal(verdictOf(await commitOne(store, both)), 'illegal');
    assert.deepEqual(await store.fences(id), []);
  });
}
