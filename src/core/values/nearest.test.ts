import assert from 'node:assert/strict';
import test from 'node:test';
import { namedForModels } from './nearest.ts';

const names = [
  'a_b/c',
  'a_b/_c',
  'files/read file',
  'files/read.file',
  'files/write file',
  `files/${'long'.repeat(20)}`,
];

for (const [wanted, meant] of [
  ['a_b__c', 'a_b/c'],
  ['a_b___c', 'a_b/_c'],
  ['files__write_file_0a1b2c3d', 'files/write file'],
  [`files__${'long'.repeat(12)}_0a1b2c3d`, `files/${'long'.repeat(20)}`],
  // It could be either.
  ['files__read_file_0a1b2c3d', null],
  ['files__write_file', null],
  ['a_b/c', null],
] as const)
  test(`the name that models have for a tool, ${wanted}, is ${meant === null ? "nobody's" : `that of ${meant}`}`, () => {
    assert.equal(namedForModels(wanted, names), meant);
  });
