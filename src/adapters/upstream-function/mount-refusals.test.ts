/** What `mount` refuses although it could be served: it would not do what its author means. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createMachine } from 'xstate';
import { mount, WorkflowDefinitionError } from './workflow/mount.ts';

const machine = createMachine({ id: 'w', initial: 'a', context: { drink: null }, states: { a: { on: { go: 'a' } } } });

const aSchema =
  "write { type: 'object', properties: { … } }, or use a library with Standard Schema (zod 3.24 or later)";

const table: readonly (readonly [what: string, options: object, problem: string])[] = [
  [
    'a list of fields in place of a schema',
    { actions: { go: { input: { drink: { type: 'string' } }, run: async () => ({}) } } },
    `action 'go': its input schema has no keyword of JSON Schema, only drink; ${aSchema}`,
  ],
  [
    'a text in place of a schema',
    { actions: { go: { input: 'drink', run: async () => ({}) } } },
    `action 'go': its input schema is neither a JSON Schema object nor a Standard Schema; ${aSchema}`,
  ],
  [
    'an output that is no schema',
    { actions: { go: { output: { drink: 'text' }, run: async () => ({}) } } },
    `action 'go': its output schema has no keyword of JSON Schema, only drink; ${aSchema}`,
  ],
  [
    'a field of the state that is misspelt',
    { state: ['drnk'], actions: { go: { run: async () => ({}) } } },
    "its state names 'drnk', which the context of the machine does not have; did you mean 'drink'?",
  ],
  [
    'a field of the state that does not exist',
    { state: ['drink', 'customer'], actions: { go: { run: async () => ({}) } } },
    "its state names 'customer', which the context of the machine does not have; it has drink; give the field a first value in the context, or leave it out",
  ],
];

for (const [what, options, problem] of table)
  test(`${what} is refused with the fix`, () => {
    assert.throws(
      () => mount(machine, options as never),
      (error) => error instanceof WorkflowDefinitionError && (assert.deepEqual(error.problems, [problem]), true),
    );
  });

test('an empty schema accepts anything, and one with a single keyword is one', () => {
  for (const input of [{}, { type: 'object' }, { $ref: '#/$defs/a', $defs: { a: {} } }])
    mount(machine, { actions: { go: { input, run: async () => ({}) } } } as never);
});
