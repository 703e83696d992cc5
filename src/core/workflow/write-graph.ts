/** Writes a machine as a graph for drawings and analysis. */
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json } from '../values/json.ts';
import type { GraphEdge, GraphState, WorkflowGraph } from './graph.ts';
import type { ActionRule, EdgeDraft, GuardRule, MachineDraft, StateDraft } from './read/machine-draft.ts';

export function writeGraph({ name, root, states }: MachineDraft, actions: ReadonlySet<string>): WorkflowGraph {
  // An event that a function makes could be any that somebody listens to.
  const heard = states.flatMap(({ byEvent }) => [...byEvent.keys()]);
  const raises = raisedBy(
    states.flatMap((state) => [...rulesOf(state), ...state.edges.flatMap(({ actions }) => actions)]),
    heard,
  );
  const raisedActions = raises.filter((event) => actions.has(event));
  return {
    name,
    type: root.type === 'parallel' || root.type === 'compound' ? root.type : 'atomic',
    initial: root.initial?.to.id ?? null,
    states: states.filter((state) => state.parent !== null).map((state) => writeState(state, heard)),
    edges: states.flatMap((state) => state.edges).map((edge, index) => writeEdge(edge, index, heard)),
    ...(raises.length === 0 ? {} : { raises }),
    ...(raisedActions.length === 0 ? {} : { raisedActions }),
  };
}

function writeState(state: StateDraft, heard: readonly string[]): GraphState {
  const { id, name, parent, type, initial, description, history, historyTo } = state;
  const raises = raisedBy(rulesOf(state).filter(isAtOnce), heard);
  return {
    id,
    name,
    parent: parent === null || parent.parent === null ? null : parent.id,
    type,
    initial: initial?.to.id ?? null,
    description,
    ...(history === null ? {} : { history }),
    ...(historyTo === null ? {} : { fallback: historyTo.map((to) => to.id) }),
    ...(raises.length === 0 ? {} : { raises }),
    ...([...state.entry, ...state.exit].some(isAssign) ? { assigns: true } : {}),
  };
}

function writeEdge(edge: EdgeDraft, index: number, heard: readonly string[]): GraphEdge {
  const { from, to, kind, event, guard, delay, reenter, isForbidden, actions } = edge;
  const raises = raisedBy(actions.filter(isAtOnce), heard);
  const asks = guard === null ? null : questionOf(guard, index);
  return {
    from: from.id,
    to: to === null ? null : to.map((state) => state.id),
    kind,
    action: kind === 'action' || kind === 'outcome' ? event : null,
    guard: guard?.name ?? null,
    ...(asks === null ? {} : { asks }),
    delay,
    ...(reenter ? { reenter } : {}),
    ...(isForbidden ? { forbids: true } : {}),
    ...(raises.length === 0 ? {} : { raises }),
    ...(actions.some(isAssign) ? { assigns: true } : {}),
  };
}

/**
 * Only a guard with a name of its own is known to be the same elsewhere: two functions may have the same text and still
 * close over different things. Null when nothing of it is known.
 */
function questionOf(rule: GuardRule, edge: number): string | null {
  if (rule.kind !== 'test') return partOf(rule, `edge ${edge}`);
  return rule.isExpression ? rule.name : nameOfTest(rule.written);
}

function partOf(rule: GuardRule, unknown: string): string {
  if (rule.kind === 'test') return nameOfTest(rule.written) ?? `unknown(${canonicalText(unknown)})`;
  if (rule.kind === 'in') return `state(${canonicalText(rule.name)})`;
  if (rule.kind === 'not') return `not(${partOf(rule.part, unknown)})`;
  if (rule.parts.length === 0) return rule.kind === 'all' ? 'true' : 'false';
  const parts = rule.parts.map((part, at) => partOf(part, `part ${at} of ${unknown}`));
  return `${rule.kind === 'all' ? 'and' : 'or'}(${parts.join(', ')})`;
}

/** A name is the author's: it stands in quotes unless nothing in it could be taken for a sign. */
function quoted(name: string): string {
  return /^(?!true$|false$)[A-Za-z_][\w.]*$/.test(name) ? name : canonicalText(name);
}

function nameOfTest(written: Json): string | null {
  if (!isObject(written) || typeof written['name'] !== 'string') return null;
  const params = written['params'] ?? null;
  // Parameters that are code, or that could not be written down, may be equal in writing only.
  if (isObject(params) && ('source' in params || 'not_json' in params)) return null;
  const { name } = written;
  return params === null ? quoted(name) : `${canonicalText(name)}(${canonicalText(params)})`;
}

/** What a state does when it is entered or left. */
function rulesOf({ entry, exit, initial }: StateDraft): readonly ActionRule[] {
  return [...entry, ...exit, ...(initial?.actions ?? [])];
}

function isAtOnce(rule: ActionRule): boolean {
  return rule.kind === 'raise' && rule.delay === null;
}

const isAssign = ({ kind }: ActionRule): boolean => kind === 'assign';

function raisedBy(rules: readonly ActionRule[], heard: readonly string[]): readonly string[] {
  return [...new Set(rules.flatMap((rule) => (rule.kind !== 'raise' ? [] : rule.type === null ? heard : [rule.type])))];
}
