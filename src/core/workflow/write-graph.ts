/** The machine as a graph for drawings and checks. Must not say more than it does. */
import { canonicalText } from '../canonical.ts';
import { isObject, type Json } from '../json.ts';
import type { GraphEdge, GraphState, WorkflowGraph } from './graph.ts';
import type { ActionRule, EdgeDraft, GuardRule, MachineDraft, StateDraft } from './machine-draft.ts';

export function writeGraph({ name, root, states }: MachineDraft): WorkflowGraph {
  const raises = raisedBy(states);
  return {
    name,
    type: root.type === 'parallel' || root.type === 'compound' ? root.type : 'atomic',
    initial: root.initial?.to.id ?? null,
    states: states.filter((state) => state.parent !== null).map(writeState),
    edges: states.flatMap((state) => state.edges).map(writeEdge),
    ...(raises.length === 0 ? {} : { raises }),
  };
}

function writeState({ id, name, parent, type, initial, description, history, historyTo }: StateDraft): GraphState {
  return {
    id,
    name,
    parent: parent === null || parent.parent === null ? null : parent.id,
    type,
    initial: initial?.to.id ?? null,
    description,
    ...(history === null ? {} : { history }),
    ...(historyTo === null ? {} : { fallback: historyTo.map((state) => state.id) }),
  };
}

function writeEdge({ from, to, kind, event, guard, delay, reenter, isForbidden }: EdgeDraft, index: number): GraphEdge {
  const asks = guard === null ? null : questionOf(guard, index);
  return {
    from: from.id,
    to: to === null ? null : to.map((state) => state.id),
    kind,
    action: kind === 'action' ? event : null,
    guard: guard?.name ?? null,
    ...(asks === null ? {} : { asks }),
    delay,
    ...(reenter ? { reenter } : {}),
    ...(isForbidden ? { forbids: true } : {}),
  };
}

/**
 * Only a guard with a name of its own is known to be the same elsewhere: two functions may have the same text and still
 * close over different things. Null when nothing of it is known.
 */
function questionOf(rule: GuardRule, edge: number): string | null {
  return rule.kind === 'test' ? nameOfTest(rule.written) : partOf(rule, `edge ${edge}`);
}

function partOf(rule: GuardRule, unknown: string): string {
  // Inside others a name stands in quotes, so that nothing in it is taken for a sign.
  if (rule.kind === 'test') return quoted(nameOfTest(rule.written) ?? `a part of ${unknown}`);
  if (rule.kind === 'in') return quoted(rule.name);
  if (rule.kind === 'not') return `not(${partOf(rule.part, unknown)})`;
  const parts = rule.parts.map((part, at) => partOf(part, `part ${at} of ${unknown}`));
  return `${rule.kind === 'all' ? 'and' : 'or'}(${parts.join(', ')})`;
}

function quoted(name: string): string {
  return /^[A-Za-z_][\w.]*$/.test(name) ? name : canonicalText(name);
}

function nameOfTest(written: Json): string | null {
  if (!isObject(written) || typeof written['name'] !== 'string') return null;
  const params = written['params'] ?? null;
  // Parameters that are code, or that could not be written down, may be equal in writing only.
  if (isObject(params) && ('source' in params || 'not_json' in params)) return null;
  return params === null ? written['name'] : `${written['name']} ${canonicalText(params)}`;
}

/** An event that a function makes could be any that somebody listens to. */
function raisedBy(states: readonly StateDraft[]): readonly string[] {
  const rules: readonly ActionRule[] = states.flatMap(({ entry, exit, initial, edges }) => [
    ...entry,
    ...exit,
    ...(initial?.actions ?? []),
    ...edges.flatMap(({ actions }) => actions),
  ]);
  const heard = states.flatMap(({ byEvent }) => [...byEvent.keys()]);
  return [...new Set(rules.flatMap((rule) => (rule.kind !== 'raise' ? [] : rule.type === null ? heard : [rule.type])))];
}
