import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  assign,
  createMachine,
  emit,
  enqueueActions,
  fromPromise,
  log,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import { compileMachine } from './compile-machine.ts';

function problemsOf(machine: unknown, ...actions: readonly string[]): readonly string[] {
  const found = compileMachine(machine as never, { name: 'x', actions: new Map(actions.map((name) => [name, null])) });
  return found.ok ? [] : found.problems;
}

/** A machine in which only state `a`, or the root, is odd. */
const withState = (a: object, root: object = {}) =>
  createMachine({
    initial: 'a',
    states: { a: { ...a }, b: { on: { back: 'a' } } },
    on: { go: '.b' },
    ...root,
  } as never);

const refused: readonly (readonly [string, unknown, RegExp])[] = [
  [
    'invoke',
    withState({ invoke: { src: fromPromise(async () => 1) } }),
    /^state 'a': 'invoke' is not possible; .*an action/,
  ],
  ['output', withState({}, { output: {} }), /^the root: 'output' is not possible/],
  ['input', withState({}, { input: {} }), /^the root: 'input' is not possible/],
  ['route', withState({ id: 'a', route: {} }), /^state 'a': 'route' is not possible/],
  ['an unknown key of a state', withState({ entri: 1 }), /^state 'a': unknown key 'entri'; did you mean 'entry'\?$/],
  [
    'an unknown key of an edge',
    withState({ on: { go: { taget: 'b' } } }),
    /^edge 'go' of state 'a': unknown key 'taget'; did you mean 'target'/,
  ],
  [
    'a key of an earlier XState',
    withState({ on: { go: { cond: 'x', target: 'b' } } }),
    /unknown key 'cond'; known are target, guard/,
  ],
  [
    'an unknown key of a guard',
    withState({ on: { go: { guard: { type: 'g', parms: 1 }, target: 'b' } } }),
    /its guard: unknown key 'parms'/,
  ],
  ['an unknown type', withState({ type: 'finall' }), /^state 'a': type 'finall' is unknown/],
  ['every event at once', withState({ on: { '*': 'b' } }), /^state 'a': '\*' stands for many events/],
  ['many events at once', withState({ on: { 'go.*': 'b' } }), /'go\.\*' stands for many events/],
  ['an event of XState', withState({ on: { 'xstate.init': 'b' } }), /^state 'a': 'xstate.init' belongs to XState/],
  [
    'an event without an action',
    withState({ on: { goo: 'b' } }),
    /^edge 'goo' of state 'a': there is no action of this name; did you mean 'go'/,
  ],
  [
    'a function',
    withState({ entry: () => undefined }),
    /^entry of state 'a': its action is a function of its own; use assign or raise/,
  ],
  ['log', withState({ exit: log('x') }), /^exit of state 'a': its action is log/],
  [
    'sendTo',
    withState({ on: { go: { actions: sendTo('x', { type: 'y' }), target: 'b' } } }),
    /^edge 'go' of state 'a': its action is sendTo/,
  ],
  ['emit', withState({ entry: emit({ type: 'y' }) }), /its action is emit/],
  ['enqueueActions', withState({ entry: enqueueActions(() => undefined) }), /its action is enqueueActions/],
  ['spawnChild', withState({ entry: spawnChild('x') }), /its action is spawnChild/],
  ['stopChild', withState({ entry: stopChild('x') }), /its action is stop/],
  [
    'a named action without implementation',
    withState({ entry: 'beep' }),
    /^entry of state 'a': action 'beep' has no implementation/,
  ],
  [
    'a named function',
    setup({ actions: { beep: () => undefined } }).createMachine({
      initial: 'a',
      on: { go: '.a', back: '.a' },
      states: { a: { entry: 'beep' } },
    }),
    /its action 'beep' is a function of its own/,
  ],
  [
    'a named guard without implementation',
    withState({ on: { go: { guard: 'toString', target: 'b' } } }),
    /guard 'toString' has no implementation/,
  ],
  [
    'a named delay without implementation',
    withState({ after: { soon: 'b' } }),
    /^after soon of state 'a': delay 'soon' has no implementation/,
  ],
  ['a delay below zero', withState({ after: { '-1': 'b' } }), /a delay of -1 ms is not possible/],
  ['a delay without end', withState({ after: { Infinity: 'b' } }), /a delay of Infinity ms is not possible/],
  [
    'a raised event that nobody handles',
    withState({ entry: raise({ type: 'tick' }) }),
    /^event 'tick' is raised and no state has an edge for it/,
  ],
  [
    'a raised event of XState',
    withState({ entry: raise({ type: 'xstate.done' }) }),
    /it raises 'xstate.done'; that name belongs to XState/,
  ],
  [
    'a state that no edge reaches',
    withState({}, { states: { a: {}, b: { on: { back: 'a' } }, c: {} } }),
    /^state 'c': no path from where the workflow begins leads to it/,
  ],
  [
    'a first state that does not exist',
    withState({}, { states: { a: {}, b: { initial: 'z', on: { back: 'a' }, states: { y: {} } } } }),
    /^state 'b': its initial state does not exist; use one of y/,
  ],
  [
    'a history that leads nowhere',
    withState(
      {},
      {
        states: {
          a: { on: { go: 'b.h' } },
          b: { initial: 'y', on: { back: 'a' }, states: { y: {}, h: { type: 'history', target: 'z' } } },
        },
      },
    ),
    /^state 'b.h': target 'z' does not exist/,
  ],
  [
    'a guard about no state',
    withState({ on: { go: { guard: stateIn('zz'), target: 'b' } } }),
    /its guard asks for state 'zz', which does not exist/,
  ],
  [
    'a name with a dot',
    withState({}, { states: { a: { on: { go: 'b' } }, b: { on: { back: 'a' } }, 'c#': {} } }),
    /^state 'c#': its name is not usable; use 1 to 64 visible characters, .*, and no space at either end$/,
  ],
  [
    'a Map in the context',
    withState({}, { context: { m: { n: new Map() } } }),
    /^the context: '\/m\/n' must be plain JSON, and is a Map/,
  ],
  [
    'undefined in the context',
    withState({}, { context: { m: undefined } }),
    /'\/m' must be plain JSON, and is undefined/,
  ],
  [
    'a context that asks for input',
    withState({}, { context: ({ input }: { input: unknown }) => ({ input }) }),
    /'input' does not exist in a workflow/,
  ],
  ['a context that throws', withState({}, { context: () => assert.fail('no') }), /^the context: no; give an object/],
  [
    'an endless start',
    withState({ always: 'b' }, { states: { a: { always: 'b' }, b: { always: 'a', on: { back: 'a' } } } }),
    /^the workflow cannot begin: .*1000 microsteps/,
  ],
  ['no machine', { id: 'x' }, /^this is not an XState machine/],
  ['nothing', null, /^this is not an XState machine/],
];

