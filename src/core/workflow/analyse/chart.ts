/**
 * Numbers the states of a graph in document order, root 0, and groups edges by event. Invalid parts of a graph are
 * left out and reported.
 */
import type { GraphEdge, GraphState, WorkflowGraph } from '../graph.ts';
import { chooseAmong, type Choice } from './choice.ts';

export interface ChartState {
  readonly index: number;
  /** '' for the root. */
  readonly id: string;
  readonly type: GraphState['type'];
  /** -1 above the root. */
  readonly parent: number;
  /** In document order, history states among them. */
  readonly children: readonly number[];
  /** The last state inside it, by number; itself when it is empty. So `b` is inside `a` when `a < b <= last`. */
  readonly last: number;
  /** -1 unless compound. */
  readonly initial: number;
  readonly deep: boolean;
  readonly assigns: boolean;
  readonly fallback: readonly number[];
}

export interface ChartEdge {
  readonly index: number;
  readonly source: number;
  /** Empty when it stays where it is. */
  readonly targets: readonly number[];
  readonly drawn: GraphEdge;
}

/** An event is known by this text: an action's name, or which state's delay or completion it is. */
export type EventKey = string;

export interface Chart {
  readonly graph: WorkflowGraph;
  readonly states: readonly ChartState[];
  readonly edges: readonly ChartEdge[];
  /** By state: what it does without any event; null for nothing. */
  readonly always: readonly (Choice<ChartEdge> | null)[];
  /** By state: what it does on which event. */
  readonly on: readonly ReadonlyMap<EventKey, Choice<ChartEdge>>[];
  /** In the order of their first edge. */
  readonly actions: readonly string[];
  /** How steps may end beside their success: `pay.failed`. */
  readonly outcomes: readonly string[];
  /** By state: the keys of its delays. */
  readonly delays: readonly (readonly EventKey[])[];
  /** History states that some edge leads to; what the others remember makes no difference. */
  readonly usedHistory: ReadonlySet<number>;
  readonly problems: readonly string[];
}

export const actionKey = (action: string): EventKey => `action ${action}`;
export const doneKey = (state: number): EventKey => `done ${state}`;

function keyOf({ source, drawn }: ChartEdge): EventKey {
  if (drawn.kind === 'action' || drawn.kind === 'outcome') return actionKey(drawn.action ?? '');
  return drawn.kind === 'done' ? doneKey(source) : `after ${source} ${String(drawn.delay)}`;
}

/** Whether `state` is inside `around`, at any depth. Everything is inside what is above the root. */
export function isInside(chart: Chart, state: number, around: number): boolean {
  return around < 0 || (state > around && state <= (chart.states[around]?.last ?? -1));
}

export function stateAt(chart: Chart, index: number): ChartState {
  const found = chart.states[index];
  if (found === undefined) throw new Error(`bug: there is no state ${index}`);
  return found;
}

export function readChart(graph: WorkflowGraph): Chart {
  const problems: string[] = [];
  const { states, byId } = numberStates(graph, problems);
  const edges = graph.edges.flatMap((drawn, index): ChartEdge[] => {
    const source = byId.get(drawn.from);
    const targets = (drawn.to ?? []).map((id) => byId.get(id));
    if (source === undefined || targets.includes(undefined)) {
      problems.push(`an edge from '${drawn.from}' leads from or to a state that is not there; it was left out.`);
      return [];
    }
    return [{ index, source, targets: targets as number[], drawn }];
  });
  const grouped = states.map((): Map<EventKey, ChartEdge[]> => new Map());
  for (const edge of edges) {
    const group = grouped[edge.source];
    const key = edge.drawn.kind === 'always' ? '' : keyOf(edge);
    group?.set(key, [...(group.get(key) ?? []), edge]);
  }
  const on = grouped.map((group) => new Map([...group].map(([key, list]) => [key, chooseAmong(list)])));
  return {
    graph,
    states,
    edges,
    always: on.map((choices) => choices.get('') ?? null),
    on,
    actions: namesOf(edges, 'action'),
    outcomes: namesOf(edges, 'outcome'),
    delays: grouped.map((group) =>
      [...group].flatMap(([key, [first]]) => (first?.drawn.kind === 'after' ? [key] : [])),
    ),
    usedHistory: usedHistory(states, edges),
    problems,
  };
}

