/** Replies: after an end of whatever kind, the store knows which ones may not have reached their requester. */
import assert from 'node:assert/strict';

import type { Call } from '../../src/core/call/call.ts';
import type { Position } from '../../src/core/journal/record.ts';
import type { Store } from '../../src/ports/store.ts';
import { aCall, aRecord, inserting, marking, mustCommit, replyOf, startMs, updating } from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const idsOf = async (store: Store) => (await store.unanswered(100)).map(({ id }) => id);

/** A call with a reply on record, and where that stands. */
async function replied(store: Store): Promise<{ call: Call; position: Position }> {
  const call = aCall({ state: 'DISPATCHED' });
  await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
  const settled = updating(call, { state: 'SUCCEEDED', dueAtMs: null }, { payloads: replyOf() });
  const { position } = await mustCommit(store, settled);
  assert.ok(position !== null);
  return { call, position };
}

export function provesReplies(create: Create): void {
  const prove = withStore(create);

  prove('nothing of the running incarnation is unanswered', async (store) => {
    await replied(store);
    assert.deepEqual(await idsOf(store), []);
  });

  for (const end of ['close', 'crash'] as const)
    prove(`after a ${end}, replies that were not answered are listed until they are marked`, async (store, home) => {
      const lost = await replied(store);
      const delivered = await replied(store);
      const alsoLost = await replied(store);
      store.answered(delivered.position);
      // A later commit carries what was answered.
      await mustCommit(store, inserting(aCall()));
      if (end === 'close') await store.close();
      else await home.crash();
      const again = await home.open();
      const listed = await idsOf(again);
      // A low-water mark may list too many, but never too few.
      for (const { call } of [lost, alsoLost]) assert.ok(listed.includes(call.id), call.id);
      for (const id of listed) await mustCommit(again, marking(id, 'left', 0, { atMs: startMs + 1 }));
      assert.deepEqual(await idsOf(again), []);
      await again.close();
      assert.deepEqual(await idsOf(await home.open()), []);
    });

  prove('when every reply was answered, none is listed after a close', async (store, home) => {
    for (const { position } of [await replied(store), await replied(store)]) store.answered(position);
    await store.close();
    assert.deepEqual(await idsOf(await home.open()), []);
  });

  prove('replies answered before the last commit are not listed after a crash', async (store, home) => {
    const first = await replied(store);
    const second = await replied(store);
    store.answered(second.position);
    store.answered(first.position);
    const third = await replied(store);
    await home.crash();
    assert.deepEqual(await idsOf(await home.open()), [third.call.id]);
  });

  prove('a requester who left does not hold up the others', async (store, home) => {
    const left = await replied(store);
    const early = aCall({ state: 'DISPATCHED' });
    await mustCommit(store, inserting(early, ['PREPARED', 'DISPATCHED']));
    await mustCommit(store, marking(early.id, 'left'));
    await mustCommit(store, updating(early, { state: 'SUCCEEDED', dueAtMs: null }, { payloads: replyOf() }));
    const fine = await replied(store);
    await mustCommit(store, marking(left.call.id, 'left'));
    store.answered(fine.position);
    await mustCommit(store, inserting(aCall()));
    await home.crash();
    assert.deepEqual(await idsOf(await home.open()), []);
  });

  prove('whoever takes over an abandoned call waits for its reply again', async (store, home) => {
    const { call, position } = await replied(store);
    await mustCommit(store, marking(call.id, 'left'));
    const attached = aRecord({ kind: 'attached', call: call.id });
    await mustCommit(store, marking(call.id, 'returned', 0, { records: [attached] }));
    store.answered(position);
    await mustCommit(store, inserting(aCall()));
    await home.crash();
    assert.deepEqual(await idsOf(await home.open()), [call.id]);
  });
}
