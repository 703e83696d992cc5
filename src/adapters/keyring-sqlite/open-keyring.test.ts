/** Which files of keys are opened, which are refused, and is a refused one left alone? */
import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { aKeyring, aNewKey, aPlace, mustOpenKeyring, noon } from '../../../test/support/open-keyring.ts';
import type { Identity } from '../../core/call/identity.ts';
import { applicationId, openDatabase, schemaVersion } from './key-table.ts';
import type { KeyringReason } from './keyring-error.ts';
import { openSqliteKeyring } from './open-keyring.ts';
import { lookStatements } from './sqlite-keyring.ts';

async function refusal(file: string, reason: KeyringReason, create = true): Promise<string> {
  const opened = await openSqliteKeyring({ file, create, patienceMs: 0 });
  assert.ok(opened.kind === 'refused');
  assert.equal(opened.reason, reason, opened.message);
  assert.ok(opened.message.includes(file), opened.message);
  return opened.message;
}

const pragma = (database: DatabaseSync, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0] as unknown;

test('a file is opened with a write-ahead log and an fsync at every commit, in strict tables', async (t) => {
  const { file } = aPlace(t);
  const database = await openDatabase(file, 100);
  assert.deepEqual(
    ['journal_mode', 'synchronous', 'fullfsync', 'busy_timeout', 'application_id', 'user_version'].map((name) =>
      pragma(database, name),
    ),
    ['wal', 2, 1, 100, applicationId, schemaVersion],
  );
  assert.deepEqual(
    { ...database.prepare(`SELECT strict, wr FROM pragma_table_list WHERE name = 'keys'`).get() },
    { strict: 1, wr: 1 },
  );
  database.close();
});

test('no look walks over the whole table', async (t) => {
  const { file } = aPlace(t);
  const database = await openDatabase(file, 100);
  const { findKey, listKeys } = lookStatements;
  for (const text of [findKey, listKeys, 'SELECT * FROM keys WHERE id = ? AND tenant = ?']) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
    assert.ok(
      plan.some(({ detail }) => detail.startsWith('SEARCH k')),
      text,
    );
    assert.ok(!plan.some(({ detail }) => /^SCAN k|TEMP B-TREE/.test(detail)), text);
  }
  database.close();
});

test(
  'the file and its log can be read by their owner only, whatever the umask',
  { skip: process.platform === 'win32' },
  async (t) => {
    const before = process.umask(0);
    t.after(() => process.umask(before));
    const { keyring, folder } = await aKeyring(t);
    await keyring.add(aNewKey(), noon);
    const names = readdirSync(folder);
    assert.equal(names.length, 3);
    for (const name of names) assert.equal(statSync(path.join(folder, name)).mode & 0o777, 0o600, name);
  },
);