const namesOf = (edges: readonly ChartEdge[], kind: GraphEdge['kind']): readonly string[] => [
  ...new Set(edges.flatMap(({ drawn }) => (drawn.kind === kind ? [drawn.action ?? ''] : []))),
];

interface Numbered {
  readonly states: readonly ChartState[];
  readonly byId: ReadonlyMap<string, number>;
}

interface Ordered {
  /** Null for the root. */
  readonly drawn: GraphState | null;
  readonly parent: number;
}

/** The states in document order, each with the number of its parent. */
function orderStates(graph: WorkflowGraph, byId: Map<string, number>, problems: string[]): readonly Ordered[] {
  const inside = new Map<string, GraphState[]>();
  for (const state of graph.states) {
    const siblings = inside.get(state.parent ?? '');
    if (siblings === undefined) inside.set(state.parent ?? '', [state]);
    else siblings.push(state);
  }
  // Walked with a list of its own, so that no depth of nesting ends the stack.
  const order: Ordered[] = [];
  const waiting: Ordered[] = [{ drawn: null, parent: -1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const id = next.drawn?.id ?? '';
    if (byId.has(id)) {
      problems.push(`two states have the id '${id}'; the second was left out.`);
      continue;
    }
    const parent = order.length;
    byId.set(id, parent);
    order.push(next);
    waiting.push(...(inside.get(id) ?? []).map((drawn) => ({ drawn, parent })).reverse());
  }
  const lost = graph.states.length + 1 - order.length;
  if (lost > 0) problems.push(`${lost} states are in no state that is there; they were left out.`);
  return order;
}

function numberStates(graph: WorkflowGraph, problems: string[]): Numbered {
  const byId = new Map<string, number>();
  const order = orderStates(graph, byId, problems);
  const children = order.map((): number[] => []);
  for (const [index, { parent }] of order.entries()) children[parent]?.push(index);
  const last = order.map((_, index) => index);
  for (let index = order.length - 1; index >= 0; index--) last[index] = last[children[index]?.at(-1) ?? index] ?? index;

  /** The child that is entered first: the named one, or the first that is no history state. */
  const firstOf = (inner: readonly number[], wanted: string | null): number => {
    const isWanted = (child: number) => order[child]?.drawn?.id === wanted || order[child]?.drawn?.name === wanted;
    return inner.find(isWanted) ?? inner.find((child) => order[child]?.drawn?.type !== 'history') ?? -1;
  };

  const states = order.map(({ drawn, parent }, index): ChartState => {
    const inner = children[index] ?? [];
    const type = drawn?.type ?? graph.type;
    const initial = type === 'compound' ? firstOf(inner, drawn === null ? graph.initial : drawn.initial) : -1;
    return {
      index,
      id: drawn?.id ?? '',
      // A composite with nothing in it behaves as an atom; the search relies on every compound having a first child.
      type: type === 'compound' && initial < 0 ? 'atomic' : type,
      parent,
      children: inner,
      last: last[index] ?? index,
      initial,
      deep: drawn?.history === 'deep',
      assigns: drawn?.assigns === true,
      fallback: (drawn?.fallback ?? []).flatMap((id) => byId.get(id) ?? []),
    };
  });
  return { states, byId };
}

function usedHistory(states: readonly ChartState[], edges: readonly ChartEdge[]): ReadonlySet<number> {
  const reached = [
    ...edges.flatMap(({ targets }) => targets),
    ...states.flatMap(({ initial, fallback }) => [initial, ...fallback]),
  ];
  return new Set(reached.filter((index) => states[index]?.type === 'history'));
}
