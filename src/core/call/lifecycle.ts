/**
 * The state machine of a call. `advance` is the only function that moves a call, in normal work, in recovery and when
 * a person decides; it performs nothing. An event that arrives too late changes nothing: what an old attempt reports
 * is kept as an orphan.
 * Path of a call: 4/7. Next: shell/attempt/start.ts.
 */
import type { Call, IncarnationId } from './call.ts';
import type { RecordKind } from '../journal/record.ts';
import type { CallState, Effect } from '../taxonomy.ts';
import { invariant, unreachable } from '../values/unreachable.ts';

export type CallEvent =
  | { readonly kind: 'refused' }
  | { readonly kind: 'held' }
  | { readonly kind: 'admitted' }
  | { readonly kind: 'rejected' }
  /** An incarnation asks for the right to send the next attempt. */
  | { readonly kind: 'claimed'; readonly owner: IncarnationId; readonly leaseUntilMs: number }
  /** The upstream did it. */
  | { readonly kind: 'returned'; readonly attempt: number }
  /** The attempt ended otherwise; `effect` is what is proven about it. */
  | { readonly kind: 'failed'; readonly attempt: number; readonly effect: Effect }
  /** The attempt failed, and may be sent again at a later time. */
  | {
      readonly kind: 'retry_planned';
      readonly attempt: number;
      readonly effect: Effect;
      readonly atMs: number;
      /** Some items are done and on record; only the others are sent again. */
      readonly keeps?: true;
    }
  /** The attempt was dispatched and provably never sent. */
  | { readonly kind: 'withheld'; readonly attempt: number; readonly atMs: number }
  /** Whoever owned the attempt is gone, or past its lease. `mayResend` is what the effect class allows now. */
  | { readonly kind: 'abandoned'; readonly mayResend: boolean; readonly nowMs: number }
  | { readonly kind: 'expired' }
  | { readonly kind: 'cancelled' }
  /** A probe or a person settled what was in doubt. */
  | { readonly kind: 'proved'; readonly effect: 'applied' | 'none' }
  /**
   * A probe or a person showed that nothing happened, and asks for another attempt. `mayHaveEffect`: what happened is
   * known by the calls that it made, and it goes on.
   */
  | {
      readonly kind: 'released';
      readonly atMs: number;
      readonly deadlineAtMs?: number;
      readonly mayHaveEffect?: true;
    }
  /** A person signed that nobody will ever know. */
  | { readonly kind: 'closed' };

export type SideEffect =
  /** Make this state durable, with a record of this kind, before anything that follows. */
  | { readonly kind: 'record'; readonly state: CallState; readonly record: RecordKind }
  | { readonly kind: 'send'; readonly attempt: number }
  | { readonly kind: 'abort'; readonly attempt: number }
  | { readonly kind: 'answer' }
  /** The event came too late to move the call: keep what it said, change nothing. */
  | { readonly kind: 'keep_orphan'; readonly attempt: number };

export type Advance = readonly [Call, readonly SideEffect[]];

export function advance(call: Call, event: CallEvent): Advance {
  switch (event.kind) {
    case 'refused':
      return isIn(call, '(none)', 'AWAITING_APPROVAL') ? ended(call, 'DENIED', 'refused') : unmoved(call);
    case 'held':
      return isIn(call, '(none)') ? waits(call, 'AWAITING_APPROVAL', 'held', call.deadlineAtMs) : unmoved(call);
    case 'rejected':
      return isIn(call, 'AWAITING_APPROVAL') ? ended(call, 'REJECTED', 'settled') : unmoved(call);
    case 'admitted':
      return isIn(call, '(none)', 'AWAITING_APPROVAL')
        ? [to(call, 'PREPARED', call.deadlineAtMs), [record('PREPARED', 'prepared')]]
        : unmoved(call);
    case 'claimed':
      return isIn(call, 'PREPARED', 'RETRY_WAIT') ? claimed(call, event.owner, event.leaseUntilMs) : unmoved(call);
    case 'returned':
      if (!isCurrent(call, event.attempt)) return orphan(call, event.attempt);
      return ended(call, 'SUCCEEDED', 'settled');
    case 'failed':
      if (!isCurrent(call, event.attempt)) return orphan(call, event.attempt);
      return failed(call, event.effect, event.attempt);
    case 'retry_planned':
      if (!isCurrent(call, event.attempt) || call.state !== 'DISPATCHED') return orphan(call, event.attempt);
      return retryPlanned(
        event.keeps === true ? { ...call, kept: true } : call,
        event.effect,
        event.attempt,
        event.atMs,
      );
    case 'withheld':
      if (!isCurrent(call, event.attempt) || call.state !== 'DISPATCHED') return unmoved(call);
      return waits(call, 'RETRY_WAIT', 'retry_planned', event.atMs);
    case 'abandoned':
      return isIn(call, 'DISPATCHED') ? abandoned(call, event.mayResend, event.nowMs) : unmoved(call);
    case 'expired':
      return expired(call);
    case 'cancelled':
      return cancelled(call);
    case 'proved':
      if (!isIn(call, 'IN_DOUBT')) return unmoved(call);
      return event.effect === 'applied' ? ended(call, 'SUCCEEDED', 'settled') : notDone(call);
    case 'released':
      return isIn(call, 'IN_DOUBT')
        ? // The clock of a call stands still while it waits for a person.
          waits(released(call, event), 'RETRY_WAIT', 'retry_planned', event.atMs)
        : unmoved(call);
    case 'closed':
      return isIn(call, 'IN_DOUBT') ? ended(call, 'CLOSED_UNKNOWN', 'settled') : unmoved(call);
    default:
      return unreachable(event);
  }
}

