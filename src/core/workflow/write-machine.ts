/**
 * The machine as JSON for the manifest: its structure, and the text of every function in it, so that a session notices when
 * the workflow under it has changed. Descriptions are left out: they change nothing. Must not hold anything that varies by run.
 */
import type { Json, JsonObject } from '../values/json.ts';
import { unreachable } from '../values/unreachable.ts';
import type { EdgeDraft, GuardRule, MachineDraft, StateDraft } from './read/machine-draft.ts';

export function writeMachine(draft: MachineDraft): JsonObject {
  return { context: draft.contextWritten, delays: draft.delaysWritten, root: writeState(draft.root) };
}

function writeState(state: StateDraft): JsonObject {
  const { type, initial, history, historyTo, entry, exit, edges, children } = state;
  return {
    type,
    ...(initial === null ? {} : { initial: initial.to.name }),
    ...(initial === null || initial.actions.length === 0
      ? {}
      : { initial_actions: initial.actions.map(({ written }) => written) }),
    ...(history === null ? {} : { history, target: historyTo?.map(({ id }) => id) ?? null }),
    ...(entry.length === 0 ? {} : { entry: entry.map(({ written }) => written) }),
    ...(exit.length === 0 ? {} : { exit: exit.map(({ written }) => written) }),
    ...(edges.length === 0 ? {} : { edges: edges.map(writeEdge) }),
    // In order: regions act in it, and the first state of a list is not the second.
    ...(children.length === 0 ? {} : { states: children.map((child) => [child.name, writeState(child)]) }),
  };
}

function writeEdge({ kind, event, delay, to, guard, actions, reenter }: EdgeDraft): JsonObject {
  return {
    kind,
    ...(event === null ? {} : { event }),
    ...(delay === null ? {} : { delay }),
    to: to === null ? null : to.map(({ id }) => id),
    ...(guard === null ? {} : { guard: writeGuard(guard) }),
    ...(actions.length === 0 ? {} : { actions: actions.map(({ written }) => written) }),
    ...(reenter ? { reenter } : {}),
  };
}

function writeGuard(rule: GuardRule): Json {
  switch (rule.kind) {
    case 'test':
      return rule.written;
    case 'all':
    case 'any':
      return { [rule.kind]: rule.parts.map(writeGuard) };
    case 'not':
      return { not: writeGuard(rule.part) };
    case 'in':
      return { in: rule.state === null ? (rule.value as Json) : `#${rule.state.id}` };
    default:
      return unreachable(rule);
  }
}
