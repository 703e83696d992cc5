/**
 * What can be undone of a call, and the rollback of a session. Data only; the store moves it by compare-and-set, and
 * redeem-check.ts says who may use it.
 */
import type { CallId, SessionId } from '../call/call.ts';

export type ReversalId = `rev_${string}`;

/** The life of a reversal token. `void` and the end of its time are final; `redeemed` is left only if nothing was done. */
export const reversalStates = {
  issued: 'the call was authorised, and has not succeeded yet',
  armed: 'the call succeeded: it can be reversed, once, in time',
  due: 'the gateway was asked to reverse the call and has not done it yet',
  redeemed: 'a reversing call has it',
  void: 'the call ended without success: there is nothing to reverse',
} as const;

export type ReversalState = keyof typeof reversalStates;

/** The right to reverse one call, once. */
export interface Reversal {
  readonly id: ReversalId;
  readonly tenant: string;
  readonly agent: string;
  readonly session: SessionId | null;
  /** The call that it reverses. */
  readonly call: CallId;
  /** Its tool, and the one that reverses it, as rules know them. */
  readonly tool: string;
  readonly reverser: string;
  readonly state: ReversalState;
  /** How long it can be used after the success. */
  readonly windowMs: number;
  /** Null until it is armed. */
  readonly expiresAtMs: number | null;
  /** The reversing call; null unless it is redeemed. */
  readonly redeemedBy: CallId | null;
  /** Reversing calls that proved to have done nothing: the next one has a key of its own. */
  readonly tries: number;
  /** Who asked the gateway to use it, and why; null if nobody did. */
  readonly askedBy: string | null;
  readonly reason: string | null;
}

export interface Rollback {
  readonly session: SessionId;
  readonly tenant: string;
  readonly agent: string;
  readonly state: 'running' | 'finished';
  readonly by: string;
  readonly reason: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
  /** Counts the changes. */
  readonly version: number;
}

/** What came of one call of a session that is rolled back. */
export const stepOutcomes = {
  reversed: 'its reversal succeeded',
  nothing_to_undo: 'it only reads, it is a reversal itself, or it took no effect',
  no_reversal: 'its tool declares no reversal',
  expired: 'the time to reverse it is over',
  refused: 'its reversal was refused',
  failed: 'its reversal ran and did nothing',
  in_doubt: 'nobody knows yet whether the call took effect',
  unknown: 'nobody knows yet whether its reversal took effect',
} as const;

export type StepOutcome = keyof typeof stepOutcomes;

export interface RollbackStep {
  readonly call: CallId;
  readonly tool: string;
  /** From 1, in the order in which they were undone. */
  readonly position: number;
  readonly outcome: StepOutcome;
  /** In words; null if the outcome says it all. */
  readonly why: string | null;
  /** The reversing call; null if there was none. */
  readonly reversal: CallId | null;
  readonly atMs: number;
}

/** What a rollback that is started again tries once more. */
export const retriedOutcomes: ReadonlySet<StepOutcome> = new Set(['refused', 'failed', 'in_doubt', 'unknown']);

/** Whether it can be undone no more, or was not: what a person must know of. */
export const isLeft = (outcome: StepOutcome): boolean => outcome !== 'reversed' && outcome !== 'nothing_to_undo';

/** The keys of reversing calls: no caller may use them. */
export const reversalKeyPrefix = 'rev:';

export const reversalKey = (call: CallId, tries: number): string =>
  tries === 0 ? `${reversalKeyPrefix}${call}` : `${reversalKeyPrefix}${call}:${tries}`;

/** The call that a call with this key reverses; null if it reverses none. */
export function reversedBy(key: string | null): CallId | null {
  if (key === null || !key.startsWith(reversalKeyPrefix)) return null;
  const [call = ''] = key.slice(reversalKeyPrefix.length).split(':', 1);
  return call as CallId;
}