const released = (call: Call, { deadlineAtMs = 0, mayHaveEffect }: Extract<CallEvent, { kind: 'released' }>): Call => ({
  ...call,
  tainted: mayHaveEffect === true,
  deadlineAtMs: Math.max(call.deadlineAtMs, deadlineAtMs),
});

/** Whether it is on its way: admitted, and without an outcome. */
export function isUnderWay(state: Call['state']): boolean {
  return state === 'PREPARED' || state === 'DISPATCHED' || state === 'RETRY_WAIT';
}

/** Whether the call may be sent again after a lost answer: only if a second arrival cannot be a second effect. */
export function mayResend(call: Call, nowMs: number, dedupeWindowMs: number | null): boolean {
  if (nowMs >= call.deadlineAtMs) return false;
  switch (call.effectClass) {
    case 'pure':
      return true;
    case 'keyed':
      // A sixth of the window stays unused: the upstream's clock and the way there take their time too.
      return dedupeWindowMs !== null && nowMs - call.createdAtMs < dedupeWindowMs - dedupeWindowMs / 6;
    case 'probeable':
    case 'plain':
      return false;
    default:
      return unreachable(call.effectClass);
  }
}

function claimed(call: Call, owner: IncarnationId, leaseUntilMs: number): Advance {
  const attempt = call.attempt + 1;
  return [
    { ...to(call, 'DISPATCHED', leaseUntilMs), attempt, owner },
    // INVARIANT: the right to send is on record before anything is sent.
    [record('DISPATCHED', 'dispatched'), { kind: 'send', attempt }],
  ];
}

/** FAILED is a proof that nothing happened; whatever falls short of it is doubt. A read cannot be in doubt. */
function failed(call: Call, effect: Effect, attempt: number): Advance {
  if (effect === 'applied') return ended(call, 'SUCCEEDED', 'settled');
  if (call.effectClass === 'pure') return notDone(call);
  if (effect === 'none' && !call.tainted) return notDone(call);
  // A late failure that proves nothing leaves the doubt as it was.
  return call.state === 'IN_DOUBT' ? orphan(call, attempt) : doubted(call);
}

/** INVARIANT: a call of which some items are done never ends as a proof that nothing happened. */
const notDone = (call: Call): Advance => ended(call, call.kept === true ? 'SUCCEEDED' : 'FAILED', 'settled');

/** Between two attempts: it ends with what is done, as an attempt that sends nothing. */
function endsWithKept(call: Call): Advance {
  const [next, effects] = ended(call, 'SUCCEEDED', 'settled');
  return [next, [record('DISPATCHED', 'dispatched'), ...effects]];
}

function retryPlanned(call: Call, effect: Effect, attempt: number, atMs: number): Advance {
  const safe = effect === 'none' || call.effectClass === 'pure' || call.effectClass === 'keyed';
  if (!safe || effect === 'applied') return failed(call, effect, attempt);
  const tainted = call.tainted || (effect !== 'none' && call.effectClass !== 'pure');
  return waits({ ...call, tainted }, 'RETRY_WAIT', 'retry_planned', atMs);
}

function abandoned(call: Call, resend: boolean, nowMs: number): Advance {
  if (resend) return retryPlanned(call, 'unknown', call.attempt, nowMs);
  return failed(call, 'unknown', call.attempt);
}

function expired(call: Call): Advance {
  if (isIn(call, 'PREPARED', 'AWAITING_APPROVAL')) return ended(call, 'EXPIRED', 'expired');
  if (!isIn(call, 'RETRY_WAIT')) return unmoved(call);
  if (call.tainted) return doubted(call);
  return call.kept === true ? endsWithKept(call) : ended(call, 'FAILED', 'settled');
}

function cancelled(call: Call): Advance {
  if (isIn(call, 'PREPARED', 'AWAITING_APPROVAL')) return ended(call, 'CANCELLED', 'cancelled');
  if (isIn(call, 'RETRY_WAIT')) {
    if (call.tainted) return doubted(call);
    return call.kept === true ? endsWithKept(call) : ended(call, 'CANCELLED', 'cancelled');
  }
  if (!isIn(call, 'DISPATCHED')) return unmoved(call);
  const [next, effects] = failed(call, 'unknown', call.attempt);
  return [next, [...effects, { kind: 'abort', attempt: call.attempt }]];
}

function isIn(call: Call, ...states: readonly Call['state'][]): boolean {
  return states.includes(call.state);
}

/** Only the attempt that is under way, or in doubt, may say how the call ended. */
function isCurrent(call: Call, attempt: number): boolean {
  return call.attempt === attempt && isIn(call, 'DISPATCHED', 'IN_DOUBT');
}

function to(call: Call, state: CallState, dueAtMs: number | null): Call {
  return { ...call, state, dueAtMs };
}

function record(state: CallState, kind: RecordKind): SideEffect {
  return { kind: 'record', state, record: kind };
}

function waits(call: Call, state: CallState, kind: RecordKind, dueAtMs: number): Advance {
  return [to(call, state, dueAtMs), [record(state, kind)]];
}

function ended(call: Call, state: CallState, kind: RecordKind): Advance {
  // INVARIANT: an attempt of unknown effect never ends as a proof that nothing happened.
  invariant(state !== 'CANCELLED' || !call.tainted, 'a tainted call was cancelled without doubt');
  return [to(call, state, null), [record(state, kind), { kind: 'answer' }]];
}

function doubted(call: Call): Advance {
  return [to(call, 'IN_DOUBT', null), [record('IN_DOUBT', 'doubted'), { kind: 'answer' }]];
}

function orphan(call: Call, attempt: number): Advance {
  return [call, [{ kind: 'keep_orphan', attempt }]];
}

function unmoved(call: Call): Advance {
  return [call, []];
}
