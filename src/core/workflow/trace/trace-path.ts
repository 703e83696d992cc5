/**
 * Tells which states of a workflow's graph a session has visited, which edges it took, and where it was refused. Reads
 * steps in order and the active states after each; a state that is not kept is skipped. Pure.
 */
import type { GraphEdge, WorkflowGraph } from '../graph.ts';

/** One entry of a session's history, as far as the graph is concerned. */
export interface TracedStep {
  readonly action: string | null;
  /** `timer`: a delayed edge moved it. `jump`: it was put there, by a reset, a fork or a migration. */
  readonly kind: 'action' | 'timer' | 'jump';
  /** The code of the refusal; null if it was not refused. */
  readonly refused: string | null;
  /** How often it was asked. */
  readonly times: number;
  /** The session's sequence after it. */
  readonly seq: number;
}

export interface Visit {
  readonly state: string;
  readonly times: number;
}

export interface TakenEdge {
  readonly from: string;
  /** Null stays where it is. */
  readonly to: string | null;
  /** The action; null for an edge that is taken by itself. */
  readonly action: string | null;
  readonly times: number;
}

export interface RefusedEdge {
  readonly from: string;
  /** Null if no edge of this action begins there. */
  readonly to: string | null;
  readonly action: string;
  readonly code: string;
  readonly times: number;
}

export interface Trace {
  readonly visited: readonly Visit[];
  readonly taken: readonly TakenEdge[];
  readonly refused: readonly RefusedEdge[];
}

/** `activeAt`: the active states after a sequence, outermost first; null if they are not kept. */
export function tracePath(
  graph: WorkflowGraph,
  steps: readonly TracedStep[],
  activeAt: (seq: number) => readonly string[] | null,
): Trace {
  const visited = createCounts<Omit<Visit, 'times'>>();
  const taken = createCounts<Omit<TakenEdge, 'times'>>();
  const refused = createCounts<Omit<RefusedEdge, 'times'>>();
  for (const { action, refused: code, times, seq } of steps) {
    if (code === null || action === null) continue;
    for (const { from, to } of refusedEdges(graph, action, activeAt(seq) ?? []))
      refused.add({ from, to, action, code }, times);
  }
  let before: readonly string[] | null = null;
  let last: number | null = null;
  for (const step of steps) {
    if (step.refused !== null || step.seq === last) continue;
    last = step.seq;
    const after = activeAt(last);
    for (const state of entered(step, before, after)) visited.add({ state }, 1);
    for (const edge of moved(graph, step, before, after)) taken.add(edge, 1);
    before = after;
  }
  return { visited: visited.list(), taken: taken.list(), refused: refused.list() };
}

type Active = readonly string[] | null;

/** Whoever was put somewhere enters all of it. */
function entered({ kind }: TracedStep, before: Active, after: Active): readonly string[] {
  if (after === null) return [];
  return before === null || kind === 'jump' ? after : after.filter((state) => !before.includes(state));
}

function moved(graph: WorkflowGraph, { kind, action }: TracedStep, before: Active, after: Active) {
  if (before === null || after === null || kind === 'jump') return [];
  return takenEdges(graph, kind === 'timer' ? null : action, before, after);
}

type Ends = Pick<RefusedEdge, 'from' | 'to'>;

/** The edges that were asked for and said no; if none begins there, the innermost active state. */
function refusedEdges(graph: WorkflowGraph, action: string, active: readonly string[]): readonly Ends[] {
  const found = innermost(graph, active, (edge) => isOf(edge, action));
  if (found.length === 0) return [{ from: active.at(-1) ?? '', to: null }];
  return found.flatMap(({ from, to }): readonly Ends[] =>
    to === null || to.length === 0 ? [{ from, to: null }] : to.map((target) => ({ from, to: target })),
  );
}

function takenEdges(
  graph: WorkflowGraph,
  action: string | null,
  before: readonly string[],
  after: readonly string[],
): readonly Omit<TakenEdge, 'times'>[] {
  const isMeant = (edge: GraphEdge) => (action === null ? edge.kind === 'after' : isOf(edge, action));
  const candidates = innermost(graph, before, isMeant);
  const reached = candidates.filter(({ to }) => to !== null && to.some((target) => after.includes(target)));
  // An edge whose target was left at once by another edge has no trace in the states that are kept.
  const meant = reached.length > 0 ? reached : candidates.slice(0, 1);
  const taken = meant.flatMap(({ from, to }): readonly Omit<TakenEdge, 'times'>[] => {
    const targets = (to ?? []).filter((target) => reached.length === 0 || after.includes(target));
    return targets.length === 0
      ? [{ from, to: null, action }]
      : targets.map((target) => ({ from, to: target, action }));
  });
  return [...taken, ...(reached.length > 0 ? [] : edgesOnward(graph, taken, after))];
}

/** Edges that a machine takes by itself right away: from where an edge led, or around it, to what is active now. */
function edgesOnward(graph: WorkflowGraph, taken: readonly Omit<TakenEdge, 'times'>[], after: readonly string[]) {
  const left = new Set(taken.flatMap(({ to }) => (to === null ? [] : aroundOf(to))));
  return graph.edges.flatMap(({ kind, from, to }): readonly Omit<TakenEdge, 'times'>[] => {
    if ((kind !== 'always' && kind !== 'done') || !left.has(from)) return [];
    return (to ?? []).filter((each) => after.includes(each)).map((each) => ({ from, to: each, action: null }));
  });
}

/** A state and all around it. */
const aroundOf = (state: string): readonly string[] =>
  state.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'));

const isOf = ({ kind, action: name }: GraphEdge, action: string): boolean =>
  (kind === 'action' && name === action) || (kind !== 'action' && name !== null && name.startsWith(`${action}.`));

/** The edges that begin in the innermost active state that has any. '' is the workflow itself. */
function innermost(
  graph: WorkflowGraph,
  active: readonly string[],
  isMeant: (edge: GraphEdge) => boolean,
): readonly GraphEdge[] {
  const meant = graph.edges.filter((edge) => edge.forbids !== true && isMeant(edge));
  for (const state of ['', ...active].toReversed()) {
    const from = meant.filter((edge) => edge.from === state);
    if (from.length > 0) return from;
  }
  return [];
}

/** Counts equal things, in the order in which they came first. */
function createCounts<Thing extends object>() {
  const found = new Map<string, { readonly thing: Thing; times: number }>();
  return {
    add(thing: Thing, times: number): void {
      const key = JSON.stringify(thing);
      const known = found.get(key);
      if (known === undefined) found.set(key, { thing, times });
      else known.times += times;
    },
    list: () => [...found.values()].map(({ thing, times }) => ({ ...thing, times })),
  };
}
