/** The file holds in whatever order commits, deaths of the thread and openings come. Real files, a real thread. */
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
import { spawnWorker } from './writer-thread.ts';

async function commit(store: Store, transition: Transition): Promise<void> {
  const [result] = await store.commit([transition]);
  assert.equal(result?.kind, 'committed', JSON.stringify(result));
}

test('what is asked within a turn of the event loop is one batch', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db') });
    const later = Array.from({ length: 5 }, async () => {
      await Promise.resolve();
      await commit(store, inserting(aCall()));
    });
    await Promise.all([commit(store, inserting(aCall())), ...later]);
    assert.deepEqual(store.statistics(), { batches: 1, requests: 6 });
    await store.close();
  });
});

test('a file that another program holds is waited for by the worker, not by the event loop', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    await commit(store, inserting(aCall()));
    const intruder = new DatabaseSync(file);
    intruder.exec('BEGIN IMMEDIATE');
    const call = aCall();
    let isDone = false;
    const asked = commit(store, inserting(call)).then(() => (isDone = true));
    // The event loop goes on: it does not wait for the lock.
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isDone, false);
    intruder.exec('COMMIT');
    intruder.close();
    await asked;
    await stored(store, call.id);
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
  });
});

test('a store that another process took over writes nothing more', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    await commit(store, inserting(aCall()));
    const intruder = new DatabaseSync(file);
    intruder.exec(`INSERT INTO epochs (epoch, chain, opened_at) VALUES (99, x'${'00'.repeat(16)}', 1)`);
    intruder.close();
    const [result] = await store.commit([inserting(aCall())]);
    assert.equal(result?.kind === 'unavailable' && result.fault, 'fenced');
    await store.close().catch(() => undefined);
  });
});

type Act = 'one' | 'together' | 'quietly' | 'erase' | 'worker dies' | 'open again';
const acts = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Act>('one') },
    { weight: 4, arbitrary: fc.constant<Act>('together') },
    // Without a record: the session alone changes.
    { weight: 4, arbitrary: fc.constant<Act>('quietly') },
    { weight: 1, arbitrary: fc.constantFrom<Act>('erase', 'worker dies', 'open again') },
  ),
  { minLength: 10, maxLength: 60 },
);

test('commits, deaths of the thread and openings in any order: one chain, every acknowledged call, no number twice', async () => {
  const property = fc.asyncProperty(acts, async (doing) => {
    await inFolder(async (folder) => {
      const file = path.join(folder, 's.db');
      let worker: Worker | null = null;
      const open = () => mustOpen({ file, spawn: (options) => (worker = spawnWorker(options)) });
      let store = await open();
      const session = aSession();
      await commit(store, opening(session));
      const kept: Call[] = [];
      let quiet = 0;
      const inSession = () => {
        const call = aCall({ session: session.id, state: 'SUCCEEDED' });
        const over = { session: stepping(session.id, { advance: true }), payloads: replyOf() };
        return { call, transition: inserting(call, ['PREPARED', 'DISPATCHED', 'SUCCEEDED'], over) };
      };
      const commitAll = async (count: number) => {
        const made = Array.from({ length: count }, inSession);
        const results = await Promise.all(made.map(({ transition }) => store.commit([transition])));
        for (const [at, [result]] of results.entries()) {
          assert.equal(result?.kind, 'committed', JSON.stringify(result));
          kept.push((made[at] as (typeof made)[number]).call);
          if (result?.kind === 'committed' && result.position !== null) store.answered(result.position);
        }
      };
      for (const act of doing) {
        if (act === 'one') await commitAll(1);
        else if (act === 'together') await commitAll(3);
        else if (act === 'quietly') {
          const moved = aTransition({ session: stepping(session.id, { advance: true }) });
          const [result] = await store.commit([moved]);
          assert.equal(result?.kind, 'committed', JSON.stringify(result));
          quiet += 1;
        } else if (act === 'erase' && kept[0] !== undefined) await store.erase(kept[0].id, 'asked', 1);
        else if (act === 'worker dies') await (worker as Worker | null)?.terminate();
        else if (act === 'open again') {
          await store.close();
          store = await open();
        }
        assert.equal((await store.session(session.id))?.seq, kept.length + quiet, `after ${act}`);
      }
      for (const { id } of kept) await stored(store, id);
      assert.deepEqual((await verifyAll(store)).problems, []);
      await store.close();
    });
  });
  await fc.assert(property, { numRuns: 10, seed: 7 });
});
