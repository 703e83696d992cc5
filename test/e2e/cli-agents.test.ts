/**
 * The commands for keys, as people run them: before there is a store, beside a gateway, and where something is in the
 * way.
 */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openKeysOf } from '../../src/compose/state/key-files.ts';
import { eventually } from '../support/eventually.ts';
import {
  exitOf,
  folder,
  objectsIn,
  recourse,
  startGateway,
  startRecourse,
  storeIn,
} from '../support/recourse-process.ts';

async function keysOf(t: TestContext, home: string, file = storeIn(home)) {
  const opened = await openKeysOf(file);
  assert.ok(opened.kind === 'opened', JSON.stringify(opened));
  t.after(() => opened.keyring.close());
  return opened.keyring;
}

const inFolder = (t: TestContext) => {
  const home = folder(t);
  return { home, agents: (...words: string[]) => recourse(['agents', ...words], { cwd: home }) };
};

test('a key is printed alone, once, before there is a store, and works', async (t) => {
  const { home, agents } = inFolder(t);
  const none = agents('ls');
  assert.deepEqual([none.status, none.stdout], [0, '']);
  assert.match(none.stderr, /^no key in tenant 'default'; recourse agents add makes one\.\n$/);
  assert.deepEqual(readdirSync(home), []);

  const added = agents('add', 'support-bot');
  assert.equal(added.status, 0);
  assert.match(added.stdout, /^rk_[0-9a-z]{16}_[\w-]{43}\n$/);
  const key = added.stdout.trim();
  assert.match(added.stderr, /^agent 'support-bot' of tenant 'default' has a key\.\n/);
  assert.ok(added.stderr.includes(key.slice(3, 19)) && !added.stderr.includes(key.slice(20)));
  assert.deepEqual(readdirSync(home), []);
  assert.equal(statSync(`${storeIn(home)}.keys`).mode & 0o077, 0);
  assert.deepEqual(await (await keysOf(t, home)).find(key, Date.now()), {
    tenant: 'default',
    role: 'agent',
    name: 'support-bot',
    keyId: key.slice(3, 19),
  });
  const listed = agents('ls');
  assert.match(listed.stdout, /^KEY ID +NAME +ROLE +STATUS +CREATED +EXPIRES +LAST USED\n/);
  assert.match(listed.stdout, new RegExp(`${key.slice(3, 19)} +support-bot +agent +active +\\S+ +- +never\n`));
  assert.ok(!listed.stdout.includes(key.slice(20)));
});

test('role, tenant and end are as they were asked for', async (t) => {
  const { agents } = inFolder(t);
  const [ann] = objectsIn(
    agents('add', 'ann', '--role', 'approver', '--tenant', 'acme', '--expires', '30d', '--json').stdout,
  );
  assert.ok(ann);
  assert.deepEqual([ann['name'], ann['role'], ann['tenant'], ann['status']], ['ann', 'approver', 'acme', 'active']);
  const days = (Date.parse(String(ann['expires_at'])) - Date.parse(String(ann['created_at']))) / 86_400_000;
  assert.equal(days, 30);
  assert.equal(agents('ls').stdout, '');
  agents('add', 'bob', '--tenant', 'acme');
  const names = (...words: string[]) =>
    objectsIn(agents('ls', '--json', '--tenant', 'acme', ...words).stdout).map(({ name }) => name);
  assert.deepEqual(names(), ['ann', 'bob']);
  assert.deepEqual(names('--agent', 'bob'), ['bob']);
  const elsewhere = agents('revoke', String(ann['key_id']));
  assert.equal(elsewhere.status, 1);
  assert.match(
    elsewhere.stderr,
    /^recourse: tenant 'default' has no key \w{16}; look with: recourse agents ls, or name --tenant\n$/,
  );
});

