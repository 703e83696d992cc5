/** What a stage keeps on record while it runs, and what its end says to the workflow. Data and functions of the shell. */
import type { CallId } from '../core/call/call.ts';
import type { Json, JsonObject } from '../core/values/json.ts';

export type StagePhase = 'setup' | 'act' | 'assert' | 'exit' | 'next' | 'wait';

/** Where a stage stands: the phase that begins, and what the earlier ones gave. Durable before the phase runs. */
export interface StageAt {
  readonly phase: StagePhase;
  /** From 1; a retry of the stage begins the next one. */
  readonly attempt: number;
  /** From 1 in each attempt; `next` may enter `act` again. */
  readonly pass: number;
  /** What setup wrote. */
  readonly context: JsonObject;
  readonly acted: Json;
  /** Whether a call of an earlier attempt or pass had an effect. */
  readonly hadEffect: boolean;
  readonly outcome: 'succeeded' | 'failed' | null;
  readonly result: Json;
  /** The failure of the attempt, as it is told. */
  readonly error: JsonObject | null;
  /** With `wait`: when the next attempt begins. */
  readonly untilMs: number | null;
}

/** `open`: a call of which nobody knows yet whether it happened. */
export interface StageDone {
  readonly hadEffect: boolean;
  readonly open: { readonly callId: CallId; readonly tool: string } | null;
}

export interface StageJournal {
  /** The last place on record; null if the stage has not begun. */
  last(): Promise<StageAt | null>;
  /** Resolves to false if it could not be recorded, or the attempt is not this process's any more: then stop. */
  record(at: StageAt): Promise<boolean>;
  /** What all calls of the stage have done so far, whichever attempt or process made them. */
  done(): Promise<StageDone>;
  nowMs(): number;
  /** From 0 to 1. */
  chance(): number;
  /** Resolves early if the gateway closes: false. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** What the end of a stage does to its workflow. */
export interface StageEnd {
  readonly attempts: number;
  /** What setup wrote; it becomes part of the context of the session. */
  readonly context: JsonObject;
  /** The outcome whose edge is taken; null for the usual one. */
  readonly outcome: string | null;
  /** What is done about a failure that cannot be recovered. */
  readonly resolution: { readonly kind: 'retry_later'; readonly afterMs: number } | { readonly kind: 'abort' } | null;
  /** A call of it is in doubt: the stage goes on once that is settled. */
  readonly waitsFor: CallId | null;
  /** It was interrupted: the gateway closes, or a phase could not be recorded. It goes on where it stood. */
  readonly leaves?: true;
}
