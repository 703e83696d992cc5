import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemWithOptions } from './check-options.ts';

const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', null, /needs an object/],
  ['no tools', {}, /`tools` must be a list/],
  ['a misspelt option', { tools: [], flie: 'x' }, /`flie` is not known; did you mean `file`/],
  ['a misspelt limit', { tools: [], limits: { maxInFlihgt: 1 } }, /did you mean `maxInFlight`/],
  ['a limit that is no number', { tools: [], limits: { maxInFlight: 'many' } }, /`maxInFlight` must be a whole number/],
  ['no calls at all', { tools: [], limits: { maxFieldErrors: 0 } }, /`maxFieldErrors` must be a whole number from 1/],
  ['half a millisecond', { tools: [], limits: { defaultDeadlineMs: 12.5 } }, /`defaultDeadlineMs` must be a whole/],
  ['a schedule that is no list', { tools: [], limits: { storeRetryMs: 3 } }, /`storeRetryMs` must be a list/],
  ['an empty file', { tools: [], file: '' }, /`file` must be a text/],
  ['an agent that is no text', { tools: [], agent: 7 }, /`agent` must be a text/],
  ['a notifier that is no function', { tools: [], onNotice: 'loud' }, /`onNotice` must be a function/],
];

for (const [what, options, expected] of wrong) {
  test(`${what} is refused in a sentence`, () => assert.match(problemWithOptions(options) ?? '', expected));
}

test('good options have no problem', () => {
  assert.equal(problemWithOptions({ tools: [], file: 'x.db', agent: 'a', limits: { storeRetryMs: [1, 2] } }), null);
});
