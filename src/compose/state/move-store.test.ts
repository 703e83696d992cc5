/**
 * A move that is cut short anywhere is gone on with by the next one, and nothing is lost. Real files, real databases.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openSqliteStore } from '../../adapters/store-sqlite/open-store.ts';
import { takeLock } from '../../adapters/store-sqlite/share/lock.ts';
import { openKeysOf } from './key-files.ts';
import { hasStore, moveStore } from './move-store.ts';

const parts = ['', '.keys', '.head', '.seal', '.hooks.json', '.token'];

function folderOf(t: TestContext, above = tmpdir()): string {
  const folder = mkdtempSync(path.join(above, 'recourse-move-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store with a key in its log, as a process leaves it that was killed. */
async function aStore(t: TestContext) {
  const from = path.join(folderOf(t), 'recourse.db');
  const opened = await openSqliteStore({ file: from });
  assert.ok(opened.kind === 'opened');
  const identity = await opened.store.identity();
  await opened.store.close();
  const keys = await openKeysOf(from);
  assert.ok(keys.kind === 'opened');
  const holder = { tenant: 'default', role: 'agent', name: 'bot', createdBy: 'test', expiresAtMs: null } as const;
  const { key } = await keys.keyring.add(holder, Date.now());
  // What is only in the log: copied while the keyring is open, since closing writes it back.
  for (const each of ['.keys', '.keys-wal']) copyFileSync(`${from}${each}`, `${from}${each}-killed`);
  await keys.keyring.close();
  for (const each of ['.keys', '.keys-wal']) renameSync(`${from}${each}-killed`, `${from}${each}`);
  for (const part of ['.seal', '.hooks.json', '.token']) writeFileSync(`${from}${part}`, part, { mode: 0o600 });
  return { from, identity, key, head: readFileSync(`${from}.head`, 'utf8') };
}

/** As a move does before the first file goes. */
function writeBack(from: string): void {
  for (const part of ['', '.keys']) {
    const database = new DatabaseSync(`${from}${part}`);
    database.exec('PRAGMA journal_mode = DELETE');
    database.close();
  }
}

async function holds(to: string, { identity, key, head }: Awaited<ReturnType<typeof aStore>>) {
  assert.equal(readFileSync(`${to}.head`, 'utf8'), head, 'an older copy in its place would be noticed');
  const opened = await openSqliteStore({ file: to });
  assert.ok(opened.kind === 'opened');
  assert.equal(await opened.store.identity(), identity);
  await opened.store.close();
  const keys = await openKeysOf(to);
  assert.ok(keys.kind === 'opened');
  assert.equal((await keys.keyring.find(key, Date.now()))?.name, 'bot');
  await keys.keyring.close();
  for (const part of ['.seal', '.hooks.json', '.token']) assert.equal(readFileSync(`${to}${part}`, 'utf8'), part);
}

test('everything is moved, what is only in a log too, and nothing is moved twice', async (t) => {
  const stored = await aStore(t);
  const to = path.join(folderOf(t), 'recourse.db');
  assert.deepEqual(await moveStore([stored.from], to), { kind: 'moved', from: stored.from });
  assert.ok(!hasStore(stored.from));
  await holds(to, stored);
  assert.deepEqual(await moveStore([stored.from], to), { kind: 'nothing' });
});

test('INVARIANT: cut short after any file, the next start goes on with it', async (t) => {
  for (let moved = 0; moved <= parts.length; moved++) {
    const stored = await aStore(t);
    const to = path.join(folderOf(t), 'recourse.db');
    writeBack(stored.from);
    writeFileSync(path.join(path.dirname(to), 'moving'), `${stored.from}\n`);
    for (const part of parts.slice(0, moved)) renameSync(`${stored.from}${part}`, `${to}${part}`);
    // Named by its mark: from another folder the old place would not be looked at.
    assert.deepEqual(await moveStore([], to), { kind: 'moved', from: stored.from }, `after ${moved} files`);
    await holds(to, stored);
    assert.ok(!hasStore(stored.from));
    assert.deepEqual(await moveStore([stored.from], to), { kind: 'nothing' });
  }
});

test('cut short between copying a file and removing it: the copy counts if both are the same, and nobody chooses if not', async (t) => {
  const stored = await aStore(t);
  const to = path.join(folderOf(t), 'recourse.db');
  writeFileSync(path.join(path.dirname(to), 'moving'), `${stored.from}\n`);
  writeBack(stored.from);
  copyFileSync(stored.from, to);
  writeFileSync(`${to}.token`, 'another');
  const refused = await moveStore([stored.from], to);
  assert.ok(refused.kind === 'refused');
  assert.match(refused.message, /recourse\.db\.token' and '.*' are both there and differ: move one of them away/);
  rmSync(`${to}.token`);
  assert.equal((await moveStore([stored.from], to)).kind, 'moved');
  await holds(to, stored);
});

test('a store that is owned or open is not moved, nor is one that is not ours', async (t) => {
  const { from } = await aStore(t);
  const to = path.join(folderOf(t), 'recourse.db');
  const lock = await takeLock(`${from}-lock`);
  assert.ok(lock.kind === 'held');
  assert.deepEqual(await moveStore([from], to), { kind: 'in_use', from });
  lock.free();
  // A forwarder does not hold the lock: it reads the file itself, and would make another one when its owner is gone.
  for (const part of ['', '.keys']) {
    const reader = new DatabaseSync(`${from}${part}`, { readOnly: true });
    reader.prepare('SELECT count(*) FROM sqlite_schema').get();
    assert.deepEqual(await moveStore([from], to), { kind: 'in_use', from }, part);
    reader.close();
  }
  assert.ok(!hasStore(to));
  const foreign = path.join(folderOf(t), 'recourse.db');
  const database = new DatabaseSync(foreign);
  database.exec('CREATE TABLE cats (name TEXT)');
  database.close();
  assert.deepEqual(await moveStore([foreign], to), { kind: 'nothing' });
  writeFileSync(`${foreign}.token`, '', { mode: 0o600 });
  const refused = await moveStore([foreign], to);
  assert.ok(refused.kind === 'refused');
  assert.match(refused.message, /belongs to another program/);
  assert.ok(existsSync(foreign) && !hasStore(to));
});

const shared = '/dev/shm';
const crosses = existsSync(shared) && statSync(shared).dev !== statSync(tmpdir()).dev;

test('across file systems', { skip: crosses ? false : 'there is only one' }, async (t) => {
  const stored = await aStore(t);
  const folder = folderOf(t, shared);
  mkdirSync(path.join(folder, 'state'), { mode: 0o700 });
  const to = path.join(folder, 'state', 'recourse.db');
  assert.equal((await moveStore([stored.from], to)).kind, 'moved');
  assert.ok(!hasStore(stored.from));
  assert.equal(statSync(`${to}.token`).mode & 0o077, 0);
  await holds(to, stored);
});
