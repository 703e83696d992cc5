/** Reads: timers, what is unfinished, who left, what is not counted, texts, blobs, listings. */
import assert from 'node:assert/strict';

import type { CallId, SessionId } from '../../src/core/call/call.ts';
import type { CallState } from '../../src/core/taxonomy.ts';
import type { StoredCall, StoredDecision } from '../../src/ports/store.ts';
import {
  aCall,
  allStates,
  aRecord,
  aSession,
  aTransition,
  inserting,
  marking,
  mustCommit,
  opening,
  pathTo,
  replyOf,
  startMs,
  updating,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const idsOf = (calls: readonly StoredCall[]) => calls.map(({ id }) => id);

export function provesReads(create: Create): void {
  const prove = withStore(create);

  prove('calls come due at their time, the longest overdue first, and only once', async (store) => {
    const calls = [30, 10, 20].map((delay) => aCall({ dueAtMs: startMs + delay }));
    const [late, early, middle] = calls as [StoredCall, StoredCall, StoredCall];
    for (const call of calls) await mustCommit(store, inserting(call));
    assert.deepEqual(idsOf(await store.due(startMs + 9, 10)), []);
    assert.deepEqual(idsOf(await store.due(startMs + 30, 10)), [early.id, middle.id, late.id]);
    assert.deepEqual(idsOf(await store.due(startMs + 30, 2)), [early.id, middle.id]);
    await mustCommit(store, updating(early, { state: 'DISPATCHED', dueAtMs: startMs + 40 }));
    await mustCommit(store, updating(middle, { state: 'CANCELLED', dueAtMs: null }));
    assert.deepEqual(idsOf(await store.due(startMs + 39, 10)), [late.id]);
    assert.deepEqual(idsOf(await store.due(startMs + 40, 10)), [late.id, early.id]);
  });

  prove('unfinished are exactly those not ended and not in doubt, with or without a due time', async (store) => {
    const expected: CallId[] = [];
    for (const state of allStates)
      for (const dueAtMs of [null, startMs + 5]) {
        const call = aCall({ state, dueAtMs });
        await mustCommit(store, inserting(call, pathTo(state)));
        if (['PREPARED', 'DISPATCHED', 'RETRY_WAIT', 'AWAITING_APPROVAL'].includes(state)) expected.push(call.id);
      }
    const found: CallId[] = [];
    for (;;) {
      const page = await store.unfinished(found.at(-1) ?? '', 3);
      if (page.length === 0) break;
      found.push(...idsOf(page));
    }
    assert.deepEqual(found, expected);
  });

  prove('a call without a due time is unfinished until it ends', async (store) => {
    const call = aCall({ dueAtMs: null });
    await mustCommit(store, inserting(call));
    assert.deepEqual(idsOf(await store.unfinished('', 10)), [call.id]);
    assert.deepEqual(await store.due(Number.MAX_SAFE_INTEGER - 1, 10), []);
    await mustCommit(store, updating(call, { state: 'CANCELLED' }));
    assert.deepEqual(await store.unfinished('', 10), []);
  });

  prove('an abandoned call is found by session and fingerprint, until someone returns', async (store, { passes }) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    const [older, newer, other] = [aCall({ session: session.id }), aCall({ session: session.id }), aCall()];
    for (const call of [older, newer, other]) await mustCommit(store, inserting(call));
    const found = (fingerprint = 'f1', within = 50) => store.abandoned(session.id, fingerprint, within);
    assert.equal(await found(), null);
    for (const call of [newer, older, other])
      await mustCommit(store, marking(call.id, 'left', 0, { atMs: startMs + 10 }));
    // How long ago is told by the age of the store, whatever the clocks say.
    passes(49);
    assert.equal((await found())?.id, newer.id);
    assert.equal((await store.call(newer.id))?.requesterLeftAtMs, startMs + 10);
    assert.equal(await found('f2'), null);
    assert.equal(await store.abandoned('ses_other' as SessionId, 'f1', 50), null);
    assert.equal(await found('f1', 49), null);
    await mustCommit(store, marking(newer.id, 'returned'));
    assert.equal((await found())?.id, older.id);
    assert.equal((await store.call(newer.id))?.requesterLeftAtMs, null);
    passes(1);
    assert.equal(await found(), null);
  });

  prove('repeats are counted up, and uncounted until a record counts them', async (store) => {
    const call = aCall({ state: 'DENIED', dueAtMs: null });
    await mustCommit(store, inserting(call));
    assert.deepEqual(await store.uncounted(10), []);
    await mustCommit(store, marking(call.id, null, 2));
    await mustCommit(store, marking(call.id, null, 3));
    const [found] = await store.uncounted(10);
    assert.equal(found?.id, call.id);
    assert.equal(found?.repeats, 5);
    const counting = aRecord({ kind: 'refusals_repeated', call: call.id });
    await mustCommit(store, marking(call.id, null, 0, { records: [counting] }));
    assert.deepEqual(await store.uncounted(10), []);
    await mustCommit(store, marking(call.id, null, 1));
    assert.deepEqual(idsOf(await store.uncounted(10)), [call.id]);
  });

  prove('arguments and replies are those of the last record that holds them', async (store) => {
    const call = aCall({ state: 'DISPATCHED' });
    const args = [{ part: 'args', text: '{"note":"grüß dich, 你好 🎉"}' }];
    assert.deepEqual(await store.args(call.id), { kind: 'none' });
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], { payloads: args }));
    assert.deepEqual(await store.args(call.id), { kind: 'text', text: args[0]?.text });
    assert.deepEqual(await store.reply(call.id), { kind: 'none' });
    const doubt = { ...call, state: 'IN_DOUBT' as const };
    await mustCommit(store, updating(call, { state: 'IN_DOUBT' }, { payloads: replyOf('{"effect":"unknown"}') }));
    await mustCommit(store, updating(doubt, { state: 'SUCCEEDED', dueAtMs: null }, { payloads: replyOf() }));
    assert.deepEqual(await store.reply(call.id), { kind: 'text', text: '{"ok":true}' });
    assert.deepEqual(await store.args(call.id), { kind: 'text', text: args[0]?.text });
  });

  prove('a blob is kept once under its hash', async (store) => {
    const blobs = [{ hash: 'h1', text: 'policy' }];
    await mustCommit(store, aTransition({ blobs }));
    await mustCommit(store, aTransition({ blobs }));
    assert.equal(await store.blob('h1'), 'policy');
    assert.equal(await store.blob('h2'), null);
  });

  prove('listings are newest first, page by page, and filtered', async (store) => {
    const states: CallState[] = ['PREPARED', 'IN_DOUBT', 'DENIED'];
    const calls = Array.from({ length: 30 }, (_, index) =>
      aCall({
        state: states[index % 3] as CallState,
        agent: index % 2 === 0 ? 'clerk' : 'other',
        tool: index % 5 === 0 ? 'rare' : 'refund',
      }),
    );
    for (const call of calls) await mustCommit(store, inserting(call, pathTo(call.state as CallState)));
    const newestFirst = calls.toReversed();
    const paged: CallId[] = [];
    for (;;) {
      const before = paged.at(-1);
      const page = await store.listCalls({ limit: 7, ...(before === undefined ? {} : { before }) });
      if (page.length === 0) break;
      paged.push(...idsOf(page));
    }
    assert.deepEqual(paged, idsOf(newestFirst as StoredCall[]));
    const wanted = (keep: (call: (typeof calls)[number]) => boolean) => newestFirst.filter(keep).map(({ id }) => id);
    const listed = async (filter: object) => idsOf(await store.listCalls({ limit: 100, ...filter }));
    assert.deepEqual(
      await listed({ state: 'IN_DOUBT' }),
      wanted(({ state }) => state === 'IN_DOUBT'),
    );
    assert.deepEqual(
      await listed({ agent: 'other', tool: 'rare' }),
      wanted(({ agent, tool }) => agent === 'other' && tool === 'rare'),
    );
    assert.deepEqual(await listed({ tenant: 'nobody' }), []);
  });
}

