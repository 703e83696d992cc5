/**
 * Decides whether an agent may complete its session, and lists every blocker, not only the first. Pure. Not a gate of
 * the ladder, so audit mode does not soften it. Facts come from shell/completion/complete.ts.
 */
import type { CallId } from './call.ts';
import { pointerStep, preview } from '../values/canonical.ts';
import type { FieldError } from './catalogue.ts';
import { isObject } from '../values/json.ts';
import type { Limits } from '../limits.ts';
import type { Refusal } from './refusal.ts';
import type { SuccessReply } from './reply.ts';
import { type ReadRequest, readRequest } from './request.ts';
import type { Resolution } from '../taxonomy.ts';

/** Under this name it is on record, and refused. */
export const completing = 'complete';

/** Whether a success says that a session is complete, with a workflow or without. */
export const isCompletion = ({ action, result }: SuccessReply): boolean =>
  action === completing && isObject(result) && result['completed'] === true;

/** `{ session? }` and nothing else, as a request; nothing at all means the agent's own session. */
export function readCompletion(raw: unknown, limits: Limits): ReadRequest {
  try {
    const given = raw === undefined ? {} : raw;
    if (!isObject(given)) return unreadable([{ path: '', expected: 'an object {session}', got: preview(raw) }]);
    const unknown = Object.keys(given).filter((field) => field !== 'session');
    if (unknown.length > 0) return unreadable(unknown.slice(0, limits.maxFieldErrors).map(notAField));
    return readRequest({ tool: completing, session: given['session'] }, limits);
  } catch {
    // A getter or a proxy of the caller's own threw.
    return unreadable([{ path: '', expected: 'an object that can be read', got: 'unreadable' }]);
  }
}

const notAField = (field: string): FieldError => ({
  path: `/${pointerStep(field)}`,
  expected: 'left out: only session is known',
  got: null,
});

const unreadable = (errors: readonly FieldError[]): ReadRequest => ({
  ok: false,
  requested: completing,
  problem: 'invalid',
  errors,
});

/** A tool or action that must have succeeded in the session and has not. */
export interface Undone {
  /** As policy names it. */
  readonly name: string;
  /** By which names the agent can call it. */
  readonly tools: readonly string[];
}

/** What stands against a completion, the oldest first. */
export interface Against {
  readonly pending: readonly string[];
  /** Approved calls that nobody has run. */
  readonly granted: readonly string[];
  readonly inDoubt: readonly CallId[];
  readonly underWay: readonly CallId[];
  readonly undone: readonly Undone[];
  readonly conditionHolds: boolean;
}

/** Names of what is not done that one sentence holds. */
const maxNamed = 10;

/** Null if nothing does. `ref`: where the completion is written, if anything is asked for there. */
export function completionRefusal(
  against: Against,
  ref: string | null,
  nextActions: readonly string[],
): Refusal | null {
  const reasons = reasonsIn(against);
  if (reasons.length === 0) return null;
  const sentence = `agent cannot complete: ${reasons.join(', ')}`;
  const byRule = against.undone.length > 0 || !against.conditionHolds;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'COMPLETION_BLOCKED',
    message: sentence,
    human_message: sentence,
    ...(byRule && ref !== null ? { rule_ref: ref } : {}),
    resolution: resolutionOf(against, nextActions),
  };
}

function reasonsIn({ pending, granted, inDoubt, underWay, undone, conditionHolds }: Against): readonly string[] {
  const named = undone.slice(0, maxNamed).map(({ name }) => `'${name}' not done`);
  const more = undone.length - named.length;
  return [
    ...count(pending, 'approval', 'pending'),
    ...count(granted, 'approval', 'granted and not used'),
    ...count(inDoubt, 'call', 'in doubt'),
    ...count(underWay, 'call', 'under way'),
    ...named,
    ...(more > 0 ? [`${more} more not done`] : []),
    ...(conditionHolds ? [] : ['its condition does not hold']),
  ];
}

const count = ({ length }: readonly unknown[], what: string, how: string): readonly string[] =>
  length === 0 ? [] : [`${length} ${what}${length === 1 ? '' : 's'} ${how}`];

/** What a person decides comes first, then what nobody knows, then what the agent itself can do. */
function resolutionOf(
  { pending, granted, inDoubt, underWay, undone }: Against,
  nextActions: readonly string[],
): Resolution {
  if (pending.length + granted.length > 0) return { type: 'pending_approvals', approval_ids: [...pending, ...granted] };
  const call = inDoubt[0] ?? underWay[0];
  if (call !== undefined) return { type: 'reconcile', call_id: call };
  const wanted = new Set(undone.flatMap(({ tools }) => tools));
  const possible = nextActions.filter((action) => wanted.has(action));
  return { type: 'choose_action', actions: possible.length === 0 ? nextActions : possible };
}