test(
  'a file that others could read or write is refused, with the fix',
  { skip: process.platform === 'win32' },
  async (t) => {
    const { keyring, file } = await aKeyring(t);
    await keyring.close();
    for (const mode of [0o640, 0o604, 0o620, 0o602, 0o666]) {
      chmodSync(file, mode);
      assert.match(await refusal(file, 'not_private'), /: chmod 600 '/);
    }
    chmodSync(file, 0o600);
    await (await mustOpenKeyring(t, { file })).list('default');
  },
);

test('a file that is not there is made only where that is wanted', async (t) => {
  const { file, folder } = aPlace(t);
  await refusal(file, 'missing', false);
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(file, '', { mode: 0o600 });
  await (await mustOpenKeyring(t, { file })).add(aNewKey(), noon);
});

test('a newer schema, a database of others, a letter and a folder are refused without a touch', async (t) => {
  const { folder } = aPlace(t);
  const write = (name: string, sql: string) => {
    const file = path.join(folder, name);
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    chmodSync(file, 0o600);
    return file;
  };
  const letter = path.join(folder, 'letter');
  writeFileSync(letter, 'dear reader, '.repeat(100), { mode: 0o600 });
  const files: readonly (readonly [string, KeyringReason])[] = [
    [
      write(
        'newer',
        `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion + 1}; CREATE TABLE keys (x)`,
      ),
      'newer_schema',
    ],
    [write('foreign', 'PRAGMA application_id = 7; CREATE TABLE theirs (x)'), 'not_a_keyring'],
    [write('unnamed', 'CREATE TABLE keys (x)'), 'not_a_keyring'],
    [letter, 'not_a_keyring'],
  ];
  const names = readdirSync(folder);
  for (const [file, reason] of files) {
    const before = readFileSync(file);
    await refusal(file, reason);
    assert.deepEqual(readFileSync(file), before, file);
  }
  assert.deepEqual(readdirSync(folder), names);
  mkdirSync(path.join(folder, 'shelf'));
  await refusal(path.join(folder, 'shelf'), 'not_a_keyring');
});

test('a folder that is missing or cannot be written is not writable', async (t) => {
  const { folder } = aPlace(t);
  await refusal(path.join(folder, 'none', 'keys'), 'not_writable');
  // Root may write everywhere but in the kernel's own folders.
  const root = process.getuid?.() === 0;
  const shut = root ? '/sys/kernel' : path.join(folder, 'shut');
  if (!root) mkdirSync(shut, { mode: 0o555 });
  assert.match(await refusal(path.join(shut, 'keys'), 'not_writable'), /check its folder, its owner, its mode/);
});

const racer = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { openSqliteKeyring } from ${JSON.stringify(new URL('./open-keyring.ts', import.meta.url).href)};
  const { files, gate, racers } = workerData;
  for (const [round, file] of files.entries()) {
    // Everybody begins at the same moment.
    Atomics.add(gate, round, 1);
    while (Atomics.load(gate, round) < racers);
    const opened = await openSqliteKeyring({ file });
    if (opened.kind === 'opened') await opened.keyring.close();
    parentPort.postMessage(opened.kind === 'opened' ? 'opened' : opened.message);
  }
`;

test('whoever makes the file at the same moment gets the same one', async (t) => {
  const { folder } = aPlace(t);
  const files = Array.from({ length: 25 }, (_, round) => path.join(folder, `${round}.keys`));
  const gate = new Int32Array(new SharedArrayBuffer(4 * files.length));
  const source = new URL(`data:text/javascript,${encodeURIComponent(racer)}`);
  const ends = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const worker = new Worker(source, { workerData: { files, gate, racers: 3 }, execArgv: [] });
      const said: string[] = [];
      worker.on('message', (word: string) => said.push(word));
      await once(worker, 'exit');
      return said;
    }),
  );
  for (const said of ends) assert.deepEqual(said, Array(files.length).fill('opened'));
});

test('a lock that is never given back is told, not waited for', async (t) => {
  const { keyring, file } = await aKeyring(t);
  await keyring.close();
  const holder = new DatabaseSync(file);
  holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  assert.match(await refusal(file, 'locked'), /another program holds a lock/);
  holder.close();
});

test('a damaged file never gives an identity that was not there, and says that it is damaged', async (t) => {
  const { keyring, file } = await aKeyring(t);
  const added = [];
  for (let count = 0; count < 60; count++) added.push(await keyring.add(aNewKey({ name: `bot ${count}` }), noon));
  await keyring.close();
  const whole = readFileSync(file);
  const told = new Set<string>();
  const page = 4_096;
  for (let at = page; at < whole.length; at += page / 2)
    for (const junk of [Buffer.alloc(64, 0xff), Buffer.alloc(64, 0)]) {
      writeFileSync(file, whole, { mode: 0o600 });
      const descriptor = openSync(file, 'r+');
      writeSync(descriptor, junk, 0, junk.length, at);
      closeSync(descriptor);
      const opened = await openSqliteKeyring({ file });
      if (opened.kind === 'refused') {
        told.add(opened.reason);
        continue;
      }
      for (const { key, entry } of added) {
        const found: Identity | null = await opened.keyring.find(key, noon).catch((error: unknown) => {
          told.add((error as { reason: string }).reason);
          return null;
        });
        if (found !== null) assert.deepEqual([found.tenant, found.role, found.keyId], ['default', 'agent', entry.id]);
      }
      await opened.keyring.close().catch(() => undefined);
    }
  assert.deepEqual([...told], ['damaged']);
  writeFileSync(file, whole);
  truncateSync(file, page);
  const cut = await openSqliteKeyring({ file });
  const looked =
    cut.kind === 'refused'
      ? cut
      : await cut.keyring.list('default').catch((error: unknown) => error as { reason: string });
  assert.equal((looked as { reason: string }).reason, 'damaged');
});
