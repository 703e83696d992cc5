/** Calls: compare-and-set, legal moves only, one record for each state, and committing twice is committing once. */
import assert from 'node:assert/strict';

import type { IncarnationId } from '../../src/core/call/call.ts';
import { type CallState, legalTransitions } from '../../src/core/taxonomy.ts';
import type { CallChange } from '../../src/ports/store.ts';
import {
  aRecord,
  aCall,
  allStates,
  aSession,
  aTransition,
  commitOne,
  inserting,
  marking,
  mustCommit,
  opening,
  owner,
  pathTo,
  startMs,
  stepping,
  stored,
  updating,
  verdictOf,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

export function provesCalls(create: Create): void {
  const prove = withStore(create);

  prove('an inserted call is read back as it was given', async (store) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    const call = aCall({
      session: session.id,
      turn: 'turn-1',
      key: 'k1',
      state: 'DISPATCHED',
      attempt: 1,
      owner,
      tainted: true,
      effectClass: 'keyed',
    });
    const committed = await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], { atMs: startMs + 5 }));
    assert.ok(committed.position !== null);
    const expected = { ...call, seq: 0, updatedAtMs: startMs + 5, requesterLeftAtMs: null, replyAt: null, repeats: 0 };
    assert.deepEqual({ ...(await stored(store, call.id)) }, expected);
  });

  prove(
    'an intent meets an equal call without a key whose requester left, and writes nothing',
    async (store, { passes }) => {
      const session = aSession();
      await mustCommit(store, opening(session));
      const equal = { session: session.id, fingerprint: 'f1' };
      const [left, keyed, own] = [aCall(equal), aCall({ ...equal, key: 'k1' }), aCall(equal)];
      for (const call of [left, keyed]) await mustCommit(store, inserting(call));
      await mustCommit(store, marking(keyed.id, 'left', 0, { atMs: startMs + 5 }));
      const intent = (call = own, within = 50) => ({ ...inserting(call), nobodyLeftWithinMs: within });
      assert.equal(verdictOf(await commitOne(store, intent(aCall(equal)))), 'committed', 'a key is found by its key');
      await mustCommit(store, marking(left.id, 'left', 0, { atMs: startMs + 5 }));
      passes(10);
      const met = await commitOne(store, intent());
      assert.ok(met.kind === 'conflict' && met.on === 'place' && met.found.id === left.id, JSON.stringify(met));
      assert.equal(await store.call(own.id), null);
      for (const [what, other] of [
        ['another session', intent(aCall({ fingerprint: 'f1' }))],
        ['other arguments', intent(aCall({ ...equal, fingerprint: 'f2' }))],
        ['who left longer ago', intent(aCall(equal), 10)],
        ['an intent that does not ask', inserting(aCall(equal))],
      ] as const)
        assert.equal(verdictOf(await commitOne(store, other)), 'committed', what);
      await mustCommit(store, marking(left.id, 'returned', 0, { atMs: startMs + 6 }));
      const first = intent();
      assert.equal(verdictOf(await commitOne(store, first)), 'committed');
      await mustCommit(store, marking(left.id, 'left', 0, { atMs: startMs + 7 }));
      assert.equal(verdictOf(await commitOne(store, first)), 'committed', 'what was written stays written');
    },
  );

  prove('an id is inserted once: another intention meets the call that is there', async (store) => {
    const call = aCall();
    await mustCommit(store, inserting(call));
    const again = await commitOne(store, inserting({ ...call, tool: 'other' }));
    assert.equal(verdictOf(again), 'call');
    assert.equal(again.kind === 'conflict' && again.on === 'call' && again.found?.tool, 'refund');
    assert.equal((await store.recordsOf(call.id)).length, 1);
  });

  prove('the same token again is the same commit, for inserts, updates and marks', async (store) => {
    const call = aCall();
    const insert = inserting(call);
    const first = await mustCommit(store, insert);
    assert.deepEqual(await mustCommit(store, insert), first);
    const update = updating(call, { state: 'DISPATCHED', attempt: 1, owner });
    const [second, third] = await store.commit([update, update]);
    assert.equal(second?.kind, 'committed');
    assert.deepEqual(third, second);
    const mark = marking(call.id, null, 3);
    await mustCommit(store, mark);
    await mustCommit(store, mark);
    assert.equal((await stored(store, call.id)).repeats, 3);
    assert.equal((await store.recordsOf(call.id)).length, 2);
    // A mark in between does not make the store forget the move.
    assert.deepEqual(await mustCommit(store, update), second);
  });

  const wrong: readonly (readonly [string, Partial<Extract<CallChange, { kind: 'update' }>['expect']>])[] = [
    ['state', { state: 'DISPATCHED' }],
    ['attempt', { attempt: 7 }],
    ['owner', { owner: 'inc_other' as IncarnationId }],
    ['due time', { dueAtMs: startMs + 1 }],
    ['absence of a due time', { dueAtMs: null }],
  ];
  for (const [what, difference] of wrong)
    prove(`an update that expects another ${what} changes nothing`, async (store) => {
      const call = aCall({ attempt: 1, owner, state: 'RETRY_WAIT' });
      await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED', 'RETRY_WAIT']));
      const before = await stored(store, call.id);
      const good = updating(call, { state: 'DISPATCHED', attempt: 2 });
      const change = good.call as Extract<CallChange, { kind: 'update' }>;
      const path: CallState[] = what === 'state' ? ['SUCCEEDED'] : ['DISPATCHED'];
      const state = path[0] as CallState;
      const bad = { ...change, path, call: { ...change.call, state }, expect: { ...change.expect, ...difference } };
      const result = await commitOne(store, { ...good, call: bad });
      assert.deepEqual(result, { kind: 'conflict', on: 'call', found: before });
      assert.deepEqual(await stored(store, call.id), before);
      assert.equal((await store.recordsOf(call.id)).length, 3);
    });

  prove('an update or a mark of a call that is not there finds nothing', async (store) => {
    const nothing = { kind: 'conflict', on: 'call', found: null };
    const call = aCall();
    assert.deepEqual(await commitOne(store, updating(call, { state: 'DISPATCHED' })), nothing);
    assert.deepEqual(await commitOne(store, marking(call.id, 'left')), nothing);
  });

  prove('exactly the legal transitions are taken, for every pair of states', async (store) => {
    for (const to of allStates) {
      const verdict = verdictOf(await commitOne(store, inserting(aCall({ state: to }))));
      assert.equal(verdict, legalTransitions['(none)'].includes(to) ? 'committed' : 'illegal', `(none) → ${to}`);
    }
    for (const from of allStates)
      for (const to of allStates) {
        const call = aCall({ state: from });
        await mustCommit(store, inserting(call, pathTo(from)));
        const verdict = verdictOf(await commitOne(store, updating(call, { state: to })));
        const legal = legalTransitions[from].includes(to);
        assert.equal(verdict, legal ? 'committed' : 'illegal', `${from} → ${to}`);
        assert.equal((await stored(store, call.id)).state, legal ? to : from);
        // Exactly one record for each state it passed.
        assert.equal((await store.recordsOf(call.id)).length, pathTo(from).length + (legal ? 1 : 0));
      }
  });

  prove('every hop of a path is judged, and the path ends where the call stands', async (store) => {
    const call = aCall({ state: 'SUCCEEDED' });
    const verdict = async (path: CallState[]) => verdictOf(await commitOne(store, inserting(call, path)));
    assert.equal(await verdict(['PREPARED', 'SUCCEEDED']), 'illegal');
    assert.equal(await verdict(['PREPARED', 'DISPATCHED']), 'illegal');
    assert.equal(await verdict([]), 'illegal');
    assert.equal(await store.call(call.id), null);
    assert.equal(await verdict(['PREPARED', 'DISPATCHED', 'SUCCEEDED']), 'committed');
  });

  prove('a state without a record of its own is refused', async (store) => {
    const call = aCall({ state: 'DISPATCHED' });
    const whole = inserting(call, ['PREPARED', 'DISPATCHED']);
    assert.equal(verdictOf(await commitOne(store, { ...whole, records: whole.records.slice(1) })), 'illegal');
    assert.equal(verdictOf(await commitOne(store, { ...whole, records: [] })), 'illegal');
    const behind = (kind: 'session_resumed' | 'timer_fired') =>
      commitOne(store, { ...whole, records: [aRecord({ kind }), ...whole.records] });
    assert.equal(verdictOf(await behind('timer_fired')), 'illegal');
    assert.equal(await store.call(call.id), null);
    // That its session goes on here comes before all others.
    assert.equal(verdictOf(await behind('session_resumed')), 'committed');
  });

  prove('in one commit each transition succeeds or fails by itself', async (store) => {
    const [one, two, three] = [aCall(), aCall(), aCall()];
    await mustCommit(store, inserting(two));
    const results = await store.commit([
      inserting(one),
      inserting(two),
      inserting(three),
      updating(one, { state: 'EXPIRED' }),
    ]);
    assert.deepEqual(results.map(verdictOf), ['committed', 'call', 'committed', 'committed']);
    assert.equal((await stored(store, one.id)).state, 'EXPIRED');
    assert.equal((await store.recordsOf(two.id)).length, 1);
    assert.ok((await store.call(three.id)) !== null);
  });

  prove('of many who want the same move exactly one gets it', async (store) => {
    const call = aCall();
    await mustCommit(store, inserting(call));
    const moves = Array.from({ length: 50 }, (_, index) =>
      commitOne(store, updating(call, { state: 'DISPATCHED', attempt: 1, owner: `inc_${index}` as IncarnationId })),
    );
    const verdicts = (await Promise.all(moves)).map(verdictOf);
    assert.equal(verdicts.filter((verdict) => verdict === 'committed').length, 1);
    assert.equal((await store.recordsOf(call.id)).length, 2);
  });

  prove('the call speaks before the key, the key before the session, the session before the account', async (store) => {
    const session = aSession({ state: 'cancelled' });
    const holder = aCall({ key: 'k' });
    const claim = { tenant: 'acme', agent: 'clerk', key: 'k', fingerprint: 'f1', keepMs: 1_000 };
    await mustCommit(store, opening(session));
    await mustCommit(store, inserting(holder, ['PREPARED'], { key: { ...claim, callId: holder.id } }));
    const call = aCall({ key: 'k' });
    const shut = { session: stepping(session.id) };
    const dear = { reserve: [{ tenant: 'acme', account: 'usd', amount: 2, limit: 1 }] };
    const verdict = async (over: object) => verdictOf(await commitOne(store, inserting(call, ['PREPARED'], over)));
    const key = { ...claim, callId: call.id };
    assert.equal(verdictOf(await commitOne(store, inserting(holder, ['PREPARED'], { ...shut, ...dear }))), 'call');
    assert.equal(await verdict({ key, ...shut, ...dear }), 'key');
    assert.equal(await verdict({ ...shut, ...dear }), 'session');
    assert.equal(await verdict(dear), 'reserve');
    assert.equal(await store.call(call.id), null);
    assert.deepEqual(await store.key('acme', 'clerk', 'k'), { callId: holder.id, fingerprint: 'f1' });
  });
}

