/**
 * What `recourse check` and `recourse test` say about who approves, as people run them: without keys, and with them
 * beside the store.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folder, objectsIn, recourse } from '../support/recourse-process.ts';

const config = `runtime: { store: desk.db }
tools: { payments: { mcp: { command: no-such-program } } }
agents:
  support:
    approvers: [finance]
    rules:
      - { defer: payments/refund, needs: 2 }
      - { defer: payments/note, client_may_approve: true }
roles: { finance: [ann, bob] }
`;

function project(t: TestContext, more: Readonly<Record<string, string>> = {}): string {
  const cwd = folder(t);
  for (const [name, text] of Object.entries({ 'recourse.yaml': config, ...more })) writeFileSync(join(cwd, name), text);
  return cwd;
}

/** The warnings of `check`, and whether it held. */
function checked(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = recourse(['check', '--json'], { cwd, env });
  assert.equal(stderr, '');
  // That the store lies where its server works is told elsewhere.
  const isOurs = ({ kind, message }: Record<string, unknown>) =>
    kind === 'warning' && !/can reach/.test(String(message));
  const warnings = objectsIn(stdout).filter(isOurs);
  return { status, warnings: warnings.map(({ line, column, message }) => `${line}:${column} ${message}`) };
}

const add = (cwd: string, name: string, role: string, file = 'desk.db') =>
  assert.equal(recourse(['agents', 'add', name, '--role', role, '--file', file], { cwd }).status, 0);

test('check: keys are not needed, none are made, and who has one is told as soon as there are any', (t) => {
  const cwd = project(t);
  assert.deepEqual(checked(cwd), { status: 0, warnings: [] });
  assert.equal(existsSync(join(cwd, 'desk.db.keys')), false);
  add(cwd, 'eve', 'viewer');
  const none = '5:5 calls are deferred, and nobody has a key of role approver or admin';
  assert.deepEqual(checked(cwd), { status: 0, warnings: [none] });
  add(cwd, 'bob', 'approver');
  const one = '5:5 2 people must approve, and only bob of finance has a key of role approver or admin; ann has none';
  assert.deepEqual(checked(cwd), { status: 0, warnings: [one] });
  add(cwd, 'ann', 'admin');
  assert.deepEqual(checked(cwd), { status: 0, warnings: [] });
});

test('check: a key that was revoked does not count, nor do those beside another store', (t) => {
  const cwd = project(t);
  for (const name of ['ann', 'bob']) add(cwd, name, 'approver');
  const keys = objectsIn(recourse(['agents', 'ls', '--json', '--file', 'desk.db'], { cwd }).stdout);
  const ann = keys.find(({ name }) => name === 'ann')?.['key_id'];
  assert.equal(recourse(['agents', 'revoke', String(ann), '--file', 'desk.db'], { cwd }).status, 0);
  assert.match(checked(cwd).warnings.join(), /only bob of finance has a key/);
  assert.deepEqual(checked(cwd, { RECOURSE_FILE: 'other.db' }).warnings, []);
});

test('check: keys that cannot be read are as good as none', (t) => {
  const cwd = project(t, { 'desk.db.keys': 'no database' });
  assert.deepEqual(checked(cwd), { status: 0, warnings: [] });
});

test('test: a case may expect that a call is deferred, and one that fails tells who would be asked', (t) => {
  const aCase = (name: string, tool: string, expected: string) =>
    `  - { name: ${name}, agent: support, call: payments/${tool}, expect: ${expected} }\n`;
  const cases = `cases:\n${aCase('one', 'refund', 'defer')}${aCase('two', 'refund', 'permit')}${aCase('three', 'note', 'permit')}`;
  const cwd = project(t, { 'recourse.test.yaml': cases });
  const { status, stdout } = recourse(['test'], { cwd });
  assert.equal(status, 2);
  assert.match(stdout, /^✗ 2 of 3 cases decided otherwise/m);
  const decided = stdout.split('\n').filter((line) => line.startsWith('  decided: '));
  assert.deepEqual(decided, [
    '  decided: defer at recourse.yaml:7, which matches; 2 people of finance must approve within 1d',
    '  decided: defer at recourse.yaml:8, which matches; somebody of finance, or the user of its client, must approve within 1d',
  ]);
  const [first] = objectsIn(recourse(['test', '--json'], { cwd }).stdout);
  const decision = first?.['decision'] as { readonly approval: unknown } | undefined;
  const asked = { approvers: ['finance'], needs: 2, on_approve: 'wait', client_may_approve: false, expires: '1d' };
  assert.deepEqual(decision?.approval, asked);
});
