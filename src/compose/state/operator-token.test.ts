/** How the operator gets in the first time, and what is in the way. On real files, with real processes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { startKeyring } from '../../../test/support/keyring-process.ts';
import { aKeyring, aNewKey, aPlace, mustOpenKeyring, noon } from '../../../test/support/open-keyring.ts';
import { ensureOperatorToken, readOperatorToken } from './operator-token.ts';

async function aStore(t: TestContext) {
  const opened = await aKeyring(t);
  const { keyring, store } = opened;
  return { ...opened, ensure: () => ensureOperatorToken({ store, keyring, nowMs: () => noon }) };
}

const onWindows = process.platform === 'win32';

test('the first start makes an admin, keeps the key in a file of its own, and the next ones find it there', async (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const { keyring, store, token, folder, ensure } = await aStore(t);
  const made = await ensure();
  assert.ok(made.kind === 'made');
  assert.deepEqual(await keyring.find(made.key, noon), {
    tenant: 'default',
    role: 'admin',
    name: 'operator',
    keyId: made.keyId,
  });
  assert.equal(readFileSync(token, 'utf8'), `${made.key}\n`);
  if (!onWindows) assert.equal(statSync(token).mode & 0o777, 0o600);
  assert.deepEqual(readOperatorToken(store), { kind: 'read', file: token, key: made.key });
  for (let start = 0; start < 2; start++)
    assert.deepEqual(await ensure(), { kind: 'kept', file: token, keyId: made.keyId });
  assert.equal((await keyring.list('default')).length, 1);
  assert.ok(!readdirSync(folder).includes('recourse.db.token-new'));
});

test('no file is made while there is an admin of any tenant, dead or alive; only that, and how to make one, is said', async (t) => {
  const { keyring, store, token, ensure } = await aStore(t);
  const { entry } = await keyring.add(aNewKey({ role: 'admin', tenant: 'other' }), noon);
  await keyring.revoke('other', entry.id, noon);
  const gone = await ensure();
  assert.ok(gone.kind === 'absent' && !existsSync(token));
  assert.match(
    gone.message,
    /^there is no '.*\.token', and a start makes none once an admin has had a key: make another key with: \(umask 077; recourse agents add operator --role admin > /,
  );
  const missing = readOperatorToken(store);
  assert.ok(missing.kind === 'missing' && /start the gateway once/.test(missing.message));
});

test('keys that are not admins do not count as one', async (t) => {
  const { keyring, ensure } = await aStore(t);
  for (const role of ['agent', 'viewer', 'approver'] as const) await keyring.add(aNewKey({ role }), noon);
  assert.equal((await ensure()).kind, 'made');
});

test('a key in the file that ended, or is of another role, is told', async (t) => {
  const { keyring, token, ensure } = await aStore(t);
  const made = await ensure();
  assert.ok(made.kind === 'made');
  await keyring.revoke('default', made.keyId, noon);
  const ended = await ensure();
  assert.ok(ended.kind === 'unusable' && /does not work any more: make another key/.test(ended.message));
  const { key } = await keyring.add(aNewKey({ role: 'viewer' }), noon);
  writeFileSync(token, key);
  const wrong = await ensure();
  assert.ok(wrong.kind === 'unusable' && /not an admin's but that of a viewer/.test(wrong.message));
  for (const { message } of [ended, wrong]) assert.ok(!message.includes(made.key) && !message.includes(key));
});

test('a file that others can read is not used, and says the fix', { skip: onWindows }, async (t) => {
  const { store, token, ensure } = await aStore(t);
  const made = await ensure();
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    chmodSync(token, mode);
    const read = readOperatorToken(store);
    assert.ok(read.kind === 'unusable' && /: chmod 600 '.*rotate its key/.test(read.message), read.kind);
    assert.equal((await ensure()).kind, 'unusable');
  }
  chmodSync(token, 0o600);
  assert.equal(made.kind === 'made' && readOperatorToken(store).kind, 'read');
});

test('what is no key stays where it is, and nothing is made', { skip: onWindows }, async (t) => {
  const { keyring, token, ensure } = await aStore(t);
  const refused = async () => {
    const told = await ensure();
    assert.ok(told.kind === 'unusable', told.kind);
    assert.deepEqual(await keyring.list('default'), []);
    return told.message;
  };
  writeFileSync(token, 'my notes', { mode: 0o600 });
  assert.match(await refused(), /holds no key: move it away/);
  assert.equal(readFileSync(token, 'utf8'), 'my notes');
  rmSync(token);
  mkdirSync(token);
  assert.match(await refused(), /is not a file/);
  rmSync(token, { recursive: true });
  execFileSync('mkfifo', ['-m', '600', token]);
  assert.match(await refused(), /is not a file/);
  rmSync(token);
  assert.equal((await ensure()).kind, 'made');
});

test('a file that cannot be written leaves no key behind that nobody has', async (t) => {
  const { keyring, folder, store, token } = await aStore(t);
  mkdirSync(`${token}-new`);
  const told = await ensureOperatorToken({ store, keyring, nowMs: () => noon });
  assert.ok(told.kind === 'unusable' && /cannot be written \(/.test(told.message), JSON.stringify(told));
  assert.deepEqual(await keyring.list('default'), []);
  rmSync(path.join(folder, 'recourse.db.token-new'), { recursive: true });
  assert.equal((await ensureOperatorToken({ store, keyring, nowMs: () => noon })).kind, 'made');
});

test('a link to the store leads to the same files', { skip: onWindows }, async (t) => {
  const { ensure, folder, store } = await aStore(t);
  const made = await ensure();
  writeFileSync(store, '');
  const link = path.join(aPlace(t).folder, 'link.db');
  symlinkSync(store, link);
  const read = readOperatorToken(link);
  assert.ok(made.kind === 'made' && read.kind === 'read' && read.key === made.key && read.file.startsWith(folder));
});

test('a process that dies in the middle of the first start leaves no key that works, and the next start makes one', async (t) => {
  const { store, file, token } = aPlace(t);
  const child = await startKeyring(t, store);
  assert.equal((await child.ask({ op: 'die_while_keeping', token })).reason, 'gone');
  const dead = readFileSync(token, 'utf8').trim();
  const keyring = await mustOpenKeyring(t, { file });
  assert.deepEqual(await keyring.list('default'), []);
  assert.equal(await keyring.find(dead, noon), null);
  const made = await ensureOperatorToken({ store, keyring, nowMs: () => noon });
  assert.ok(made.kind === 'made' && made.key !== dead);
  assert.equal(readFileSync(token, 'utf8'), `${made.key}\n`);
});

test('of several processes that start at once one makes the key, and the others find it', async (t) => {
  const { store, file, token } = aPlace(t);
  const processes = await Promise.all(Array.from({ length: 4 }, () => startKeyring(t, store)));
  const answers = await Promise.all(processes.map((each) => each.ask({ op: 'ensure' })));
  const told = answers.map(({ value }) => value as { kind: string; keyId: string });
  assert.deepEqual(told.map(({ kind }) => kind).toSorted(), ['kept', 'kept', 'kept', 'made']);
  assert.equal(new Set(told.map(({ keyId }) => keyId)).size, 1);
  const keyring = await mustOpenKeyring(t, { file });
  const who = await keyring.find(readFileSync(token, 'utf8').trim(), noon);
  assert.equal(who?.keyId, told[0]?.keyId);
});