export function provesDecisions(create: Create): void {
  const prove = withStore(create);

  prove(
    'decisions are read newest first, page by page, with the agent, the tool and the repeats of their calls',
    async (store) => {
      const states: CallState[] = ['DENIED', 'SUCCEEDED', 'AWAITING_APPROVAL', 'DENIED'];
      const calls = states.map((state) => aCall({ state }));
      for (const call of calls) await mustCommit(store, inserting(call, pathTo(call.state as CallState)));
      await mustCommit(store, marking(calls[0]?.id as CallId, null, 3));
      const found: StoredDecision[] = [];
      for (;;) {
        const page = await store.decisions(found.at(-1) ?? null, 2);
        if (page.length === 0) break;
        found.push(...page);
      }
      const [first, second, third, fourth] = calls.map(({ id }) => id);
      assert.deepEqual(
        found.map(({ call, kind, repeats }) => [call, kind, repeats]),
        [
          [fourth, 'refused', 0],
          [third, 'held', 0],
          [second, 'prepared', 0],
          [first, 'refused', 3],
        ],
      );
      const [newest] = found;
      assert.deepEqual(
        [newest?.tenant, newest?.agent, newest?.tool],
        [calls[3]?.tenant, calls[3]?.agent, calls[3]?.tool],
      );
    },
  );
}
