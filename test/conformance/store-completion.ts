/**
 * What ends after a call: tasks that must be reported, sessions that are complete, and calls that change hands when
 * approved.
 */
import assert from 'node:assert/strict';

import type { CallId, SessionId } from '../../src/core/call/call.ts';
import type { Session, Store, TaskChange } from '../../src/ports/store.ts';
import { anApproval } from './approval-fixtures.ts';
import {
  aCall,
  aRecord,
  aSession,
  aTransition,
  commitOne,
  inserting,
  marking,
  mustCommit,
  nextId,
  opening,
  startMs,
  stepping,
  stored,
  updating,
  verdictOf,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const tasking = (task: TaskChange) => aTransition({ task });
const newTask = (dueAtMs: number) => ({ kind: 'open', call: nextId('call') as CallId, dueAtMs }) as const;

/** A session has one record when it is opened. */
const completing = (id: SessionId, expectEntries = 1) =>
  aTransition({
    session: { kind: 'complete', id, expectEntries },
    records: [aRecord({ kind: 'session_completed', session: id })],
  });

async function openedSession(store: Store, over: Partial<Session> = {}): Promise<SessionId> {
  const session = aSession(over);
  const timerAtMs = session.workflow?.timerAtMs ?? null;
  const snapshot = session.workflow === null ? null : { text: '{}', dueAtMs: timerAtMs };
  await mustCommit(store, opening(session, { session: { kind: 'open', session, snapshot, fences: [] } }));
  return session.id;
}

const aWorkflow = (timerAtMs: number | null = null): Session['workflow'] => ({
  name: 'coffee',
  manifest: 'm1',
  pinnedAtSeq: 0,
  turn: null,
  timerAtMs,
  reason: null,
});
const nothing = { operation: null, snapshot: null, fence: null, becomes: null, manifest: null };

export function provesTurns(create: Create): void {
  const prove = withStore(create);

  prove('a step may end a turn in its own commit', async (store) => {
    const id = await openedSession(store);
    const records = [aRecord({ kind: 'turn_cancelled', session: id })];
    await mustCommit(store, aTransition({ session: { ...stepping(id), endsTurn: 't1' }, records }));
    assert.equal(await store.turnCancelled(id, 't1'), true);
    assert.equal(await store.turnCancelled(id, 't2'), false);
  });
}

export function provesCompletion(create: Create): void {
  const prove = withStore(create);

  prove('a task is opened once, is due in its time, and is closed once', async (store) => {
    const [late, soon] = [newTask(startMs + 50), newTask(startMs + 10)];
    await store.commit([tasking(late), tasking(soon)]);
    assert.deepEqual(await store.task(late.call), { call: late.call, dueAtMs: startMs + 50, state: 'open' });
    assert.equal(await store.task('call_none' as CallId), null);
    const again = await commitOne(store, tasking({ ...late, dueAtMs: 1 }));
    assert.deepEqual(again, { kind: 'conflict', on: 'task', found: await store.task(late.call) });
    const due = async (nowMs: number, limit = 9) => (await store.dueTasks(nowMs, limit)).map(({ call }) => call);
    assert.deepEqual(await due(startMs + 9), []);
    assert.deepEqual(await due(startMs + 10), [soon.call]);
    assert.deepEqual(await due(startMs + 99), [soon.call, late.call]);
    assert.deepEqual(await due(startMs + 99, 1), [soon.call]);
    await mustCommit(store, tasking({ kind: 'close', call: soon.call, as: 'reported' }));
    await mustCommit(store, tasking({ kind: 'close', call: late.call, as: 'overdue' }));
    assert.deepEqual(await due(startMs + 99), []);
    assert.deepEqual((await store.task(soon.call))?.state, 'reported');
    const twice = await commitOne(store, tasking({ kind: 'close', call: late.call, as: 'reported' }));
    assert.deepEqual(twice, {
      kind: 'conflict',
      on: 'task',
      found: { call: late.call, dueAtMs: startMs + 50, state: 'overdue' },
    });
    const none = await commitOne(store, tasking({ kind: 'close', call: 'call_none' as CallId, as: 'reported' }));
    assert.deepEqual(none, { kind: 'conflict', on: 'task', found: null });
    assert.equal(verdictOf(await commitOne(store, tasking(newTask(0.5)))), 'illegal');
  });

  prove('of many who close a task at once one does, and the same token is the same act', async (store) => {
    const task = newTask(startMs);
    await mustCommit(store, tasking(task));
    const closing = (as: 'reported' | 'overdue') => tasking({ kind: 'close', call: task.call, as });
    const all = Array.from({ length: 40 }, (_, n) => closing(n % 2 === 0 ? 'reported' : 'overdue'));
    const results = await Promise.all(all.map((transition) => commitOne(store, transition)));
    const won = all.filter((_, index) => results[index]?.kind === 'committed');
    assert.equal(won.length, 1);
    await mustCommit(store, won[0] as (typeof all)[number]);
  });

  prove(
    'a task opens with the success of its call or not at all, after everything else was examined',
    async (store) => {
      const call = aCall({ state: 'DISPATCHED', attempt: 1 });
      await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
      const task = { kind: 'open', call: call.id, dueAtMs: startMs + 5 } as const;
      const approval = anApproval();
      const full = [{ approval, expect: null, maxPending: 0 }];
      const done = updating(call, { state: 'SUCCEEDED', dueAtMs: null }, { task });
      await mustCommit(store, tasking({ ...task, call: 'call_other' as CallId }));
      const other = { ...task, call: 'call_other' as CallId };
      assert.equal(verdictOf(await commitOne(store, { ...done, task: other, approvals: full })), 'approval');
      const open = [{ approval, expect: null, maxPending: 9 }];
      assert.equal(verdictOf(await commitOne(store, { ...done, task: other, approvals: open })), 'task');
      assert.equal(await store.approval(approval.id), null);
      assert.equal((await stored(store, call.id)).state, 'DISPATCHED');
      await mustCommit(store, done);
      await mustCommit(store, done);
      assert.equal((await store.task(call.id))?.state, 'open');
    },
  );

  prove('tasks survive a crash', async (store, home) => {
    const [open, closed] = [newTask(startMs + 1), newTask(startMs)];
    await store.commit([tasking(open), tasking(closed), tasking({ kind: 'close', call: closed.call, as: 'reported' })]);
    await home.crash();
    const again = await home.open();
    assert.deepEqual(await again.dueTasks(startMs + 9, 9), [{ call: open.call, dueAtMs: startMs + 1, state: 'open' }]);
    assert.equal((await again.task(closed.call))?.state, 'reported');
  });

  prove('a complete session is closed for good, with its records and without its timers', async (store) => {
    const plain = await openedSession(store);
    const flow = await openedSession(store, { workflow: aWorkflow(startMs + 5) });
    await store.commit([plain, flow].map((id) => ({ ...completing(id), atMs: startMs + 7 })));
    const [one, two] = [await store.session(plain), await store.session(flow)];
    assert.deepEqual([one?.state, one?.seq, one?.entries, one?.usedAtMs], ['closed', 0, 2, startMs + 7]);
    assert.deepEqual([two?.state, two?.workflow?.reason, two?.workflow?.timerAtMs], ['closed', 'completed', null]);
    assert.deepEqual(await store.dueSessions(startMs + 99, ['m1'], 9), []);
    assert.equal(await store.countSessions(), 0);
    for (const id of [plain, flow]) {
      const found = await store.session(id);
      assert.deepEqual(await commitOne(store, completing(id)), { kind: 'conflict', on: 'session', found });
      const step = aTransition({ session: stepping(id) });
      assert.equal(verdictOf(await commitOne(store, step)), 'session');
    }
  });

  prove(
    'a session is not complete while somebody has its turn, and one that ended otherwise never is',
    async (store) => {
      const busy = await openedSession(store, { workflow: aWorkflow() });
      const call = 'call_busy' as CallId;
      const turn = (kind: 'take' | 'release') => {
        const workflow = { ...nothing, turn: kind, call, operation: 'op' };
        return aTransition({ session: { ...stepping(busy), workflow } });
      };
      await mustCommit(store, turn('take'));
      assert.equal(verdictOf(await commitOne(store, completing(busy))), 'session');
      assert.equal((await store.session(busy))?.state, 'open');
      await mustCommit(store, turn('release'));
      await mustCommit(store, completing(busy));
      const cancelled = await openedSession(store);
      await mustCommit(store, aTransition({ session: { kind: 'cancel', id: cancelled } }));
      assert.equal(verdictOf(await commitOne(store, completing(cancelled))), 'session');
      const none = await commitOne(store, completing('ses_none' as SessionId));
      assert.deepEqual(none, { kind: 'conflict', on: 'session', found: null });
    },
  );

  prove('a session is complete only for whoever has seen its last record', async (store) => {
    const id = await openedSession(store);
    const note = aTransition({ records: [aRecord({ kind: 'clock_held', session: id })] });
    const results = await store.commit([note, completing(id, 1), completing(id, 3), completing(id, 2)]);
    assert.deepEqual(results.map(verdictOf), ['committed', 'session', 'session', 'committed']);
    assert.equal((await store.session(id))?.entries, 3);
  });

  prove("an agent's standing session is never complete", async (store) => {
    const standing = await openedSession(store, { standing: true });
    assert.equal(verdictOf(await commitOne(store, completing(standing))), 'illegal');
    assert.equal((await store.standingSession('acme', 'clerk'))?.id, standing);
  });

  prove('completing again with the same token is completing once, also after a crash', async (store, home) => {
    const id = await openedSession(store, { workflow: aWorkflow() });
    const complete = completing(id);
    const first = await mustCommit(store, complete);
    assert.deepEqual(await mustCommit(store, complete), first);
    await home.crash();
    const again = await home.open();
    assert.deepEqual([(await again.session(id))?.state, (await again.session(id))?.entries], ['closed', 2]);
  });

  prove('a call that waited becomes that of whoever asks again, and no other call changes hands', async (store) => {
    const [first, second] = [await openedSession(store), await openedSession(store)];
    const theirs = { session: second, turn: 't2', key: 'k2', fingerprint: 'f2' };
    const waiting = aCall({ session: first, turn: 't1', key: 'k1', state: 'AWAITING_APPROVAL' });
    await mustCommit(store, inserting(waiting));
    await mustCommit(store, updating(waiting, { ...theirs, state: 'PREPARED' }));
    const { session, turn, key, fingerprint } = await stored(store, waiting.id);
    assert.deepEqual({ session, turn, key, fingerprint }, theirs);
    const prepared = { ...waiting, state: 'PREPARED' as const };
    await mustCommit(store, updating(prepared, { state: 'DISPATCHED', attempt: 1 }));
    const after = await stored(store, waiting.id);
    assert.deepEqual([after.session, after.turn, after.key, after.fingerprint], [second, 't2', 'k2', 'f2']);
  });

  prove(
    'one whose requester left while it waited has another once it is taken over, and is found where that one leaves it',
    async (store) => {
      const [first, second] = [await openedSession(store), await openedSession(store)];
      const waiting = aCall({ session: first, state: 'AWAITING_APPROVAL' });
      await mustCommit(store, inserting(waiting));
      await mustCommit(store, marking(waiting.id, 'left', 0, { atMs: startMs + 5 }));
      assert.equal((await store.abandoned(first, 'f1', 1_000))?.id, waiting.id);
      await mustCommit(store, updating(waiting, { state: 'PREPARED', session: second, fingerprint: 'f2' }));
      assert.equal(await store.abandoned(first, 'f1', 1_000), null);
      assert.equal(await store.abandoned(second, 'f2', 1_000), null);
      await mustCommit(store, marking(waiting.id, 'left', 0, { atMs: startMs + 6 }));
      assert.equal((await store.abandoned(second, 'f2', 1_000))?.id, waiting.id);
    },
  );
}
