/**
 * The error for every failure that is no denial: another refusal, a tool that failed, or no reply at all. `effect` is
 * never a guess: without a reply it is `unknown`, unless nothing was sent.
 */
import type { DoorCode } from '../core/http/door-problems.ts';
import type { ErrorReply } from '../core/call/reply.ts';
import type { Effect, ErrorClass, ErrorCode, ErrorName, Verdict } from '../core/taxonomy.ts';
import { type Resolution, resolutionOf } from './resolution.ts';

/** The client's own words, for what a gateway did not say. They are never on the wire. */
export type ClientFault = 'not_sent' | 'turned_away' | 'no_reply' | 'still_pending' | 'aborted';

export interface CallFacts {
  readonly error: ErrorName | ClientFault;
  readonly message: string;
  readonly effect: Effect;
  readonly class?: ErrorClass;
  readonly code?: ErrorCode | DoorCode;
  readonly resolution?: Resolution;
  readonly verdict?: Verdict;
  readonly tool: string | null;
  readonly callId?: string;
  readonly session?: string | null;
  readonly validNextActions?: readonly string[];
  readonly key: string | null;
  readonly reply?: ErrorReply;
  readonly cause?: unknown;
}

export class CallError extends Error {
  override readonly name = 'CallError';
  readonly error: ErrorName | ClientFault;
  /** The class of the reply; null if there was none. */
  readonly class: ErrorClass | null;
  /** The code of the reply, or of the door that turned the request away; null if neither spoke. */
  readonly code: ErrorCode | DoorCode | null;
  readonly effect: Effect;
  readonly resolution: Resolution | null;
  /** What the failure of a tool amounts to. */
  readonly verdict: Verdict | null;
  readonly tool: string | null;
  readonly callId: string | null;
  readonly session: string | null;
  readonly validNextActions: readonly string[];
  /**
   * The key of the call: asking again with it can never run the call twice. Null if the client did not make the call.
   */
  readonly key: string | null;
  /** As it came from the gateway; null if nothing came that is a reply. */
  readonly reply: ErrorReply | null;

  constructor(facts: CallFacts) {
    super(facts.message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.error = facts.error;
    this.class = facts.class ?? null;
    this.code = facts.code ?? null;
    this.effect = facts.effect;
    this.resolution = facts.resolution ?? null;
    this.verdict = facts.verdict ?? null;
    this.tool = facts.tool;
    this.callId = facts.callId ?? null;
    this.session = facts.session ?? null;
    this.validNextActions = facts.validNextActions ?? [];
    this.key = facts.key;
    this.reply = facts.reply ?? null;
  }

  /**
   * Everything but the stack and the cause; where there is a reply, `refusalOf(json.reply, json)` makes the error
   * again.
   */
  toJSON(): Readonly<Record<string, unknown>> {
    return { ...(this as object), message: this.message };
  }
}

export function callErrorOf(reply: ErrorReply, asked: Pick<CallFacts, 'tool' | 'key'>): CallError {
  return new CallError({
    error: reply.error,
    message: reply.message,
    effect: reply.effect,
    class: reply.class,
    code: reply.code,
    resolution: resolutionOf(reply.resolution),
    ...(reply.error === 'action_error' ? { verdict: reply.verdict } : {}),
    tool: reply.requested ?? asked.tool,
    callId: reply.call_id,
    session: reply.session,
    validNextActions: reply.valid_next_actions,
    key: asked.key,
    reply,
  });
}
