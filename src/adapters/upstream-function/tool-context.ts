/** What may a body know about the call it serves? Names are those of the wire. Must not offer anything of the gateway's. */
import type { Attempt } from '../../ports/upstream.ts';
import { ToolFailure, type FailureStatement } from './tool-failure.ts';

export interface ToolContext {
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  readonly call_id: string;
  /** 1 for the first time that the call is sent. */
  readonly attempt: number;
  /** The same for every attempt of the call: hand it to whatever can deduplicate. */
  readonly idempotency_key: string;
  readonly session: string | null;
  readonly agent: string;
  readonly tenant: string;
  /** RFC 3339; no attempt begins after it. */
  readonly deadline: string;
  /** Ends the body with a failure that says precisely what went wrong. */
  readonly fail: (failure: FailureStatement) => never;
}

/** The part of a context that can travel to a worker. */
export type ContextFacts = Omit<ToolContext, 'signal' | 'fail'>;

export function contextFacts(attempt: Attempt): ContextFacts {
  return {
    call_id: attempt.callId,
    attempt: attempt.attempt,
    idempotency_key: attempt.callId,
    session: attempt.session,
    agent: attempt.agent,
    tenant: attempt.tenant,
    deadline: timeText(attempt.deadlineAtMs),
  };
}

export function createContext(facts: ContextFacts, signal: AbortSignal): ToolContext {
  return Object.freeze({
    ...facts,
    signal,
    fail(failure: FailureStatement): never {
      throw new ToolFailure(failure);
    },
  });
}

/** The last moment that a date can name stands for "never". */
function timeText(atMs: number): string {
  return new Date(Math.abs(atMs) <= 8.64e15 ? atMs : 8.64e15).toISOString();
}
