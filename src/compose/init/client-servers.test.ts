import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJsonc } from './client-servers.ts';

const cases: readonly (readonly [text: string, value: unknown])[] = [
  ['{"a":1}', { a: 1 }],
  ['\ufeff{"a":1}', { a: 1 }],
  ['{ // why\n "a": 1, /* and\n why not */ }', { a: 1 }],
  ['{"url":"https://x/*y*/","b":"\\"//\\"",}', { url: 'https://x/*y*/', b: '"//"' }],
  ['[1,2, // last\n]', [1, 2]],
  ['[",]"]', [',]']],
  ['{"a":1', undefined],
  ['', undefined],
];

for (const [text, value] of cases)
  test(`${JSON.stringify(text)} is ${JSON.stringify(value)}`, () => assert.deepEqual(readJsonc(text), value));