for (const [name, machine, expected] of refused) {
  test(`a workflow cannot have ${name}`, () => {
    const problems = problemsOf(machine, 'go', 'back');
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      problems.join('\n'),
    );
  });
}

test('a machine without mistakes has no problems, whatever forms it uses', () => {
  const machine = setup({
    types: { context: {} as { n: number } },
    guards: { atLeast: ({ context }, params: { n: number }) => context.n >= params.n },
    actions: { more: assign({ n: ({ context }) => context.n + 1 }), tell: raise({ type: 'tick' }) as never },
    delays: { soon: 10, later: ({ context }) => context.n },
  }).createMachine({
    id: 'm',
    version: '2',
    description: 'd',
    context: () => ({ n: 0 }),
    options: { maxIterations: 50 },
    tags: ['t'],
    meta: {},
    type: 'parallel',
    states: {
      one: {
        initial: 'a',
        entry: ['more', { type: 'more' }],
        exit: 'tell',
        states: {
          a: {
            id: 'first',
            on: { go: { target: '#second', guard: { type: 'atLeast', params: { n: 1 } }, reenter: true } },
          },
          b: {
            id: 'second',
            type: 'parallel',
            onDone: 'd',
            after: { soon: 'a', later: '.p', 5: { target: 'h' } },
            states: { p: {}, q: {} },
          },
          d: { type: 'final' },
          h: { history: 'deep', target: 'a' } as never,
        },
        onDone: { actions: 'more' },
      },
      two: {
        initial: 'x',
        states: {
          x: { always: { guard: ({ context }: { context: { n: number } }) => context.n > 90, target: 'y' } },
          y: {},
        },
        on: { tick: '.y', both: { target: ['#first', '.y'] } },
      },
    },
  } as never);
  assert.deepEqual(problemsOf(machine, 'go', 'both'), []);
});

