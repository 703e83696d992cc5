/** Which files are opened and which are refused; a refused file is not changed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import {
  aCall,
  aTransition,
  inserting,
  mustCommit,
  stepping,
  stored,
} from '../../../test/conformance/store-fixtures.ts';
import { inFolder, mustOpen } from '../../../test/conformance/sqlite-home.ts';
import type { SessionId } from '../../core/call/call.ts';
import { openForWriting } from './file/connection.ts';
import { openSqliteReader } from './read/open-reader.ts';
import { openSqliteStore } from './open-store.ts';
import { placeOfStore } from './share/place.ts';
import { applicationId, migrations, schemaVersion } from './file/schema.ts';
import { prepareStatements } from './write/statements.ts';

const pragma = (database: DatabaseSync, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0] as unknown;

async function refusal(file: string) {
  const result = await openSqliteStore({ file, patienceMs: 0 });
  assert.equal(result.kind, 'refused');
  return result.kind === 'refused' ? result : assert.fail();
}

test('a file is opened with a write-ahead log and an fsync at every commit', async () => {
  await inFolder(async (folder) => {
    const opened = openForWriting(path.join(folder, 's.db'), null);
    assert.ok(opened.kind === 'opened');
    const { database } = opened;
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'cache_size', 'fullfsync', 'application_id'];
    assert.deepEqual(
      settings.map((name) => pragma(database, name)),
      ['wal', 2, 0, -65_536, 1, applicationId],
    );
    assert.equal(pragma(database, 'user_version'), schemaVersion);
    database.close();
  });
});

test('no statement of the writer walks over a whole table', async () => {
  await inFolder(async (folder) => {
    const opened = openForWriting(path.join(folder, 's.db'), null);
    assert.ok(opened.kind === 'opened');
    const { database } = opened;
    for (const [name, statement] of Object.entries(prepareStatements(database))) {
      if (name === 'begin' || name === 'commit') continue;
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${statement.sourceSQL}`).all() as { detail: string }[];
      // The newest row of an ordered table is found at its end, not by walking.
      const walks = plan.filter(({ detail }) => detail.startsWith('SCAN') && name !== 'newestEpoch');
      assert.deepEqual(walks, [], name);
    }
    database.close();
  });
});

test('a newer schema is refused without a touch', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    await (await mustOpen({ file })).close();
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA user_version = ${schemaVersion + 1}; PRAGMA wal_checkpoint(TRUNCATE)`);
    database.close();
    const before = readFileSync(file);
    const { reason, message } = await refusal(file);
    assert.equal(reason, 'newer_schema');
    assert.ok(message.includes(file) && message.includes('upgrade'), message);
    assert.deepEqual(readFileSync(file), before);
    const reader = await openSqliteReader(file);
    assert.equal(reader.kind === 'refused' && reader.reason, 'newer_schema');
  });
});

test('a database of another program and a file that is none are refused without a touch', async () => {
  await inFolder(async (folder) => {
    const foreign = path.join(folder, 'foreign.db');
    const database = new DatabaseSync(foreign);
    database.exec('PRAGMA application_id = 7; CREATE TABLE theirs (x)');
    database.close();
    const unnamed = path.join(folder, 'unnamed.db');
    const other = new DatabaseSync(unnamed);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    const letter = path.join(folder, 'letter.txt');
    writeFileSync(letter, 'dear reader, '.repeat(100));
    for (const file of [foreign, unnamed, letter]) {
      const before = readFileSync(file);
      const { reason, message } = await refusal(file);
      assert.equal(reason, 'not_a_store', file);
      assert.ok(message.includes(file), message);
      assert.deepEqual(readFileSync(file), before);
    }
    assert.deepEqual(readdirSync(folder).toSorted(), ['foreign.db', 'letter.txt', 'unnamed.db']);
  });
});

test('a folder that is missing or cannot be written is not writable', async () => {
  await inFolder(async (folder) => {
    assert.equal((await refusal(path.join(folder, 'none', 's.db'))).reason, 'not_writable');
    // Root may write everywhere but in the kernel's own folders.
    const root = process.getuid?.() === 0;
    const shut = root ? '/sys/kernel' : path.join(folder, 'shut');
    if (!root) mkdirSync(shut, { mode: 0o555 });
    const { reason, message } = await refusal(path.join(shut, 's.db'));
    assert.equal(reason, 'not_writable');
    assert.match(message, /check its folder, owner and mode/);
    if (!root) chmodSync(shut, 0o755);
  });
});

test('what is no file, and a name that leads nowhere, are refused in a sentence and never waited for', async () => {
  await inFolder(async (folder) => {
    const at = (name: string) => path.join(folder, name);
    mkdirSync(at('folder.db'));
    execFileSync('mkfifo', [at('pipe.db')]);
    symlinkSync('circle.db', at('circle.db'));
    const names = ['folder.db', 'pipe.db', 'circle.db', `${'long'.repeat(70)}.db`];
    const refusals = await Promise.all(names.map((name) => refusal(at(name))));
    assert.deepEqual(
      refusals.map(({ reason, message }) => [reason, message.slice(message.lastIndexOf("'") + 2)]),
      [
        ['not_a_store', 'is a folder: name a file in it'],
        ['not_a_store', 'is not a file: name another'],
        ['not_writable', 'cannot be looked at (ELOOP): check the name, its folder and its rights'],
        ['not_writable', 'cannot be looked at (ENAMETOOLONG): check the name, its folder and its rights'],
      ],
    );
  });
});

test('an empty file becomes a store, and one name for it is as good as another', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 'real.db');
    writeFileSync(file, '');
    symlinkSync(file, path.join(folder, 'link.db'));
    const store = await mustOpen({ file });
    const second = await openSqliteStore({ file: path.join(folder, 'link.db') });
    assert.equal(second.kind === 'opened' && second.role, 'forwarder');
    if (second.kind === 'opened') await second.store.close();
    await store.close();
  });
});

test('an older file is brought up to date, each step by itself', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const database = new DatabaseSync(file);
    database.exec(migrations[0] as string);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1`);
    database.close();
    const store = await mustOpen({ file });
    await mustCommit(store, inserting(aCall()));
    await store.close();
  });
});

test('a session of a file of version 3 is pinned from its beginning, and from later on once its manifest is another', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const database = new DatabaseSync(file);
    for (const migration of migrations.slice(0, 3)) database.exec(migration);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 3;
      INSERT INTO sessions (id, tenant, agent, standing, state, seq, entries, opened_at, used_at, workflow, manifest)
      VALUES ('ses_0', 'acme', 'clerk', 0, 'open', 3, 0, 1, 1, 'coffee', 'm1');
      INSERT INTO snapshots (session, seq, text) VALUES ('ses_0', 2, '"two"'), ('ses_0', 3, '"three"')`);
    database.close();
    const id = 'ses_0' as SessionId;
    const store = await mustOpen({ file });
    const before = await store.session(id);
    assert.deepEqual([before?.seq, before?.workflow?.pinnedAtSeq, await store.firstSnapshot(id, 0)], [3, 0, 2]);
    const none = { turn: null, call: null, operation: null, fence: null, becomes: null };
    const workflow = { ...none, snapshot: { text: '"four"', dueAtMs: null }, manifest: 'm2' };
    await mustCommit(store, aTransition({ session: { ...stepping(id, { advance: true }), workflow } }));
    assert.equal((await store.session(id))?.workflow?.pinnedAtSeq, 4);
    await store.close();
    const now = new DatabaseSync(file, { readOnly: true });
    assert.equal(pragma(now, 'user_version'), schemaVersion);
    now.close();
  });
});

test('keys and places of a file of version 4, which were kept by wall time, are kept a while longer by the age of the store', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const database = new DatabaseSync(file);
    for (const migration of migrations.slice(0, 4)) database.exec(migration);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 4;
      INSERT INTO keys (tenant, agent, key, fingerprint, call_id, expires_at) VALUES ('acme', 'clerk', 'k', 'f1', 'call_1', 5);
      INSERT INTO calls (id, tenant, agent, session, tool, fingerprint, effect_class, state, attempt, tainted, created_at,
        deadline_at, seq, updated_at, requester_left_at, token)
      VALUES ('call_1', 'acme', 'clerk', 'ses_0', 'pay', 'f1', 'plain', 'SUCCEEDED', 1, 0, 1, 2, 0, 1, 1, 't')`);
    database.close();
    const store = await mustOpen({ file });
    for (let batch = 0; batch < 3; batch++) await mustCommit(store, inserting(aCall()));
    assert.equal((await store.key('acme', 'clerk', 'k'))?.callId, 'call_1');
    assert.equal((await store.abandoned('ses_0' as SessionId, 'f1', 600_000))?.id, 'call_1');
    await store.close();
  });
});

test('a reader says when there is nothing to read, and reads what is there', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const missing = await openSqliteReader(file);
    assert.equal(missing.kind === 'refused' && missing.reason, 'missing');
    assert.deepEqual(readdirSync(folder), []);
    writeFileSync(file, '');
    const empty = await openSqliteReader(file);
    assert.equal(empty.kind === 'refused' && empty.reason, 'missing');
    const store = await mustOpen({ file });
    const call = aCall();
    await mustCommit(store, inserting(call));
    const reader = await openSqliteReader(file);
    assert.ok(reader.kind === 'opened');
    await stored(reader.reader, call.id);
    reader.close();
    await store.close();
  });
});

test('a long path gets a short socket in a private folder, the same for everyone', async () => {
  await inFolder(async (folder) => {
    const deep = path.join(folder, 'a'.repeat(100));
    mkdirSync(deep);
    const place = placeOfStore(path.join(deep, 's.db'), 'linux');
    assert.ok(place !== null && place.socket.length < 104 && place.socketFolder !== null);
    assert.deepEqual(placeOfStore(path.join(deep, '.', 's.db'), 'linux'), place);
    assert.notEqual(placeOfStore(path.join(deep, 't.db'), 'linux')?.socket, place.socket);
    assert.match(placeOfStore(path.join(deep, 's.db'), 'win32')?.socket ?? '', /^\\\\\.\\pipe\\recourse-[0-9a-f]{32}$/);
    const store = await mustOpen({ file: path.join(deep, 's.db') });
    const second = await openSqliteStore({ file: path.join(deep, 's.db') });
    assert.equal(second.kind === 'opened' && second.role, 'forwarder');
    if (second.kind === 'opened') await mustCommit(second.store, inserting(aCall()));
    if (second.kind === 'opened') await second.store.close();
    await store.close();
  });
});
