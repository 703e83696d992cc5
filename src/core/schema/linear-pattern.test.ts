import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPatternEngine } from './linear-pattern.ts';
import { createBudget, refill } from './work-budget.ts';

const limits = { maxPatternChars: 1_000, maxPatternSize: 50_000, maxReferences: 1, maxPatternSteps: 1_000_000 };

function matches(pattern: string, text: string): boolean {
  const budget = createBudget();
  refill(budget, limits);
  return createPatternEngine(limits, budget)(pattern, 'u').test(text);
}

/** Each is matched as JavaScript itself would match it. */
const patterns: readonly (readonly [string, readonly string[]])[] = [
  ['a', ['cat', 'dog']],
  ['^\\d{4}-\\d{2}-\\d{2}$', ['2026-01-31', '2026-01-31\n', 'x2026-01-31']],
  ['^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$', ['a@b.org', 'a b@c.org']],
  ['^(?:GET|POST) /[\\w/-]*$', ['GET /a/b-c', 'PUT /']],
  ['^\\p{Letter}+$', ['Straße', 'a1']],
  ['^\\p{Script=Greek}+$', ['λόγος', 'logos']],
  ['^\\P{Lu}$', ['a', 'A']],
  ['^\\u0041\\x42\\/$', ['AB/', 'ab/']],
  ['^(?<year>\\d+)$', ['2026', 'year']],
  ['^[\\w.-]{1,64}$', ['a.b-c', '']],
  ['^.$', ['😀', 'ab']],
];

for (const [pattern, texts] of patterns) {
  test(`${pattern} matches what JavaScript matches`, () => {
    for (const text of texts) assert.equal(matches(pattern, text), new RegExp(pattern, 'u').test(text), text);
  });
}

test('the steps of a check are paid from one budget', () => {
  const budget = createBudget();
  refill(budget, { ...limits, maxPatternSteps: 100 });
  const pattern = createPatternEngine(limits, budget)('^a*$', 'u');
  assert.equal(pattern.test('aaa'), true);
  assert.throws(() => pattern.test('a'.repeat(100)), budget.exhausted);
});
