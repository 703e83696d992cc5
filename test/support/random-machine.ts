/**
 * Random workflows as a graph and as the XState machine of the same shape, and a brute force over the machine: every
 * place that XState itself gets to when its guards, pure functions of context and event, answer in every possible way.
 */
import * as fc from 'fast-check';
import {
  assign,
  createMachine,
  initialTransition,
  transition,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate';
import type { GraphEdge, GraphState, WorkflowGraph } from '../../src/core/workflow/graph.ts';

interface DrawnState {
  readonly parent: number;
  readonly sort: number;
}

interface DrawnEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: GraphEdge['kind'];
  readonly action: number;
  readonly guard: string | null;
  readonly reenter: boolean;
  readonly stays: boolean;
  /** It has no actions of its own, so that taking it may change nothing at all. */
  readonly plain: boolean;
}

export interface RandomMachine {
  readonly graph: WorkflowGraph;
  readonly machine: AnyStateMachine;
  /** What happened since the last look: names of entered states, indexes of taken edges. */
  readonly seen: { readonly states: Set<string>; readonly edges: Set<number> };
  answer: (guard: string, instant: string) => boolean;
}

const drawnState = fc.record({ parent: fc.nat(), sort: fc.nat(9) });

function drawnEdge(guards: readonly (string | null)[]): fc.Arbitrary<DrawnEdge> {
  return fc.record({
    from: fc.nat(),
    to: fc.nat(),
    kind: fc.constantFrom('action', 'action', 'action', 'always', 'after', 'done'),
    action: fc.nat(3),
    guard: fc.constantFrom(...guards),
    reenter: fc.boolean(),
    stays: fc.integer({ min: 0, max: 6 }).map((n) => n === 0),
    plain: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  });
}

export interface RandomShape {
  readonly shared: boolean;
  readonly rootParallel: boolean;
  readonly states: readonly DrawnState[];
  readonly edges: readonly DrawnEdge[];
}

/** With `shared` guards, edges may have the same guard or its opposite; otherwise each has one of its own. */
export function randomShape(shared: boolean): fc.Arbitrary<RandomShape> {
  const guards = shared ? [null, null, 'g', 'h', 'not(g)', 'and(g, h)'] : [null, 'own'];
  return fc.record({
    shared: fc.constant(shared),
    rootParallel: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    states: fc.array(drawnState, { minLength: 2, maxLength: 9 }),
    edges: fc.array(drawnEdge(guards), { minLength: 1, maxLength: 9 }),
  });
}

interface Node {
  readonly name: string;
  readonly id: string;
  readonly parent: Node | null;
  readonly children: Node[];
  type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  sort: number;
}

function memoryOf({ sort }: Node): 'deep' | 'shallow' {
  return sort === 8 ? 'deep' : 'shallow';
}

function grow(rootParallel: boolean, drawn: readonly DrawnState[]): { root: Node; nodes: readonly Node[] } {
  const root: Node = { name: 'root', id: '', parent: null, children: [], type: 'compound', sort: 0 };
  const nodes: Node[] = [];
  for (const [index, { parent, sort }] of drawn.entries()) {
    const around = [root, ...nodes][parent % (nodes.length + 1)] ?? root;
    const name = `s${index}`;
    const node: Node = {
      name,
      id: around.id === '' ? name : `${around.id}.${name}`,
      parent: around,
      children: [],
      type: 'atomic',
      sort,
    };
    around.children.push(node);
    nodes.push(node);
  }
  root.type = rootParallel ? 'parallel' : 'compound';
  for (const node of nodes) {
    if (node.children.length > 0) node.type = node.sort < 4 ? 'parallel' : 'compound';
    else if (node.sort < 2) node.type = 'final';
    else if (node.sort > 7) node.type = 'history';
  }
  // A composite needs a child that can be active, and its first one must not be a memory.
  for (const node of [root, ...nodes]) {
    const [first] = node.children;
    if (first?.type === 'history') first.type = 'atomic';
  }
  const preorder = (node: Node): Node[] => [node, ...node.children.flatMap(preorder)];
  return { root, nodes: preorder(root).slice(1) };
}

