import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml as read } from '../../test/support/yaml-workflow.ts';

test('what is written into the context must be a field of it, and of its sort', () => {
  const { problems } = read(`
context: { left: 100, note: null, tags: [], open: true }
initial: a
actions:
  go:
    input: { type: object, properties: { word: { type: string } }, additionalProperties: false }
    update: { lft: context.left - 60, left: '"none"', note: inputs.word, tags: 'context.tags + [inputs.word]' }
  say: { update: { left: result.left, open: 'dyn("yes")', note: '1' } }
states:
  a:
    entry: { assign: { open: '1 + 1' } }
    on: { go: { target: a, assign: { left: inputs.word, opne: 'true' } }, say: { target: a, assign: { left: 'null' } } }
`);
  assert.deepEqual(problems, [
    "7:15 the context has no field 'lft'",
    '7:45 context.left starts as a number, and this gives a text',
    '11:30 context.open starts as true or false, and this gives a number',
    '12:44 context.left starts as a number, and this gives a text',
    "12:57 the context has no field 'opne'",
  ]);
  const free = read(`
initial: a
actions: { go: { update: { left: '1' } } }
states: { a: { on: { go: { target: a, assign: { other: context.left } } } } }
`);
  assert.deepEqual(free.problems, [], 'without a context in the file nothing is known of it');
});
