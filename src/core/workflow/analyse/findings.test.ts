/** What is found in workflows that are broken on purpose, each in one way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, always, done, graphOf, on, state } from '../../../../test/support/sample-graphs.ts';
import type { WorkflowGraph } from '../graph.ts';
import { analyseWorkflow } from './analyse-workflow.ts';

const brief = (graph: WorkflowGraph) =>
  analyseWorkflow(graph).findings.map(({ code, severity, where, counterexample, proven }) => [
    code,
    severity,
    where,
    counterexample.join(' > '),
    proven,
  ]);

const broken: readonly { name: string; graph: WorkflowGraph; finds: readonly unknown[] }[] = [
  {
    name: 'a state, an action and an end that no path leads to',
    graph: graphOf(
      'x',
      'a',
      [
        state('a'),
        state('b', 'compound', { initial: 'c' }),
        state('b.c'),
        state('end', 'final'),
        state('never', 'final'),
      ],
      [on('a', 'go', 'end'), on('b.c', 'lost', 'never')],
    ),
    finds: [
      ['unreachable_action', 'error', 'lost', '', true],
      ['unreachable_state', 'error', 'b', '', true],
      ['unreachable_final', 'error', 'never', '', true],
    ],
  },
  {
    name: 'an action that only states which exclude each other could allow',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('b')],
      [on('a', 'go', 'b'), on('b', 'back', 'a'), always('b', 'a'), on('b', 'rest', 'b')],
    ),
    finds: [
      ['unreachable_action', 'error', 'back', '', true],
      ['unreachable_action', 'error', 'rest', '', true],
    ],
  },
  {
    name: 'a place from which nothing leads on',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('stuck'), state('end', 'final')],
      [on('a', 'go', 'stuck'), on('a', 'leave', 'end')],
    ),
    finds: [['dead_end', 'error', 'stuck', 'go', true]],
  },
  {
    name: 'the same behind a guard is only possible',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('stuck'), state('end', 'final')],
      [on('a', 'go', 'stuck', 'g'), on('a', 'leave', 'end')],
    ),
    finds: [['dead_end', 'warning', 'stuck', 'go', false]],
  },
  {
    name: 'an inner end that nobody listens to',
    graph: graphOf(
      'x',
      'a',
      [state('a', 'compound', { initial: 'b' }), state('a.b'), state('a.c', 'final')],
      [on('a.b', 'go', 'a.c')],
    ),
    finds: [['dead_end', 'error', 'a.c', 'go', true]],
  },
  {
    name: 'time that passes and changes nothing is no way on',
    graph: graphOf('x', 'a', [state('a')], [after('a', 30_000, null)]),
    finds: [['dead_end', 'error', 'a', '', true]],
  },
  {
    name: 'one clock that runs is certain, of two that run none is',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('b'), state('c'), state('d')],
      [after('a', 1_000, 'b'), after('b', 1_000, 'c'), after('b', 2_000, 'd')],
    ),
    finds: [
      ['dead_end', 'warning', 'c', 'after 1 s in a > after 1 s in b', false],
      ['dead_end', 'warning', 'd', 'after 1 s in a > after 2 s in b', false],
    ],
  },
  {
    name: 'a dead end after one clock',
    graph: graphOf('x', 'a', [state('a'), state('b')], [after('a', 1_000, 'b')]),
    finds: [['dead_end', 'error', 'b', 'after 1 s in a', true]],
  },
  {
    name: 'the way with the fewest actions, whatever the machine does by itself on it',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('m'), state('n'), state('o'), state('stuck')],
      [on('a', 'slow', 'o'), on('o', 'on', 'stuck'), on('a', 'go', 'm'), always('m', 'n'), always('n', 'stuck')],
    ),
    finds: [['dead_end', 'error', 'stuck', 'go', true]],
  },
  {
    name: 'guards that could all say no',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('end', 'final')],
      [on('a', 'go', 'end', 'g'), on('a', 'leave', 'end', 'h')],
    ),
    finds: [['possible_dead_end', 'warning', 'a', '', false]],
  },
  {
    name: 'guards of one action of which one always says yes',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('end', 'final')],
      [on('a', 'go', 'end', 'g'), on('a', 'go', 'a', 'not(g)')],
    ),
    finds: [],
  },
  {
    name: 'guards of different actions that exclude each other unless they look at inputs',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('end', 'final')],
      [on('a', 'go', 'end', 'n > 3'), on('a', 'wait', null, '!(n > 3)')],
    ),
    finds: [['possible_dead_end', 'info', 'a', '', false]],
  },
  {
    name: 'a fork without events that is complete never rests',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('fork'), state('b', 'final'), state('c', 'final')],
      [on('a', 'go', 'fork'), always('fork', 'b', 'g'), always('fork', 'c', 'not(g)')],
    ),
    finds: [],
  },
  {
    name: 'one that is not may rest, and then it is a dead end',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('fork'), state('b', 'final')],
      [on('a', 'go', 'fork'), always('fork', 'b', 'g')],
    ),
    finds: [['dead_end', 'warning', 'fork', 'go', false]],
  },
  {
    name: 'a circle from which no path leads to an end',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('b'), state('c'), state('end', 'final')],
      [on('a', 'finish', 'end'), on('a', 'go', 'b'), on('b', 'there', 'c'), on('c', 'back', 'b')],
    ),
    finds: [['livelock', 'error', 'b', 'go', true]],
  },
  {
    name: 'a workflow without ends may go round forever',
    graph: graphOf('x', 'a', [state('a'), state('b')], [on('a', 'go', 'b'), on('b', 'back', 'a')]),
    finds: [],
  },
  {
    name: 'a machine that never comes to rest',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('b'), state('c')],
      [on('a', 'go', 'b'), always('b', 'c'), always('c', 'b')],
    ),
    finds: [['restless', 'error', 'b', 'go', true]],
  },
  {
    name: 'one that may not, as its guards say',
    graph: graphOf('x', 'a', [state('a')], [always('a', null, 'more'), on('a', 'add', null)]),
    finds: [['restless', 'info', 'a', '', false]],
  },
  {
    name: 'a guard that is always yes is as none',
    graph: graphOf('x', 'a', [state('a'), state('b')], [on('a', 'go', 'b', 'true')]),
    finds: [['dead_end', 'error', 'b', 'go', true]],
  },
  {
    name: 'an edge behind one without a guard',
    graph: graphOf('x', 'a', [state('a'), state('b', 'final')], [on('a', 'go', 'b'), on('a', 'go', null, 'g')]),
    finds: [['dead_edge', 'error', 'a', '', true]],
  },
  {
    name: 'an edge behind guards that leave nothing for it',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('b', 'final')],
      [on('a', 'go', 'b', 'or(g, h)'), on('a', 'go', 'b', 'h'), on('a', 'go', 'b', 'not(g)'), on('a', 'go', null)],
    ),
    finds: [
      ['dead_edge', 'error', 'a', '', true],
      ['dead_edge', 'error', 'a', '', true],
    ],
  },
  {
    name: 'an edge to two states that exclude each other',
    graph: graphOf(
      'x',
      'a',
      [state('a'), state('b'), state('c')],
      [on('a', 'go', ['b', 'c']), on('b', 'back', 'a'), on('c', 'back', 'a')],
    ),
    finds: [['lost_states', 'error', 'a', '', true]],
  },
  {
    name: 'a parallel state that XState loses on the way to its memory',
    graph: graphOf(
      'x',
      'p',
      [state('p', 'parallel'), state('p.a'), state('p.b'), state('p.h', 'history')],
      [on('p.a', 'try', 'p.h', 'g')],
    ),
    finds: [['lost_states', 'warning', 'p.a', '', false]],
  },
  {
    name: 'regions that wait for each other',
    graph: graphOf(
      'x',
      'p',
      [
        state('p', 'parallel'),
        state('p.a', 'compound', { initial: 'x' }),
        state('p.a.x'),
        state('p.a.y', 'final'),
        state('p.b', 'compound', { initial: 'x' }),
        state('p.b.x'),
        state('end', 'final'),
      ],
      [on('p.a.x', 'go', 'p.a.y'), done('p', 'end')],
    ),
    finds: [
      ['unreachable_final', 'error', 'end', '', true],
      ['dead_end', 'error', 'p.a.y, p.b.x', 'go', true],
    ],
  },
];

for (const { name, graph, finds } of broken) test(`found: ${name}`, () => assert.deepEqual(brief(graph), finds));

for (const history of ['shallow', 'deep'] as const) {
  test(`a ${history} memory brings back ${history === 'deep' ? 'the innermost state' : 'the child, from its beginning'}`, () => {
    // The end can be reached from `one` alone, so once the memory is deep, leaving `two` is a step into a circle.
    const states = [
      state('in', 'compound', { initial: 'box' }),
      state('in.box', 'compound', { initial: 'one' }),
      state('in.box.one'),
      state('in.box.two'),
      state('in.memory', 'history', { history }),
      state('out'),
      state('end', 'final'),
    ];
    const edges = [
      on('in.box.one', 'finish', 'end'),
      on('in.box.one', 'go', 'in.box.two'),
      on('in.box.two', 'leave', 'out'),
      on('out', 'return', 'in.memory'),
    ];
    const circle = ['livelock', 'error', 'out', 'go > leave', true];
    assert.deepEqual(brief(graphOf('x', 'in', states, edges)), history === 'deep' ? [circle] : []);
  });
}
