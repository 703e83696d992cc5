/** Who writes what comes alone, and does the file hold whoever wrote it? Real files, a real worker beside. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';

import fc from 'fast-check';

import {
  aCall,
  aSession,
  aTransition,
  inserting,
  opening,
  replyOf,
  stepping,
  stored,
  verifyAll,
} from '../../../../test/conformance/store-fixtures.ts';
import { inFolder, mustOpen } from '../../../../test/conformance/sqlite-home.ts';
import type { Call } from '../../../core/call/call.ts';
import type { Store, Transition } from '../../../ports/store.ts';
import { defaultLone } from './lone-writer.ts';
import { spawnWorker } from './writer-thread.ts';

/** From the first one, and whatever the disk of this machine takes. */
const atOnce = { after: 0, maxMs: 60_000 };

async function commitAlone(store: Store, transition: Transition): Promise<void> {
  const [result] = await store.commit([transition], true);
  assert.equal(result?.kind, 'committed', JSON.stringify(result));
}

test('a few commits that come alone are the worker\u2019s, the next ones are written where they are asked for', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db'), lone: { maxMs: 60_000 } });
    for (let made = 0; made < defaultLone.after; made++) await commitAlone(store, inserting(aCall()));
    assert.equal(store.statistics().alone, 0);
    for (let made = 0; made < 20; made++) await commitAlone(store, inserting(aCall()));
    assert.equal(store.statistics().alone, 20);
    assert.equal(store.statistics().batches, defaultLone.after + 20);
    await store.close();
  });
});

test('what comes together goes to the worker together, even if each of them thought it was alone', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db'), lone: atOnce });
    const asked = Array.from({ length: 40 }, () => commitAlone(store, inserting(aCall())));
    await Promise.all(asked);
    const { alone, batches } = store.statistics();
    assert.equal(alone, 0);
    assert.ok(batches <= 3, `${batches} batches`);
    await store.close();
  });
});

test('of so many one goes to the worker, which folds the log', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db'), lone: { ...atOnce, foldEvery: 10 } });
    for (let made = 0; made < 30; made++) await commitAlone(store, inserting(aCall()));
    assert.equal(store.statistics().alone, 27);
    await store.close();
  });
});

test('a large text, and a disk that takes its time, are the worker\u2019s', async () => {
  await inFolder(async (folder) => {
    const large = inserting(aCall(), undefined, { payloads: replyOf('x'.repeat(200_000)) });
    const store = await mustOpen({ file: path.join(folder, 's.db'), lone: atOnce });
    await commitAlone(store, large);
    assert.equal(store.statistics().alone, 0);
    await store.close();
    const slow = await mustOpen({ file: path.join(folder, 'slow.db'), lone: { after: 0, maxMs: 0 } });
    for (let made = 0; made < 9; made++) await commitAlone(slow, inserting(aCall()));
    assert.equal(slow.statistics().alone, defaultLone.maxSlow, 'the first ones showed how slow it is');
    await slow.close();
  });
});

test('a file that somebody else holds is waited for by the worker, not by whoever asks', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file, lone: atOnce });
    await commitAlone(store, inserting(aCall()));
    assert.equal(store.statistics().alone, 1);
    const intruder = new DatabaseSync(file);
    intruder.exec('BEGIN IMMEDIATE');
    const call = aCall();
    let isDone = false;
    const asked = commitAlone(store, inserting(call)).then(() => (isDone = true));
    // Turns of the loop go by: nobody here waits for the lock.
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isDone, false);
    intruder.exec('COMMIT');
    intruder.close();
    await asked;
    assert.equal(store.statistics().alone, 1);
    await stored(store, call.id);
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
  });
});

test('a store that another process took over writes nothing more, alone or not', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file, lone: atOnce });
    await commitAlone(store, inserting(aCall()));
    const intruder = new DatabaseSync(file);
    intruder.exec(`INSERT INTO epochs (epoch, chain, opened_at) VALUES (99, x'${'00'.repeat(16)}', 1)`);
    intruder.close();
    const [alone] = await store.commit([inserting(aCall())], true);
    assert.equal(alone?.kind === 'unavailable' && alone.fault, 'fenced');
    await store.close().catch(() => undefined);
  });
});

type Act = 'alone' | 'together' | 'quietly alone' | 'quietly' | 'erase' | 'worker dies' | 'open again';
const acts = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Act>('alone') },
    { weight: 4, arbitrary: fc.constant<Act>('together') },
    // Without a record, so that no number in the journal would tell two writers of one session apart.
    { weight: 4, arbitrary: fc.constantFrom<Act>('quietly alone', 'quietly') },
    { weight: 1, arbitrary: fc.constantFrom<Act>('erase', 'worker dies', 'open again') },
  ),
  { minLength: 10, maxLength: 60 },
);

test('whoever writes in whichever order: one chain, every acknowledged call, no number twice', async () => {
  const seen = { alone: 0, batches: 0 };
  const property = fc.asyncProperty(acts, fc.integer({ min: 2, max: 9 }), async (doing, foldEvery) => {
    await inFolder(async (folder) => {
      const file = path.join(folder, 's.db');
      let worker: Worker | null = null;
      const open = () =>
        mustOpen({ file, lone: { ...atOnce, foldEvery }, spawn: (options) => (worker = spawnWorker(options)) });
      let store = await open();
      const session = aSession();
      await commitAlone(store, opening(session));
      const kept: Call[] = [];
      let quiet = 0;
      const inSession = () => {
        const call = aCall({ session: session.id, state: 'SUCCEEDED' });
        const over = { session: stepping(session.id, { advance: true }), payloads: replyOf() };
        return { call, transition: inserting(call, ['PREPARED', 'DISPATCHED', 'SUCCEEDED'], over) };
      };
      const commitAll = async (alone: boolean, count: number) => {
        const made = Array.from({ length: count }, inSession);
        const results = await Promise.all(made.map(({ transition }) => store.commit([transition], alone)));
        for (const [at, [result]] of results.entries()) {
          assert.equal(result?.kind, 'committed', JSON.stringify(result));
          kept.push((made[at] as (typeof made)[number]).call);
          if (result?.kind === 'committed' && result.position !== null) store.answered(result.position);
        }
      };
      for (const act of doing) {
        if (act === 'alone') await commitAll(true, 1);
        else if (act === 'together') await commitAll(false, 3);
        else if (act === 'quietly' || act === 'quietly alone') {
          const moved = aTransition({ session: stepping(session.id, { advance: true }) });
          const [result] = await store.commit([moved], act === 'quietly alone');
          assert.equal(result?.kind, 'committed', JSON.stringify(result));
          quiet += 1;
        } else if (act === 'erase' && kept[0] !== undefined) await store.erase(kept[0].id, 'asked', 1);
        else if (act === 'worker dies') await (worker as Worker | null)?.terminate();
        else if (act === 'open again') {
          seen.alone += store.statistics().alone;
          seen.batches += store.statistics().batches;
          await store.close();
          store = await open();
        }
        assert.equal((await store.session(session.id))?.seq, kept.length + quiet, `after ${act}`);
      }
      for (const { id } of kept) await stored(store, id);
      assert.deepEqual((await verifyAll(store)).problems, []);
      seen.alone += store.statistics().alone;
      seen.batches += store.statistics().batches;
      await store.close();
    });
  });
  await fc.assert(property, { numRuns: 10, seed: 7 });
  assert.ok(seen.alone > 50 && seen.batches - seen.alone > 50, JSON.stringify(seen));
});
