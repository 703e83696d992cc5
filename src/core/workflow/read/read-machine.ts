/**
 * Reads an XState machine into a draft and collects every problem. Targets are already resolved by XState. Runs no
 * author code except to try the initial context.
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { isObject, type Json, type JsonObject } from '../../values/json.ts';
import { argsFor, faultOf, ownPart } from './author-code.ts';
import { checkConfig } from './check-config.ts';
import { type DelayRule, type EdgeDraft, type MachineDraft, placeOf, type StateDraft } from './machine-draft.ts';
import type { CopyLimits } from './copy-json.ts';
import { readActions, readDelay } from './read-action.ts';
import { readGuard } from './read-guard.ts';
import { listOf, sourceOf, writtenValue, type Reading } from './reading.ts';

/** Null when it is no machine at all. */
export function readMachine(
  machine: AnyStateMachine,
  { name, isOutcome }: { readonly name: string; readonly isOutcome: (event: string) => boolean },
  limits: CopyLimits,
  problems: string[],
): MachineDraft | null {
  if (
    !isObject(machine) ||
    !isObject(machine.root) ||
    !isObject(machine.config) ||
    !isObject(machine.implementations)
  ) {
    problems.push('this is not an XState machine; write createMachine({ … }) or setup({ … }).createMachine({ … })');
    return null;
  }
  checkConfig(machine.config, 'the root', 0, problems);
  // What has no usable shape cannot be read any further.
  if (problems.some((problem) => problem.endsWith('is not an object') || problem.includes('nested deeper')))
    return null;
  const drafts = new Map<AnyStateNode, StateDraft>();
  const root = draftOf(machine.root, null, name, drafts);
  const { guards = {}, actions = {}, delays = {} } = machine.implementations;
  const stateById = (id: string) => {
    try {
      return drafts.get(machine.getStateNodeById(id)) ?? null;
    } catch {
      return null;
    }
  };
  const hasPath = (path: string) => [...drafts.values()].some(({ id }) => id === path);
  const reading: Reading = { problems, limits, stateById, hasPath, implementations: { guards, actions, delays } };
  const named = new Map<string, DelayRule>();
  for (const [node, state] of drafts) fill(node, state, { drafts, named, isOutcome }, reading);
  const states = [...drafts.values()];
  return {
    name,
    root,
    states,
    byId: new Map(states.map((state) => [state.id, state])),
    delays: named,
    delaysWritten: Object.fromEntries([...named.keys()].map((key) => [key, writtenCode(delays[key as never])])),
    ...readContext(machine.config.context, reading),
  };
}

function draftOf(
  node: AnyStateNode,
  parent: StateDraft | null,
  name: string,
  drafts: Map<AnyStateNode, StateDraft>,
): StateDraft {
  const { type, history, description } = node;
  const draft: StateDraft = {
    id: parent === null ? '' : parent.id === '' ? name : `${parent.id}.${name}`,
    name,
    parent,
    type,
    history: type === 'history' ? (history === 'deep' ? 'deep' : 'shallow') : null,
    description: typeof description === 'string' ? description : null,
    children: [],
    edges: [],
    byEvent: new Map(),
    entry: [],
    exit: [],
    initial: null,
    historyTo: null,
  };
  drafts.set(node, draft);
  for (const [key, child] of Object.entries(node.states)) draft.children.push(draftOf(child, draft, key, drafts));
  return draft;
}

interface Filling {
  readonly drafts: ReadonlyMap<AnyStateNode, StateDraft>;
  /** Named delays that were found. */
  readonly named: Map<string, DelayRule>;
  readonly isOutcome: (event: string) => boolean;
}

function fill(node: AnyStateNode, state: StateDraft, { drafts, named, isOutcome }: Filling, reading: Reading): void {
  const place = placeOf(state);
  const { config } = node;
  state.entry = readActions(config.entry, `entry of ${place}`, reading);
  state.exit = readActions(config.exit, `exit of ${place}`, reading);
  const add = (kind: EdgeDraft['kind'], label: string, event: string | null, found: readonly Definition[]) => {
    for (const [index, one] of found.entries()) {
      const edge = edgeOf({ from: state, kind, label, event, index }, one, drafts, reading);
      state.edges.push(edge);
      if (event !== null) state.byEvent.set(event, [...(state.byEvent.get(event) ?? []), edge]);
    }
  };
  for (const event of Object.keys(config.on ?? {}))
    add(isOutcome(event) ? 'outcome' : 'action', event, event, node.transitions.get(event) ?? []);
  add('always', 'always', null, node.always ?? []);
  for (const one of node.after) {
    const { delay } = one;
    add('after', `after ${delay}`, null, [one]);
    const rule = readDelay(delay, `after ${delay} of ${place}`, reading);
    if (typeof delay === 'string' && rule !== null) named.set(delay, rule);
  }
  if (config.onDone !== undefined) {
    add('done', 'onDone', null, node.transitions.get(`xstate.done.state.${node.id}`) ?? []);
  }
  if (state.type === 'compound') readInitial(node, state, drafts, reading);
  if (state.type === 'history') readHistory(node, state, drafts, reading);
}