/** Who claimed a call and did not hear so. */
export function provesLostClaims(create: Create): void {
  const prove = withStore(create);

  prove('a move that the call has left behind is not confirmed any more', async (store) => {
    const call = aCall();
    await mustCommit(store, inserting(call));
    const claim = updating(call, { state: 'DISPATCHED', attempt: 1, owner });
    await mustCommit(store, claim);
    const claimed = await stored(store, call.id);
    await mustCommit(store, updating(claimed, { state: 'RETRY_WAIT', owner: null }));
    assert.equal(verdictOf(await commitOne(store, claim)), 'call');
  });
}

export function provesStops(create: Create): void {
  const prove = withStore(create);

  prove('a stop is asked for a call that was dispatched, is kept by its moves, and for no other', async (store) => {
    const call = aCall({ state: 'DISPATCHED', attempt: 1, owner });
    const stopping = () =>
      aTransition({ call: { kind: 'mark', id: call.id, requester: null, repeats: 0, stop: true } });
    assert.equal(verdictOf(await commitOne(store, stopping())), 'call', 'nobody knows it');
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
    assert.equal((await stored(store, call.id)).stopAsked, undefined);
    await mustCommit(store, stopping());
    await mustCommit(store, stopping());
    const asked = await stored(store, call.id);
    assert.deepEqual([asked.stopAsked, asked.state, asked.repeats, asked.owner], [true, 'DISPATCHED', 0, owner]);
    await mustCommit(store, updating(call, { state: 'RETRY_WAIT', owner: null, dueAtMs: startMs + 9 }));
    assert.equal((await stored(store, call.id)).stopAsked, true);
    assert.equal(verdictOf(await commitOne(store, stopping())), 'call', 'it waits');
  });
}