test('beside a gateway: a rotation leaves both keys working for a while, a revocation ends one within a second', async (t) => {
  const { home, agents } = inFolder(t);
  const gateway = await startGateway(t, storeIn(home));
  const keyring = await keysOf(t, home);
  const works = async (key: string) => (await keyring.find(key, Date.now())) !== null;
  const old = agents('add', 'bot').stdout.trim();
  assert.ok(await works(old));
  const rotated = agents('rotate', old.slice(3, 19), '--grace', '1h');
  assert.match(rotated.stderr, /has another key, and \w{16} works until \S+Z at most\.\n/);
  const fresh = rotated.stdout.trim();
  assert.ok((await works(old)) && (await works(fresh)));
  const again = agents('rotate', old.slice(3, 19));
  assert.deepEqual([again.status, again.stdout], [1, '']);
  assert.match(again.stderr, new RegExp(`was rotated before: its successor is ${fresh.slice(3, 19)}\n$`));
  const revoked = agents('revoke', old.slice(3, 19));
  assert.match(revoked.stdout, /^\w{16} is revoked; gateways that run refuse it within a second\.\n$/);
  await eventually('the end of the key', async () => !(await works(old)));
  assert.ok(await works(fresh));
  assert.equal(agents('revoke', old.slice(3, 19)).status, 0);
  assert.deepEqual(
    objectsIn(agents('ls', '--json').stdout).map(({ status }) => status),
    ['revoked', 'active'],
  );
  assert.equal((await gateway.ask({ tool: 'pay', args: {} }))['action'], 'pay');
});

test('a key that is typed where an id belongs is not repeated', (t) => {
  const { agents } = inFolder(t);
  const key = agents('add', 'bot').stdout.trim();
  for (const command of ['rotate', 'revoke'])
    for (const typed of [key, key.slice(20)]) {
      const { status, stdout, stderr } = agents(command, '--', typed);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /takes the id of a key/);
      assert.ok(!stderr.includes(key.slice(20)));
    }
});

test('what cannot be is a sentence and an exit code', (t) => {
  const { home, agents } = inFolder(t);
  const wrong: readonly (readonly [words: readonly string[], status: number, says: RegExp])[] = [
    [['add', ' bot'], 2, /^recourse: the name must not begin or end with a space\. Try: recourse agents add --help\n$/],
    [['add', 'a\u001b[31mb'], 2, /the name must have no control or invisible characters/],
    [['add', 'n'.repeat(257)], 2, /the name must have 1 to 256 characters/],
    [['add', 'bot', '--tenant', 't\n'], 2, /the tenant must have no control/],
    [['add', 'bot', '--expires', 'soon'], 2, /--expires is a duration such as 90s, 30m, 12h or 30d/],
    [['add', 'bot', '--expires', '0s'], 2, /a key ends in the future/],
    [['rotate', '0000000000000000', '--grace', '1y'], 2, /--grace is a duration/],
    [['rotate', '0000000000000000'], 1, /has no key 0000000000000000/],
    [['revoke', '0000000000000000'], 1, /has no key 0000000000000000/],
  ];
  for (const [words, status, says] of wrong) {
    const end = agents(...words);
    assert.deepEqual([end.status, end.stdout], [status, ''], words.join(' '));
    assert.match(end.stderr, says);
    assert.ok(!end.stderr.includes('\u001b'));
  }
  writeFileSync(`${storeIn(home)}.keys`, 'dear reader, '.repeat(100), { mode: 0o600 });
  const foreign = agents('ls');
  assert.equal(foreign.status, 3);
  assert.match(foreign.stderr, /recourse\.db\.keys' holds no keys of ours: move it away/);
  chmodSync(`${storeIn(home)}.keys`, 0o644);
  const open = agents('add', 'bot');
  assert.deepEqual([open.status, open.stdout], [3, '']);
  assert.match(open.stderr, /is open to other users: chmod 600 '/);
  assert.equal(readFileSync(`${storeIn(home)}.keys`, 'utf8').slice(0, 11), 'dear reader');
});

test('commands at the same time, one of them killed: what was printed works, and the file holds', async (t) => {
  const { home } = inFolder(t);
  const file = join(home, 'recourse.db');
  const started = Array.from({ length: 6 }, (_, n) => startRecourse(t, ['agents', 'add', `bot-${n}`, '--file', file]));
  const said = started.map((child) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    return () => text;
  });
  await eventually('the first key', async () => said.some((text) => text() !== ''));
  started.at(-1)?.kill('SIGKILL');
  await Promise.all(started.map(exitOf));
  const keyring = await keysOf(t, home, file);
  const keys = said.map((text) => text().trim()).filter((text) => text !== '');
  assert.ok(keys.length >= 5, `${keys.length} keys`);
  for (const key of keys) assert.ok(await keyring.find(key, Date.now()));
  await keyring.close();
  const database = new DatabaseSync(`${file}.keys`);
  assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  database.close();
});
