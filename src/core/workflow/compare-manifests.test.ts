import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareManifests, compareMachines } from './compare-manifests.ts';
import { assign, setup, type AnyStateMachine } from 'xstate';
import { canonicalText } from '../values/canonical.ts';
import type { Json } from '../values/json.ts';
import { compileMachine } from './compile-machine.ts';

const manifest = (tool: object, more: object = {}) =>
  JSON.stringify({
    version: '1',
    machine: {},
    actions: {},
    tools: { 'pay/refund': { effect: 'plain', tool, ...more } },
  });

test('of a tool of a server it is said what the server lists otherwise', () => {
  const before = { name: 'refund', description: 'Refunds.', inputSchema: { type: 'object' } };
  const changedTo = (tool: object, more?: object) => compareManifests(manifest(before), manifest(tool, more)).changed;
  assert.deepEqual(changedTo(before), []);
  const stricter = { ...before, inputSchema: { type: 'object', required: ['order'] } };
  assert.deepEqual(changedTo(stricter), ["tool 'pay/refund': inputSchema"]);
  const promising = { ...stricter, outputSchema: { type: 'object' }, description: 'Gives money back.' };
  assert.deepEqual(changedTo(promising, { effect: 'pure' }), [
    "tool 'pay/refund': effect, description, inputSchema, outputSchema",
  ]);
});

/** As a manifest keeps it. */
function written(config: object, delays: object = {}): Json {
  const machine = setup({ delays } as never).createMachine(config as never) as unknown as AnyStateMachine;
  const found = compileMachine(machine, { name: 'x', actions: new Map([['go', null]]), maxStateBytes: 8_192 });
  assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
  return JSON.parse(canonicalText(found.written)) as Json;
}

const nested = {
  initial: 'x',
  states: { x: { always: { target: 'y', guard: ({ context }: never) => context } }, y: {} },
};
const machine = (a: object = {}, more: object = {}, root: object = {}) => ({
  initial: 'a',
  context: { n: 0 },
  states: { a: { on: { go: 'b' }, ...a }, b: { on: { go: 'a' } }, ...more },
  ...root,
});
const plain = machine();
const toC = { on: { go: [{ target: 'b', guard: () => true }, 'c'] } };

const cases: readonly [what: string, before: object, after: object, told: readonly string[]][] = [
  ['the context', plain, machine({}, {}, { context: { n: 1 } }), ['the context it begins with']],
  ['where it begins', plain, machine({}, {}, { initial: 'b' }), ['the root: initial']],
  ['an edge', plain, machine({ on: { go: { target: 'b', guard: () => true } } }), ["state 'a': edge 'go'"]],
  ['a delay', machine({ after: { 5: 'b' } }), machine({ after: { 7: 'b' } }), ["state 'a': after 5, after 7"]],
  ['what is done on the way in', plain, machine({ entry: assign({ n: 1 }) }), ["state 'a': entry"]],
  ['the end', machine({}, { b: {} }), machine({}, { b: { type: 'final' } }), ["state 'b': type"]],
  ['a state with others in it', plain, machine(toC, { c: nested }), ["state 'a': edge 'go'", "state 'c' is new"]],
  [
    'a state inside another',
    machine(toC, { c: nested }),
    machine(toC, { c: { ...nested, states: { x: { always: 'y' }, y: {} } } }),
    ["state 'c.x': always"],
  ],
  ['a state that is gone', machine(toC, { c: {} }), plain, ["state 'a': edge 'go'", "state 'c' is gone"]],
  ['the order of the states', plain, { ...plain, states: { b: plain.states.b, a: plain.states.a } }, ['the machine']],
];

for (const [what, before, after, told] of cases)
  test(`${what} is told: ${told.join('; ')}`, () => {
    assert.deepEqual(compareMachines(written(before), written(after)), told);
  });

test('a delay by name is told by its name', () => {
  const waits = machine({ after: { patience: 'b' } });
  const told = compareMachines(written(waits, { patience: 5 }), written(waits, { patience: 7 }));
  assert.deepEqual(told, ["delay 'patience'"]);
});

test('what an earlier release wrote otherwise, or nobody can read, is the machine', () => {
  for (const odd of [null, [], 'x', {}, { root: 5 }, { root: { states: [5, ['a'], null], edges: [1, {}] } }])
    for (const [before, after] of [
      [odd, {}],
      [{}, odd],
    ])
      assert.ok(compareMachines(before, after).length > 0);
});
