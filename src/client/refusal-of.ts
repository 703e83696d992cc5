/** Turns an error reply into an error: ToolDeniedError for `denied`, CallError for the rest. */
import type { ErrorReply } from '../core/call/reply.ts';
import { CallError, callErrorOf } from './call-error.ts';
import { resolutionOf } from './resolution.ts';
import { ToolDeniedError } from './tool-denied-error.ts';

export type Refusal = ToolDeniedError | CallError;

/** What the caller knows of the call and a reply may not say: a gateway that is starting has read nothing yet. */
export interface Asked {
  readonly tool: string | null;
  readonly key: string | null;
}

export function refusalOf(reply: ErrorReply, asked: Asked = { tool: null, key: null }): Refusal {
  return reply.error === 'denied' ? new ToolDeniedError(reply, asked) : callErrorOf(reply, asked);
}

/**
 * Replies that are given without looking at what the key stands for. `effect: none` in them is about this request, not
 * about an earlier one of the same call whose answer was lost.
 */
const blind: readonly string[] = ['DAEMON_NOT_READY', 'StoreUnavailable', 'Busy', 'ActionInFlight', 'Unexpected'];

/** The same after a lost answer: what that attempt did must not be denied by a gateway that has not looked. */
export function refusalAfterLoss(reply: ErrorReply, asked: Asked): Refusal {
  if (reply.effect !== 'none' || !blind.includes(reply.code)) return refusalOf(reply, asked);
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
