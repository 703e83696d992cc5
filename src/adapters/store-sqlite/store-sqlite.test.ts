/** What the SQLite store promises beyond the contract. Real files, real threads, real faults. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';

import {
  aCall,
  aRecord,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  replyOf,
  stored,
  verdictOf,
  verifyAll,
} from '../../../test/conformance/store-fixtures.ts';
import { inFolder, mustOpen } from '../../../test/conformance/sqlite-home.ts';
import type { CommitResult, Store, Transition } from '../../ports/store.ts';
import { openSqliteStore } from './open-store.ts';
import { spawnWorker } from './write/writer-thread.ts';

const faultIn = (result: CommitResult) => (result.kind === 'unavailable' ? result.fault : verdictOf(result));

test('commits that come together share a batch and its one fsync', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db') });
    const results = await Promise.all(Array.from({ length: 200 }, () => commitOne(store, inserting(aCall()))));
    assert.ok(results.every(({ kind }) => kind === 'committed'));
    const { batches, requests } = store.statistics();
    assert.equal(requests, 200);
    // Who comes while one is written waits for the next: how many that are is up to the scheduler.
    assert.ok(batches <= 20, `${batches} batches`);
    await store.close();
  });
});

test('a batch is bounded in number and in bytes, and everything gets through', async () => {
  await inFolder(async (folder) => {
    const batch = { maxTransitions: 10, maxBytes: 40_000 };
    const store = await mustOpen({ file: path.join(folder, 's.db'), batch });
    await store.commit(Array.from({ length: 25 }, () => aTransition()));
    assert.equal(store.statistics().batches, 3);
    const large = Array.from({ length: 4 }, () =>
      inserting(aCall(), undefined, { payloads: replyOf('x'.repeat(30_000)) }),
    );
    await store.commit(large);
    assert.ok(store.statistics().batches >= 5, 'larger than a batch together, so more than one');
    await store.close();
  });
});

test('a full queue answers overloaded and the store goes on', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db'), batch: { maxQueued: 5 } });
    const results = await store.commit(Array.from({ length: 20 }, () => inserting(aCall())));
    assert.equal(results.filter(({ kind }) => kind === 'committed').length, 5);
    assert.deepEqual([...new Set(results.slice(5).map(faultIn))], ['overloaded']);
    await mustCommit(store, inserting(aCall()));
    await store.close();
  });
});

test('reads do not wait while a batch cannot be written', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    const call = aCall();
    await mustCommit(store, inserting(call));
    const intruder = new DatabaseSync(file);
    intruder.exec('BEGIN IMMEDIATE');
    let done = false;
    const blocked = mustCommit(store, inserting(aCall())).then(() => (done = true));
    assert.equal((await stored(store, call.id)).state, 'PREPARED');
    assert.equal((await store.entries(null, 10)).length, 2);
    assert.equal(done, false);
    intruder.exec('ROLLBACK');
    intruder.close();
    await blocked;
    await store.close();
  });
});

test('a transition that cannot be written is refused alone', async () => {
  await inFolder(async (folder) => {
    const store = await mustOpen({ file: path.join(folder, 's.db') });
    const poison = aTransition({ blobs: [{ hash: null as unknown as string, text: 't' }] });
    const [first, second] = [aCall(), aCall()];
    const before = store.statistics().batches;
    const results = await store.commit([inserting(first), poison, inserting(second)]);
    assert.deepEqual(results.map(verdictOf), ['committed', 'illegal', 'committed']);
    assert.equal(store.statistics().batches - before, 1);
    const strange = { ...aTransition(), token: () => 'a function' } as unknown as Transition;
    const empty = {} as unknown as Transition;
    const measureless = aTransition({ records: [aRecord({ body: 7 as unknown as string })] });
    const third = await store.commit([strange, measureless, inserting(aCall()), empty]);
    assert.deepEqual(third.map(verdictOf), ['illegal', 'illegal', 'committed', 'illegal']);
    await mustCommit(store, inserting(aCall()));
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
  });
});

test('a full disk is said, loses nothing that was acknowledged, and is survived', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const small = await mustOpen({ file, maxPages: 120 });
    const kept: ReturnType<typeof aCall>[] = [];
    let last: CommitResult;
    do {
      const call = aCall();
      last = await commitOne(small, inserting(call, undefined, { payloads: replyOf('x'.repeat(5_000)) }));
      if (last.kind === 'committed') kept.push(call);
    } while (last.kind === 'committed');
    assert.equal(faultIn(last), 'disk_full');
    assert.match('message' in last ? last.message : '', /is full: make room/);
    for (const call of kept) await stored(small, call.id);
    assert.deepEqual((await verifyAll(small)).problems, []);
    await small.close();
    const large = await mustOpen({ file });
    for (const call of kept) await stored(large, call.id);
    await mustCommit(large, inserting(aCall()));
    const report = await verifyAll(large);
    assert.deepEqual(report.problems, []);
    await large.close();
  });
});

test('when the writer dies, what it had is unavailable and the next commit goes on in the same epoch', async () => {
  await inFolder(async (folder) => {
    const workers: Worker[] = [];
    const spawn: typeof spawnWorker = (options) => {
      const worker = spawnWorker(options);
      workers.push(worker);
      return worker;
    };
    const store = await mustOpen({ file: path.join(folder, 's.db'), spawn });
    const before = await mustCommit(store, inserting(aCall()));
    const transition = inserting(aCall());
    const pending = commitOne(store, transition);
    await workers[0]?.terminate();
    const lost = await pending;
    // It may have been quick enough; then there is nothing to absorb.
    if (lost.kind !== 'committed') assert.equal(faultIn(lost), 'io');
    const again = await mustCommit(store, transition);
    assert.equal(again.position?.epoch, before.position?.epoch);
    assert.equal(again.position?.seq, (before.position?.seq ?? 0) + 1);
    assert.equal(workers.length, 2);
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
  });
});

test('a writer that was replaced writes nothing more', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    const intruder = new DatabaseSync(file);
    intruder.exec(`INSERT INTO epochs (epoch, chain, opened_at) VALUES (2, x'00', 0)`);
    intruder.close();
    const call = aCall();
    assert.equal(faultIn(await commitOne(store, inserting(call))), 'fenced');
    assert.equal(await store.call(call.id), null);
    await store.close();
  });
});

async function fill(store: Store, records: number): Promise<void> {
  await store.commit(Array.from({ length: records }, () => aTransition({ records: [note] })));
}
const note = { kind: 'clock_held', call: null, session: null, body: '{}', payloads: [] } as const;

test('every thousandth record is an anchor, and opening verifies from the last one on', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const first = await mustOpen({ file });
    await fill(first, 2_100);
    const anchors = (await first.entries({ epoch: 1, seq: 1 }, 5_000)).filter(({ kind }) => kind === 'anchor');
    assert.deepEqual(
      anchors.map(({ seq, body }) => [seq, (JSON.parse(body) as { records: number }).records]),
      [
        [1_000, 999],
        [2_000, 1_999],
      ],
    );
    await first.close();
    const bend = (seq: number) => {
      const database = new DatabaseSync(file);
      const at = 2 ** 32 + seq;
      const { header } = database.prepare('SELECT header FROM journal WHERE at = ?').get(at) as { header: Uint8Array };
      header[header.length - 1] = (header[header.length - 1] as number) ^ 1;
      database.prepare('UPDATE journal SET header = ? WHERE at = ?').run(header, at);
      database.close();
    };
    bend(500);
    const second = await mustOpen({ file });
    assert.equal((await verifyAll(second)).problems[0]?.seq, 500);
    await second.close();
  });
});

test('a tail that was tampered with is refused by name, and stays as it is', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    await fill(store, 10);
    await store.close();
    const database = new DatabaseSync(file);
    database.exec(`DELETE FROM journal WHERE at = ${2 ** 32 + 5}`);
    const count = () => database.prepare('SELECT count(*) AS n FROM journal').get();
    const before = count();
    const refused = await openSqliteStore({ file });
    assert.equal(refused.kind === 'refused' && refused.reason, 'journal_broken');
    assert.match(
      refused.kind === 'refused' ? refused.message : '',
      /record 1\/6: record 5 is missing.*recourse audit verify/,
    );
    assert.deepEqual(count(), before);
    database.close();
  });
});

test('what was erased is in no file any more', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    const secret = 'ada.lovelace@example.org';
    const call = aCall({ state: 'DENIED', dueAtMs: null });
    await mustCommit(
      store,
      inserting(call, undefined, { payloads: replyOf(`{"to":"${secret}","pad":"${'x'.repeat(9_000)}"}`) }),
    );
    const files = () => ['', '-wal'].map((end) => file + end).filter((name) => existsSync(name));
    const found = () => files().some((name) => readFileSync(name).includes(secret));
    assert.equal(found(), true);
    await store.erase(call.id, 'asked', 1);
    assert.equal(found(), false);
    await store.close();
    assert.equal(found(), false);
    assert.deepEqual(files(), [file], 'a clean end leaves no log behind');
  });
});

test('the files are readable by their owner only', { skip: process.platform === 'win32' }, async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    for (const end of ['', '-wal', '-shm', '-lock', '-sock'])
      assert.equal(statSync(file + end).mode & 0o777, 0o600, `${file}${end}`);
    await store.close();
  });
});

test('closing twice is closing once, and the same process may open again', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    await Promise.all([store.close(), store.close()]);
    const again = await mustOpen({ file });
    await again.close();
  });
});
