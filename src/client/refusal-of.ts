/** Turns an error reply into an error: ToolDeniedError for `denied`, CallError for the rest. */
import type { ErrorReply } from '../core/call/reply.ts';
import { CallError, callErrorOf } from './call-error.ts';
import { resolutionOf } from './resolution.ts';
import { ToolDeniedError } from './tool-denied-error.ts';

export type Refusal = ToolDeniedError | CallError;

/** What the caller knows of the call. A reply may lack it: a gateway that is starting has not read the call. */
export interface Asked {
  readonly tool: string | null;
  readonly key: string | null;
}

export function refusalOf(reply: ErrorReply, asked: Asked = { tool: null, key: null }): Refusal {
  return reply.error === 'denied' ? new ToolDeniedError(reply, asked) : callErrorOf(reply, asked);
}

/**
 * Codes of replies that are given without looking up the key. `effect: none` in them is about this request, not about
 * an earlier one of the same call whose answer was lost.
 */
const givenUnread: readonly string[] = ['DAEMON_NOT_READY', 'StoreUnavailable', 'Busy', 'ActionInFlight', 'Unexpected'];

/**
 * The same after a lost answer: a reply that was given without reading the call does not prove that it had no effect.
 */
export function refusalAfterLoss(reply: ErrorReply, asked: Asked): Refusal {
  if (reply.effect !== 'none' || !givenUnread.includes(reply.code)) return refusalOf(reply, asked);
  return new CallError({
    error: 'no_reply',
    message: `the answer was lost, and the gateway cannot say yet what became of the call: ${reply.message}`,
    effect: 'unknown',
    class: reply.class,
    code: reply.code,
    resolution: resolutionOf(reply.resolution),
    tool: reply.requested ?? asked.tool,
    session: reply.session,
    validNextActions: reply.valid_next_actions,
    key: asked.key,
    reply,
  });
}

/** What a model should read about a refusal to choose its next move. For `onRefusal`. */
export function tellModel(refusal: Refusal): string {
  const { message, code, effect, resolution, validNextActions } = refusal;
  const error = refusal.name === 'ToolDeniedError' ? 'denied' : refusal.error;
  return JSON.stringify({ error, code, message, effect, resolution, valid_next_actions: validNextActions });
}
