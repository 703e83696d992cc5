/** Public surface, typed out: what scripts rely on when they make keys. A change here needs a changelog entry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderOf } from '../support/open-gateway.ts';
import { recourse } from '../support/recourse-process.ts';

const shapeOf = (value: object) =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, each === null ? 'null' : typeof each]));

test('what the commands for keys print with --json', (t) => {
  const cwd = folderOf(t);
  const json = (...words: string[]) => {
    const { stdout, stderr } = recourse(['agents', ...words, '--json'], { cwd });
    assert.equal(stderr, '');
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const key = {
    key_id: 'string',
    tenant: 'string',
    role: 'string',
    name: 'string',
    status: 'string',
    created_at: 'string',
    created_by: 'string',
    expires_at: 'null',
    revoked_at: 'null',
    used_at: 'null',
  };
  const added = json('add', 'bot');
  assert.deepEqual(shapeOf(added), { key: 'string', ...key });
  assert.deepEqual(shapeOf(json('ls')), key);
  const rotated = json('rotate', String(added['key_id']));
  assert.deepEqual(shapeOf(rotated), { key: 'string', ...key });
  const revoked = json('revoke', String(rotated['key_id']));
  assert.deepEqual(revoked, { key_id: rotated['key_id'], tenant: 'default', revoked: true });
});

test('0 is done, 1 is no, 2 is usage, 3 is the file of keys', (t) => {
  const cwd = folderOf(t);
  const ends: readonly (readonly [status: number, line: string])[] = [
    [0, 'ls'],
    [0, 'add bot'],
    [1, 'revoke 0000000000000000'],
    [1, 'rotate 0000000000000000'],
    [2, 'revoke bot'],
    [2, 'add bot --expires never'],
    [3, 'add bot --file absent/recourse.db'],
  ];
  for (const [status, line] of ends) {
    const end = recourse(['agents', ...line.split(' ')], { cwd });
    assert.equal(end.status, status, `recourse agents ${line}: ${end.stderr}`);
    assert.doesNotMatch(end.stderr, /^\s+at /m);
  }
});
