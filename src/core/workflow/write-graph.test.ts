/** What drawings and checks learn of a machine beyond its states and edges, and what they conclude from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { and, assign, createMachine, not, or, raise, stateIn } from 'xstate';
import * as fc from 'fast-check';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import { analyseWorkflow } from './analyse/analyse-workflow.ts';
import { canBeSo } from './analyse/guard-formula.ts';
import { compileMachine } from './compile-machine.ts';
import type { WorkflowGraph } from './graph.ts';

function graphOf(config: object, guards: object = {}): WorkflowGraph {
  const events = new Set<string>();
  const collect = (node: { on?: object; states?: object }) => {
    for (const event of Object.keys(node.on ?? {})) events.add(event);
    for (const child of Object.values(node.states ?? {})) collect(child as { on?: object; states?: object });
  };
  collect(config);
  const machine = createMachine(config as never, { guards } as never);
  const compiled = compileMachine(machine as never, {
    name: 'x',
    actions: new Map([...events].map((event) => [event, null])),
  });
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.graph;
}

const always = () => true;

test('a guard asks the same wherever it has the same name and parameters, and nothing is known of the others', () => {
  const edge = (guard: unknown) => ({ guard, target: 'b' });
  const least = (n: number) => () => n > 0;
  const graph = graphOf(
    {
      initial: 'a',
      states: {
        a: {
          on: {
            go: [
              edge('ready'),
              edge(not('ready')),
              edge({ type: 'min', params: { n: 3 } }),
              edge(and(['ready', not({ type: 'min', params: { n: 4 } })])),
              edge(or(['a, b', least(1)])),
              edge(stateIn('a')),
              edge(least(1)),
              edge({ type: 'min', params: () => 1 }),
            ],
          },
        },
        b: { type: 'final' },
      },
    },
    { ready: always, min: always, 'a, b': always },
  );
  assert.deepEqual(
    graph.edges.map(({ asks }) => asks),
    [
      'ready',
      'not(ready)',
      '"min"({"n":3})',
      'and(ready, not("min"({"n":4})))',
      'or("a, b", unknown("part 1 of edge 4"))',
      'state("in a")',
      undefined,
      undefined,
    ],
  );
});

test('whatever signs stand in names, guards of different names are never known to agree or to exclude each other', () => {
  const sign = fc.constantFrom(
    'a',
    'b',
    '!',
    '&&',
    '||',
    'not',
    '(',
    ')',
    'and',
    ', ',
    'true',
    'false',
    '"',
    ' ',
    '//',
    '?',
  );
  const name = fc.oneof(
    fc.array(sign, { minLength: 1, maxLength: 6 }).map((signs) => signs.join('')),
    fc.constantFrom('in a', 'unknown("edge 1")', '"a"', 'a {"n":1}', '"a"({"n":1})', 'state("in a")'),
  );
  fc.assert(
    fc.property(name, name, (one, two) => {
      fc.pre(one !== two && [one, two].every((each) => each !== '__proto__'));
      const asks = graphOf(
        {
          initial: 'a',
          states: {
            a: {
              on: {
                go: [one, two, { type: 'a', params: { n: 1 } }, stateIn('a')].map((guard) => ({ guard, target: 'b' })),
              },
            },
            b: {},
          },
        },
        { a: always, [one]: always, [two]: always },
      ).edges.map((edge) => edge.asks ?? '');
      for (const yes of asks) {
        const others = asks.filter((each) => each !== yes);
        assert.equal(others.length, 3, asks.join(' ; '));
        assert.ok(canBeSo([yes], others) && canBeSo(others, [yes]), asks.join(' ; '));
      }
    }),
    { numRuns: timesDrawn(200, 50) },
  );
});

test('an empty and is yes, an empty or is no, and a guard in code that is called true is neither', () => {
  const asks = (guard: unknown) =>
    graphOf(
      { initial: 'a', states: { a: { on: { go: [{ guard, target: 'b' }, { target: 'b' }] } }, b: {} } },
      { true: always, false: always },
    ).edges[0]?.asks;
  assert.deepEqual([and([]), or([]), 'true', 'false'].map(asks), ['true', 'false', '"true"', '"false"']);
});

test('what is raised at once is known where it is raised', () => {
  const graph = graphOf({
    initial: 'a',
    states: {
      a: { on: { go: { target: 'b', actions: raise({ type: 'ping' }) }, ping: 'b', pong: 'b' } },
      b: { entry: raise({ type: 'pong' }), exit: raise({ type: 'ping' }, { delay: 1_000 }) },
    },
  });
  assert.deepEqual(
    graph.states.map(({ raises }) => raises),
    [undefined, ['pong']],
  );
  assert.deepEqual(graph.edges.find(({ action }) => action === 'go')?.raises, ['ping']);
  assert.deepEqual(graph.raises, ['ping', 'pong']);
});

test('what is raised and is an action too is a way on: an agent can send it', () => {
  const states = (kick: unknown) => ({
    a: { on: { go: { target: 'b', actions: kick } } },
    b: { on: { fin: 'z' } },
    z: { type: 'final' },
  });
  // Nobody knows what a function raises: it could be any event that is heard.
  for (const kick of [raise({ type: 'fin' }), raise(() => ({ type: 'fin' }))]) {
    const graph = graphOf({ initial: 'a', states: states(kick) });
    assert.deepEqual(graph.raisedActions, graph.raises);
    assert.deepEqual(analyseWorkflow(graph).findings, []);
  }
});

test('memories, re-entries, forbidden events and raised ones are in the graph', () => {
  const graph = graphOf({
    initial: 'a',
    on: { go: '.b' },
    states: {
      a: {
        initial: 'one',
        on: { again: { target: 'a', reenter: true } },
        states: {
          one: { on: { go: undefined, next: 'two' } },
          two: {},
          deep: { type: 'history', history: 'deep', target: 'two' },
          plain: { type: 'history' },
        },
      },
      b: { entry: raise({ type: 'next' }), on: { back: 'a.deep', return: 'a.plain' } },
    },
  });
  const byId = new Map(graph.states.map((state) => [state.id, state]));
  assert.deepEqual([byId.get('a.deep')?.history, byId.get('a.deep')?.fallback], ['deep', ['a.two']]);
  assert.deepEqual([byId.get('a.plain')?.history, byId.get('a.plain')?.fallback], ['shallow', undefined]);
  assert.equal(graph.edges.find(({ action }) => action === 'again')?.reenter, true);
  assert.deepEqual(
    graph.edges.filter(({ forbids }) => forbids === true).map(({ from, action }) => [from, action]),
    [['a.one', 'go']],
  );
  assert.deepEqual(graph.raises, ['next']);
});

test('a check of a compiled machine sees that guards by name are opposites', () => {
  const fork = (second: unknown) =>
    graphOf(
      {
        initial: 'a',
        states: {
          a: { on: { go: 'fork' } },
          fork: {
            always: [
              { guard: 'ready', target: 'b' },
              { guard: second, target: 'c' },
            ],
          },
          b: { type: 'final' },
          c: { type: 'final' },
        },
      },
      { ready: always },
    );
  assert.deepEqual(analyseWorkflow(fork(not('ready'))).findings, []);
  const codes = (graph: WorkflowGraph) => analyseWorkflow(graph).findings.map(({ code, proven }) => [code, proven]);
  assert.deepEqual(codes(fork(always)), [['dead_end', false]]);
});

test('a circle that writes to the context is looked at again, and is no dead end where another edge follows', () => {
  const count = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 });
  const codes = (again: object, loop: object = {}) => {
    const states = {
      a: { on: { go: 'loop' } },
      loop: { always: [{ guard: 'more', ...again }, { target: 'z' }], ...loop },
      z: { type: 'final' },
    };
    const graph = graphOf({ initial: 'a', context: { n: 0 }, states }, { more: () => false });
    return analyseWorkflow(graph).findings.map(({ code }) => code);
  };
  const anew = { target: 'loop', reenter: true };
  assert.deepEqual(codes({ actions: count }), ['restless']);
  assert.deepEqual(codes({ ...anew, actions: count }), ['restless']);
  assert.deepEqual(codes(anew, { exit: count }), ['restless']);
  // Nothing changes, so XState leaves it at that.
  assert.deepEqual(codes(anew), ['dead_end', 'restless']);
  assert.deepEqual(codes({}, { exit: count }), ['dead_end', 'restless']);
});
