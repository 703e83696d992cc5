/**
 * A call that was asked for: the request as it was read, who waits and how long, the call it becomes, and how a phase
 * of the spine ends for it.
 */
import type { Approval } from '../../core/approval/approval.ts';
import type { Call, CallId, Principal, Request } from '../../core/call/call.ts';
import type { Decision } from '../../core/call/decide.ts';
import type { MetBy } from '../../core/gates/gate.ts';
import type { ReadRequest } from '../../core/call/request.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import type { Json } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';
import type { Requester } from './requester.ts';
import type { Reversal } from '../../core/reversal/reversal.ts';
import type { Reply } from '../../core/call/reply.ts';

/** A call that is meant as a step: its session, if that much is known although the call may not be readable. */
export interface MeantStep {
  readonly session: string | null;
}

/** A call that was read, and who waits for it. */
export interface Asked {
  readonly request: Request;
  readonly call: Call;
  readonly who: Principal;
  readonly requester: Requester;
  /** When it came, by the monotonic clock. */
  readonly arrivedAtMs: number;
  /**
   * The approval whose changed arguments it carries, and the call as its caller sent it; absent unless an approver
   * changed them.
   */
  readonly under?: Approval;
  readonly own?: Asked;
  /** Nobody asks for it: the gateway runs it by itself, under this approval or not at all. */
  readonly only?: Approval;
  /** Nobody asks for it: it goes on for this ticket. */
  readonly continues?: Ticket;
  /** It undoes another call: the reversal that it redeems. */
  readonly redeems?: Reversal;
}

/** A call as it begins: nothing about it is decided, and nothing is on record. */
export function newCall(read: ReadRequest, who: Principal, shell: Shell): Call {
  const now = shell.ports.clock.nowMs();
  const request = read.ok ? read.request : null;
  const tool = read.ok ? read.request.tool : (read.requested ?? '');
  const identity = read.ok ? read.request.argsText : canonicalText(read.errors as unknown as Json);
  return {
    id: shell.ports.ids.ordered('call_', now) as CallId,
    ...who,
    session: null,
    turn: request?.turn ?? null,
    tool,
    key: request?.key ?? null,
    // INVARIANT: the fingerprint is of the arguments as they were sent, before any validator touched them.
    fingerprint: fingerprintIn(request?.session ?? '', tool, identity, shell),
    effectClass: 'plain',
    state: '(none)',
    attempt: 0,
    owner: null,
    tainted: false,
    createdAtMs: now,
    deadlineAtMs: now + (request?.deadlineMs ?? shell.limits.defaultDeadlineMs),
    dueAtMs: null,
  };
}

/** How long it has taken until now: looking for facts, asking validators, waiting for its turn. */
export function sinceArrival({ createdAtMs }: Call, { ports }: Shell): number {
  return Math.max(0, ports.clock.nowMs() - createdAtMs);
}

/** A step is a step of its session: the same action with the same inputs in another one is another call. */
export function fingerprintIn(handle: string, tool: string, identity: string, shell: Shell): string {
  const place = handle.startsWith(`ses_${shell.storeTag}_`) ? `${handle}\u0000` : '';
  return shell.ports.sha256(`${tool}\u0000${place}${identity}`);
}

/** A timer may fire a moment early; a deadline that it watches is over when it does. */
const timerSlackMs = 5;

/** What is left of the wait that the caller set; null if they set none. */
export function waitLeft({ request, arrivedAtMs }: Asked, { ports }: Shell): number | null {
  if (request.waitMs === null) return null;
  return Math.max(0, arrivedAtMs + request.waitMs - ports.clock.monotonicMs());
}

/**
 * How long a step waits for its turn. Nothing of it is on record there, so nobody could ask for it after a `pending`:
 * it goes when its caller does not wait any longer, and when its deadline has passed.
 */
export function waitForTurn(asked: Asked, shell: Shell): number {
  // What the gateway runs by itself has nobody who could go.
  const caller = asked.only === undefined && asked.continues === undefined ? waitLeft(asked, shell) : null;
  const deadline = asked.call.deadlineAtMs - shell.ports.clock.nowMs() + timerSlackMs;
  return Math.max(0, Math.min(shell.limits.stepQueueMs, caller ?? Infinity, deadline));
}

export type Stop =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** Something moved meanwhile: the whole call is decided again, as it is asked for here. */
  | { readonly kind: 'again'; readonly asked: Asked };

export type Phase<Next> = Stop | ({ readonly kind: 'next' } & Next);

export const replyWith = (reply: Reply): Stop => ({ kind: 'reply', reply });

export const again = (asked: Asked): Stop => ({ kind: 'again', asked });

/** As its caller sent it, whatever an approver made of it. */
export const againAsSent = (asked: Asked): Stop => again(asked.own ?? asked);

/** How the obligations of a call are met: as the gates found, or by the approval whose edited arguments it carries. */
export const approvalMetBy = ({ approval }: Extract<Decision, { kind: 'run' }>, { under }: Asked): MetBy | null =>
  approval ?? (under === undefined ? null : { kind: 'granted', approval: under });