test('who enters one region from outside enters its siblings where they begin', () => {
  const regions = { r: { initial: 'w', states: { w: {}, x: { id: 'x' } } }, s: { initial: 'y', states: { y: {} } } };
  const states = { a: { on: { go: '#x' } }, p: { type: 'parallel', states: regions } };
  const machine = createMachine({ initial: 'a', states } as never);
  assert.match(problemsOf(machine, 'go').join(), /^state 'p\.r\.w': no path [^;]* leads to it; [^;]*$/);
});

test('an action needs an edge that can be taken', () => {
  const machine = createMachine({ initial: 'a', states: { a: { on: { never: {}, no: undefined } } } });
  assert.deepEqual(problemsOf(machine, 'never', 'no', 'where'), [
    "action 'never': every edge of it is empty, which XState reads as forbidden; give one a target or actions",
    "action 'no': every edge of it is empty, which XState reads as forbidden; give one a target or actions",
    "action 'where': no state has an edge for it; write on: { … } where it is legal",
  ]);
});

test('whatever is given as a machine, there is an answer', () => {
  const hostile = new Proxy({}, { get: () => assert.fail('no'), ownKeys: () => assert.fail('no') });
  const node = fc.record({
    config: fc.anything(),
    states: fc.object(),
    transitions: fc.constant(new Map()),
    after: fc.constant([]),
  });
  const machine = fc.record({ root: node, config: fc.object(), implementations: fc.object() });
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.constant(hostile), machine), (value) => {
      assert.ok(problemsOf(value, 'go').length > 0);
    }),
    { numRuns: 300 },
  );
});

test('what is written changes with every function in it, and the graph names what is there', () => {
  const build = (limit: number, more: object = {}) =>
    compileMachine(
      createMachine({
        initial: 'a',
        states: {
          a: { on: { go: { guard: limit === 1 ? () => true : () => false, target: 'b' } }, after: { 1000: 'b' } },
          b: { type: 'final', description: 'The end.' },
        },
        ...more,
      } as never) as never,
      { name: 'x', actions: new Map([['go', null]]) },
    );
  const [one, two, other] = [build(1), build(2), build(1, { description: 'words' })];
  assert.ok(one.ok && two.ok && other.ok);
  assert.notDeepEqual(one.written, two.written);
  assert.deepEqual(one.written, other.written);
  assert.deepEqual(one.graph, {
    name: 'x',
    type: 'compound',
    initial: 'a',
    states: [
      { id: 'a', name: 'a', parent: null, type: 'atomic', initial: null, description: null },
      { id: 'b', name: 'b', parent: null, type: 'final', initial: null, description: 'The end.' },
    ],
    edges: [
      { from: 'a', to: ['b'], kind: 'action', action: 'go', guard: 'guard of go in a', delay: null },
      { from: 'a', to: ['b'], kind: 'after', action: null, guard: null, delay: 1_000 },
    ],
  });
});
