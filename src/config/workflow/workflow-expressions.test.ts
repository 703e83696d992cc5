import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml as read } from '../../../test/support/yaml-workflow.ts';

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

test('what cannot stand in an expression is told as a whole word, and a lone = with what is meant', () => {
  const { problems } = read(`
context: { left: 1 }
initial: a
actions: { go: {}, stay: {}, wait: {} }
states:
  a: { on: { go: { guard: context.left = 1 }, stay: { guard: context.left > 0 and true }, wait: { guard: "'it's'" } } }
`);
  assert.deepEqual(problems, [
    '6:40 this expression is wrong: unexpected =; equal is ==',
    '6:79 this expression is wrong: unexpected word: and',
    "6:111 this expression is wrong: unexpected character: 's'",
  ]);
});

test('an action that is written and wrong is not told to be missing', () => {
  const { problems } = read(`
initial: a
actions:
  go:
  stay: {}
states: { a: { on: { go: a, stay: a, leave: a } } }
`);
  assert.deepEqual(problems, ['4:6 null stands here', "6:38 there is no action 'leave'"]);
});
