/**
 * The context that a body gets: facts about its call, and requests it can make. Names are those of the wire. Must not
 * expose internals of the gateway.
 */
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Reply } from '../../core/call/reply.ts';
import { type Attempt, type Elicited, keyOf } from '../../ports/upstream.ts';
import type { BodyServices } from './body-services.ts';
import { chainOf, chainText } from './cause-chain.ts';
import { codedFailure, type Fail } from './coded-failure.ts';
import { maxMessageChars, textOf } from './read-thrown.ts';
import { partial, ToolFailure, type FailureStatement } from './tool-failure.ts';

export interface ToolContext<Context = JsonObject | null> {
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  readonly call_id: string;
  /** 1 for the first time that the call is sent. */
  readonly attempt: number;
  /** The same for every attempt that does the same: pass it to services that can deduplicate. */
  readonly idempotency_key: string;
  readonly session: string | null;
  readonly agent: string;
  readonly tenant: string;
  /** RFC 3339; no attempt begins after it. */
  readonly deadline: string;
  /** The context of the workflow in which this is a step, frozen; null elsewhere. */
  readonly context: Context;
  /**
   * Asks the agent's user through its client. The timeout of the call keeps running. Rejects if nobody can be asked.
   */
  readonly elicit: (message: string, schema?: object) => Promise<Elicited>;
  /** Asks the agent's model, in the format of MCP. Rejects if its client cannot. */
  readonly sample: (request: object) => Promise<JsonObject>;
  readonly tools: {
    /** Calls another tool of the gateway for the same agent: it passes every gate. */
    readonly call: (name: string, args?: unknown) => Promise<Reply>;
  };
  /** Puts on record that the body ignores an error on purpose, and why. Never throws. */
  readonly suppressed: (reason: string, error?: unknown) => void;
  /** Ends the body with a failure that says precisely what went wrong. */
  readonly fail: Fail;
  /** A result of which some items failed: what was done, and an error for each of the others. `of`: how many there are. */
  readonly partial: typeof partial;
}

/** The part of a context that can be sent to a worker. */
export type ContextFacts = Omit<
  ToolContext,
  'signal' | 'fail' | 'partial' | 'elicit' | 'sample' | 'tools' | 'suppressed'
>;

export function contextFacts(attempt: Attempt): ContextFacts {
  return {
    call_id: attempt.callId,
    attempt: attempt.attempt,
    idempotency_key: keyOf(attempt),
    session: attempt.session,
    agent: attempt.agent,
    tenant: attempt.tenant,
    deadline: timeText(attempt.deadlineAtMs),
    context: attempt.workflowContext,
  };
}

export function createContext(facts: ContextFacts, signal: AbortSignal, services: BodyServices): ToolContext {
  return Object.freeze({
    ...facts,
    context: freeze(facts.context),
    signal,
    elicit: services.elicit,
    sample: services.sample,
    tools: Object.freeze({ call: services.call }),
    suppressed: (reason: unknown, error?: unknown) =>
      services.suppressed({
        reason: textOf(reason, maxMessageChars) ?? 'no reason was given',
        error: error === undefined ? null : chainText(chainOf(error)),
      }),
    partial,
    fail(first: unknown, code?: unknown, message?: unknown, more?: unknown): never {
      throw typeof first === 'string'
        ? codedFailure(first, code, message, more)
        : new ToolFailure(first as FailureStatement);
    },
  });
}

/** Freezes deeply. */
export function freeze<Value extends Json>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const field of Object.values(value)) freeze(field as Json);
    Object.freeze(value);
  }
  return value;
}

/** The latest possible date stands for "never". */
function timeText(atMs: number): string {
  return new Date(Math.abs(atMs) <= 8.64e15 ? atMs : 8.64e15).toISOString();
}
