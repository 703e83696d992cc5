import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongOptions } from './check-options.ts';

const wrong: readonly (readonly [string, unknown, string])[] = [
  ['null', null, '/options'],
  ['an agent that is no text', { agent: 7 }, '/options/agent'],
  ['an empty tenant', { tenant: '' }, '/options/tenant'],
  ['a misspelt option', { agnet: 'a' }, '/options/agnet'],
  ['a signal that is none', { signal: {} }, '/options/signal'],
];

for (const [what, options, path] of wrong) {
  test(`${what} is not a caller`, () =>
    assert.deepEqual(
      wrongOptions(options, 256).map((error) => error.path),
      [path],
    ));
}

test('a caller may say little or all', () => {
  assert.deepEqual(wrongOptions(undefined, 256), []);
  assert.deepEqual(wrongOptions({ agent: 'a', tenant: 't', signal: new AbortController().signal }, 256), []);
});
