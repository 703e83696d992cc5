import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GraphEdge, GraphState, WorkflowGraph } from '../graph.ts';
import { activeIds } from './active-ids.ts';
import { type TracedStep, tracePath } from './trace-path.ts';

const state = (id: string, type: GraphState['type'] = 'atomic'): GraphState => ({
  id,
  name: id.split('.').at(-1) ?? id,
  parent: id.includes('.') ? id.slice(0, id.lastIndexOf('.')) : null,
  type,
  initial: null,
  description: null,
});

const edge = (from: string, to: readonly string[] | null, more: Partial<GraphEdge> = {}): GraphEdge => {
  return { from, to, kind: 'action', action: null, guard: null, delay: null, ...more };
};

const graph: WorkflowGraph = {
  name: 'bar',
  type: 'compound',
  initial: 'open',
  states: [state('open', 'compound'), state('open.empty'), state('open.full'), state('shut', 'final')],
  edges: [
    edge('open.empty', ['open.full'], { action: 'fill' }),
    edge('open', ['shut'], { action: 'close', guard: 'isLate' }),
    edge('open', ['shut'], { kind: 'after', delay: 1_000 }),
    edge('open.full', null, { action: 'sip' }),
  ],
};

const states: Readonly<Record<number, readonly string[]>> = {
  0: ['open', 'open.empty'],
  1: ['open', 'open.full'],
  2: ['open', 'open.full'],
  3: ['shut'],
};
const activeAt = (seq: number) => states[seq] ?? null;
const step = (action: string | null, seq: number, more: Partial<TracedStep> = {}): TracedStep => {
  return { action, kind: 'action', refused: null, times: 1, seq, ...more };
};
const began = step(null, 0, { kind: 'jump' });

test('an action takes the edge of the innermost state that has one, and staying is told as staying', () => {
  const { taken, visited } = tracePath(graph, [began, step('fill', 1), step('sip', 2), step('close', 3)], activeAt);
  assert.deepEqual(taken, [
    { from: 'open.empty', to: 'open.full', action: 'fill', times: 1 },
    { from: 'open.full', to: null, action: 'sip', times: 1 },
    { from: 'open', to: 'shut', action: 'close', times: 1 },
  ]);
  assert.deepEqual(
    visited.map(({ state: id, times }) => [id, times]),
    [
      ['open', 1],
      ['open.empty', 1],
      ['open.full', 1],
      ['shut', 1],
    ],
  );
});

test('a timer takes the delayed edge', () => {
  const { taken } = tracePath(graph, [began, step('fill', 1), step(null, 3, { kind: 'timer' })], activeAt);
  assert.deepEqual(taken.at(-1), { from: 'open', to: 'shut', action: null, times: 1 });
});

test('a refusal is told at the edges that said no, or at the state where no edge begins, as often as it was asked', () => {
  const refused = { refused: 'InvalidTransition' };
  const steps = [began, step('close', 0, { ...refused, times: 3 }), step('sip', 0, refused), step('sip', 0, refused)];
  assert.deepEqual(tracePath(graph, steps, activeAt).refused, [
    { from: 'open', to: 'shut', action: 'close', code: 'InvalidTransition', times: 3 },
    { from: 'open.empty', to: null, action: 'sip', code: 'InvalidTransition', times: 2 },
  ]);
});

test('being put back to the beginning takes no edge and is another visit', () => {
  const back = step(null, 4, { kind: 'jump' });
  const at = (seq: number) => (seq === 4 ? (states[0] ?? null) : activeAt(seq));
  const { taken, visited } = tracePath(graph, [began, step('fill', 1), back], at);
  assert.equal(taken.length, 1);
  assert.deepEqual(visited[1], { state: 'open.empty', times: 2 });
});

test('states that are not kept are skipped', () => {
  const { taken, visited } = tracePath(graph, [began, step('fill', 7), step('close', 3)], activeAt);
  assert.deepEqual([taken, visited.length], [[], 3]);
});

test('active states are named by their ids, outermost first, in every region', () => {
  assert.deepEqual(activeIds({ a: { b: 'c' }, d: 'e' }), ['a', 'a.b', 'a.b.c', 'd', 'd.e']);
});

test('an edge that is taken by itself right after another is told too', () => {
  const done = { ...graph, edges: [...graph.edges, edge('open', ['shut'], { kind: 'done' })] };
  const { taken } = tracePath(done, [began, step('fill', 3)], activeAt);
  assert.deepEqual(taken, [
    { from: 'open.empty', to: 'open.full', action: 'fill', times: 1 },
    { from: 'open', to: 'shut', action: null, times: 1 },
  ]);
});
