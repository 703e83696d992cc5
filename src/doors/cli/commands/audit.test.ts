import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { anyMeaning, meaningOf } from './audit.ts';

/** Every text in quotes or backticks that the verifier can complain with, with something in its gaps. */
function problemsIn(file: string, pattern: RegExp): readonly string[] {
  const source = readFileSync(new URL(`../../../core/journal/${file}`, import.meta.url), 'utf8');
  return [...source.matchAll(pattern)].map(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '1'));
}

test('every problem that the verifier can name has a meaning of its own', () => {
  const problems = [
    ...problemsIn('verify.ts', /complain\(record, (['`])(.+?)\1\)/g),
    ...problemsIn('verify.ts', /const problem = (['`])(.+?)\1;/g),
    ...problemsIn('encode.ts', /problem: (['`])(.+?)\1/g),
    ...problemsIn('encode.ts', /new RangeError\((['`])(.+?)\1\)/g),
  ];
  assert.ok(problems.length >= 13, `found ${problems.length} texts`);
  for (const problem of problems) assert.notEqual(meaningOf(problem), anyMeaning, problem);
});

test('a text that nobody knows has a meaning all the same', () => assert.equal(meaningOf('oh'), anyMeaning));