interface Definition {
  readonly target?: readonly AnyStateNode[] | undefined;
  readonly guard?: unknown;
  readonly actions: readonly unknown[];
  readonly reenter: boolean;
  readonly delay?: unknown;
}

/** Where an edge is written: of which state, and as which of several on one event. */
interface EdgePlace extends Pick<EdgeDraft, 'from' | 'kind' | 'event'> {
  readonly label: string;
  readonly index: number;
}

function edgeOf(
  { from, kind, event, label, index }: EdgePlace,
  definition: Definition,
  drafts: ReadonlyMap<AnyStateNode, StateDraft>,
  reading: Reading,
): EdgeDraft {
  const { target, guard, actions, reenter, delay } = definition;
  const place =
    kind === 'action' || kind === 'outcome' ? `edge '${label}' of ${placeOf(from)}` : `${label} of ${placeOf(from)}`;
  const unnamed = `guard${index === 0 ? '' : ` ${index + 1}`} of ${label} in ${from.parent === null ? from.name : from.id}`;
  return {
    from,
    kind,
    event,
    delay: typeof delay === 'number' || typeof delay === 'string' ? delay : null,
    to: target === undefined ? null : target.flatMap((node) => drafts.get(node) ?? []),
    guard: readGuard(guard, place, unnamed, reading),
    actions: readActions(actions, place, reading),
    reenter: Boolean(reenter),
    isForbidden: target === undefined && actions.length === 0,
  };
}

function readInitial(
  node: AnyStateNode,
  state: StateDraft,
  drafts: ReadonlyMap<AnyStateNode, StateDraft>,
  reading: Reading,
): void {
  const place = placeOf(state);
  try {
    const { target, actions } = node.initial;
    const to = target[0] === undefined ? undefined : drafts.get(target[0]);
    if (to !== undefined) state.initial = { to, actions: readActions(actions, `initial of ${place}`, reading) };
  } catch {
    // Ignored: XState finds this out only when the state is entered.
  }
  if (state.initial === null) {
    const children = state.children.map((child) => child.name).join(', ');
    reading.problems.push(`${place}: its initial state does not exist; use one of ${children}`);
  }
}

function readHistory(
  node: AnyStateNode,
  state: StateDraft,
  drafts: ReadonlyMap<AnyStateNode, StateDraft>,
  reading: Reading,
): void {
  const targets = listOf(node.config.target);
  if (targets.length === 0) return;
  state.historyTo = targets.flatMap((target) => {
    const found = typeof target === 'string' ? resolve(target, node, drafts, reading) : null;
    if (found === null) reading.problems.push(`${placeOf(state)}: target '${String(target)}' does not exist`);
    return found ?? [];
  });
}

function resolve(
  target: string,
  { parent }: AnyStateNode,
  drafts: ReadonlyMap<AnyStateNode, StateDraft>,
  reading: Reading,
): StateDraft | null {
  if (target.startsWith('#')) return reading.stateById(target);
  let found: AnyStateNode | undefined = parent;
  for (const step of target.split('.')) {
    found = found !== undefined && Object.hasOwn(found.states, step) ? found.states[step] : undefined;
  }
  return (found === undefined ? undefined : drafts.get(found)) ?? null;
}

function readContext(raw: unknown, reading: Reading): Pick<MachineDraft, 'context' | 'contextWritten'> {
  const what = 'the context';
  const make = () => {
    try {
      const given: unknown = typeof raw === 'function' ? raw(argsFor({}, undefined)) : (raw ?? {});
      return ownPart(what, given, reading.limits);
    } catch (thrown) {
      throw faultOf(what, thrown);
    }
  };
  try {
    const context: JsonObject = make();
    // A function is asked anew for each session; what it answers now only shows that it can.
    const again = typeof raw === 'function' ? make : () => context;
    return { context: again, contextWritten: typeof raw === 'function' ? writtenCode(raw) : context };
  } catch (thrown) {
    const problem = faultOf(what, thrown).message;
    reading.problems.push(`the context: ${problem}; give an object of plain JSON, or a function without input`);
    return { context: () => ({}), contextWritten: null };
  }
}

function writtenCode(code: unknown): Json {
  return typeof code === 'function' ? { source: sourceOf(code) } : writtenValue(code);
}
