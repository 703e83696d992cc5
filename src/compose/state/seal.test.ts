/** Does a gateway know its own states again, and nobody else's? Real files, real modes. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createSeal } from './seal.ts';

function place(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-seal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = path.join(folder, 'recourse.db');
  return { folder, store, file: `${store}.seal` };
}

test('the key is made when it is first needed, for its owner only, and leaves nothing else behind', (t) => {
  const { folder, store, file } = place(t);
  const seal = createSeal(store, assert.fail);
  assert.equal(existsSync(file), false);
  assert.match(seal('text') ?? '', /^[\w-]{43}$/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['recourse.db.seal']);
});

test('the same text has the same seal in another process on this store, and another one elsewhere', (t) => {
  const { store } = place(t);
  const [one, two] = [createSeal(store, assert.fail), createSeal(store, assert.fail)];
  assert.equal(one('text'), two('text'));
  assert.notEqual(one('text'), one('other'));
  assert.notEqual(one('text'), createSeal(place(t).store, assert.fail)('text'));
});

const unusable: readonly (readonly [string, (file: string) => void, RegExp])[] = [
  ['can be read by others', (file) => (writeFileSync(file, 'a'.repeat(64)), chmodSync(file, 0o644)), /other users/],
  ['holds something else', (file) => writeFileSync(file, 'secret', { mode: 0o600 }), /holds no key/],
];

for (const [what, make, why] of unusable)
  test(`a file that ${what} is not used, and the operator is told once`, (t) => {
    const { store, file } = place(t);
    make(file);
    const told: string[] = [];
    const seal = createSeal(store, (problem) => void told.push(problem));
    assert.equal(seal('text'), null);
    assert.equal(seal('text'), null);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', why);
    rmSync(file);
    assert.match(seal('text') ?? '', /^[\w-]{43}$/, 'once it is gone another one is made');
  });

test('where there is no folder there is no seal', (t) => {
  const told: string[] = [];
  const seal = createSeal(path.join(place(t).folder, 'none', 'recourse.db'), (problem) => void told.push(problem));
  assert.equal(seal('text'), null);
  assert.match(told.join(), /ENOENT/);
});