export function buildMachine({ rootParallel, states, edges: drawn, shared }: RandomShape): RandomMachine {
  const { root, nodes } = grow(rootParallel, states);
  const sources = [root, ...nodes.filter(({ type }) => type !== 'history' && type !== 'final')];
  // Memories are few; what leads to them is what needs trying.
  const memories = nodes.filter(({ type }) => type === 'history');
  const targets = [...nodes, ...memories, ...memories, ...memories];
  const edges = drawn.flatMap((edge, index): (GraphEdge & { source: Node; target: Node | null; plain: boolean })[] => {
    const source = sources[edge.from % sources.length] ?? root;
    const target = edge.stays ? null : (targets[edge.to % targets.length] ?? null);
    if (edge.kind === 'done' && (source.type === 'atomic' || source === root)) return [];
    if (edge.kind === 'after' && source === root) return [];
    return [
      {
        source,
        target,
        plain: shared && edge.plain,
        from: source.id,
        to: target === null ? null : [target.id],
        kind: edge.kind,
        action: edge.kind === 'action' ? `a${edge.action}` : null,
        guard: edge.guard === null || shared ? edge.guard : `own${index}`,
        ...(edge.guard !== null && shared ? { asks: edge.guard } : {}),
        delay: edge.kind === 'after' ? 1_000 * (1 + (edge.action % 2)) : null,
        reenter: edge.reenter,
      },
    ];
  });
  const seen = { states: new Set<string>(), edges: new Set<number>() };
  const self: RandomMachine = {
    graph: {
      name: 'random',
      type: root.type as WorkflowGraph['type'],
      initial: root.type === 'compound' ? (root.children[0]?.id ?? null) : null,
      states: nodes.map((node): GraphState => ({
        id: node.id,
        name: node.name,
        parent: node.parent === root ? null : (node.parent?.id ?? null),
        type: node.type,
        initial: node.type === 'compound' ? (node.children[0]?.name ?? null) : null,
        description: null,
        ...(node.type === 'history' ? { history: memoryOf(node) } : {}),
      })),
      edges: edges.map(({ source: _source, target: _target, plain: _plain, ...edge }) => edge),
    },
    machine: undefined as never,
    seen,
    answer: () => true,
  };
  const ask = (text: string, instant: string): boolean => {
    if (text.startsWith('not(')) return !ask(text.slice(4, -1), instant);
    if (text.startsWith('and('))
      return text
        .slice(4, -1)
        .split(', ')
        .every((part) => ask(part, instant));
    return self.answer(text, instant);
  };
  const written = (edge: (typeof edges)[number], index: number) => ({
    ...(edge.target === null ? {} : { target: `#${edge.target.name}` }),
    reenter: edge.reenter === true,
    ...(edge.guard === null
      ? {}
      : {
          guard: ({ context, event }: { context: { tick: number }; event: { type: string } }) =>
            ask(edge.guard ?? '', `${context.tick} ${event.type}`),
        }),
    ...(edge.plain
      ? {}
      : {
          actions: assign(({ context }: { context: { tick: number } }) => {
            seen.edges.add(index);
            return { tick: context.tick + 1 };
          }),
        }),
  });
  const configOf = (node: Node): object => {
    const own = edges.map((edge, index) => ({ edge, index })).filter(({ edge }) => edge.source === node);
    const list = (wanted: (edge: GraphEdge) => boolean) =>
      own.filter(({ edge }) => wanted(edge)).map(({ edge, index }) => written(edge, index));
    const actions = [...new Set(own.flatMap(({ edge }) => edge.action ?? []))];
    const delays = [...new Set(own.flatMap(({ edge }) => edge.delay ?? []))];
    if (node.type === 'history') {
      return { id: node.name, type: 'history', history: memoryOf(node) };
    }
    return {
      id: node.name,
      ...(node.type === 'final' || node.type === 'parallel' ? { type: node.type } : {}),
      ...(node.type === 'compound' ? { initial: node.children[0]?.name } : {}),
      ...(node.children.length > 0
        ? { states: Object.fromEntries(node.children.map((child) => [child.name, configOf(child)])) }
        : {}),
      on: Object.fromEntries(actions.map((action) => [action, list((edge) => edge.action === action)])),
      after: Object.fromEntries(delays.map((delay) => [delay, list((edge) => edge.delay === delay)])),
      always: list(({ kind }) => kind === 'always'),
      onDone: list(({ kind }) => kind === 'done'),
      entry: assign(() => {
        seen.states.add(node.id);
        return {};
      }),
    };
  };
  const config = { ...configOf(root), context: { tick: 0 } };
  const machine = createMachine(config as never, undefined) as AnyStateMachine;
  Object.assign(machine, { options: { ...machine.options, maxIterations: 16 } });
  return Object.assign(self, { machine });
}

/** The ids of the active states, sorted; '' is the root. */
export function activeIn(snapshot: AnyMachineSnapshot): string {
  const nodes = (snapshot as unknown as { _nodes: readonly { path: readonly string[] }[] })._nodes;
  return nodes
    .map(({ path }) => path.join('.'))
    .sort()
    .join(' ');
}

export interface Outcome {
  readonly event: string;
  /** Null when the machine did not come to rest. */
  readonly snapshot: AnyMachineSnapshot | null;
  readonly edges: ReadonlySet<number>;
}

/** Every outcome of one event, or of the start, over all answers of the guards; null when there are too many. */
export function outcomesOf(
  random: RandomMachine,
  from: AnyMachineSnapshot | null,
  event: string,
  limit: number,
): Outcome[] | null {
  const outcomes: Outcome[] = [];
  const waiting: boolean[][] = [[]];
  for (let prefix = waiting.pop(); prefix !== undefined; prefix = waiting.pop()) {
    if (outcomes.length >= limit) return null;
    const given = [...prefix];
    const known = new Map<string, boolean>();
    random.answer = (guard, instant) => {
      const key = `${guard} ${instant}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const at = known.size;
      if (at >= given.length) {
        given.push(true);
        waiting.push([...given.slice(0, at), false]);
      }
      known.set(key, given[at] ?? true);
      return given[at] ?? true;
    };
    random.seen.edges.clear();
    outcomes.push({ event, snapshot: run(random.machine, from, event), edges: new Set(random.seen.edges) });
  }
  return outcomes;
}

function run(machine: AnyStateMachine, from: AnyMachineSnapshot | null, event: string): AnyMachineSnapshot | null {
  try {
    const [next] = from === null ? initialTransition(machine) : transition(machine, from, { type: event });
    const { status, value, context, historyValue } = next as AnyMachineSnapshot;
    if (status === 'error') return null;
    // As a session does between two steps: written down as a value, and picked up again from it.
    return machine.resolveState({ value, context, historyValue, status } as never) as AnyMachineSnapshot;
  } catch {
    return null;
  }
}

/** What can be given to the machine from outside: actions, and the delays of active states. */
export function eventsAt(random: RandomMachine, snapshot: AnyMachineSnapshot): readonly string[] {
  const active = activeIn(snapshot).split(' ');
  return [
    ...new Set(
      random.graph.edges.flatMap(({ kind, action, delay, from }) => {
        if (kind === 'action') return [action ?? ''];
        if (kind !== 'after' || !active.includes(from)) return [];
        return [`xstate.after.${String(delay)}.${from.split('.').at(-1)}`];
      }),
    ),
  ];
}
