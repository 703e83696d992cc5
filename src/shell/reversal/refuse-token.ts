/** The replies to a reversal that was refused, for an agent that redeemed a token and for a person who asked. */
import { failed } from '../../core/call/answer.ts';
import type { Principal, Request } from '../../core/call/call.ts';
import { noReversal } from '../../core/policy/policy-refusal.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { type RefusalReason, refusalReasons } from '../../core/reversal/redeem-check.ts';
import type { Reversal } from '../../core/reversal/reversal.ts';
import { ticketIdOf } from '../../core/recovery/ticket.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { StoredCall } from '../../ports/store.ts';
import { newCall } from '../call/asked.ts';
import { recordRefusal } from '../call/record-refusal.ts';
import { envelopeOf } from '../ending/ending.ts';
import { note } from '../ending/transition.ts';
import { nextActions, type Shell } from '../shell.ts';
import { refusedTicket } from './riders.ts';

/** What is called when nobody can say what would be. */
export const reversing = 'reverse';

export interface RefusedToken {
  readonly reason: RefusalReason;
  readonly why: string | null;
  readonly token: string;
  /** What it belongs to; null if that is not for this agent to know. */
  readonly reversal: Reversal | null;
}

/** Nothing is sent. The refusal is a call on record, and an event about the call that was to be undone. */
export async function refuseToken(
  { reason, why, token, reversal }: RefusedToken,
  who: Principal,
  shell: Shell,
): Promise<ErrorReply> {
  const isOwn = reversal !== null && reversal.agent === who.agent && reversal.tenant === who.tenant;
  const tool = isOwn ? reversal.reverser : reversing;
  const request = { ...nothing, tool, args: { token }, argsText: canonicalText({ token }) };
  const call = newCall({ ok: true, request }, who, shell);
  const about = reversal === null ? call : { id: reversal.call, session: reversal.session };
  const refusal = noReversal(sentenceOf(reason, why));
  const notes = [note('reversal_refused', about, { reason, why, by: who.agent })];
  const actions = nextActions(shell, { agent: who.agent });
  // INVARIANT: a token is never written down: whoever reads the journal could not use it, and need not have it.
  const said = {
    call,
    argsText: null,
    gate: 'policy',
    refusal,
    facts: { reason },
    nextActions: actions,
    notes,
  } as const;
  return (await recordRefusal(said, shell)).reply as ErrorReply;
}

const nothing: Request = {
  tool: reversing,
  args: {},
  argsText: '{}',
  session: null,
  key: null,
  turn: null,
  expectedSeq: null,
  waitMs: null,
  model: null,
  deadlineMs: null,
};

export const sentenceOf = (reason: RefusalReason, why: string | null): string =>
  why === null ? refusalReasons[reason] : `${refusalReasons[reason]} (${why})`;

/** To whoever asked for the reversal of a call: nothing was undone, and a ticket tells why. */
export function refusedForPerson(
  call: StoredCall,
  { reason, why }: { readonly reason: RefusalReason; readonly why: string | null },
  asked: string,
  shell: Shell,
): ErrorReply {
  const message = `call ${call.id} was not undone: ${sentenceOf(reason, why)}`;
  const error = { kind: '409_conflict', message } as const;
  const outcome = { kind: 'exhausted', final_error: error, first_error: error, attempts: 0 } as const;
  const compensation = { kind: 'issue_reversal', reason: asked } as const;
  const envelope = { ...envelopeOf(call, shell), dispatch: { attempts: 0, compensation, outcome } };
  const reply = failed(envelope, {
    classification: {
      class: 'ToolTerminal',
      code: 'Forbidden',
      verdict: 'policy_denied',
      detail: 'reversal_refused',
      recognised: true,
      effect: 'none',
    },
    effect: 'none',
    errorType: 'ReversalRefused',
    message,
    retryAfterSeconds: null,
    maxMessageChars: shell.limits.maxMessageChars,
  });
  const ticket = ticketIdOf(call.id, refusedTicket.reason);
  return { ...reply, resolution: { type: 'escalated', ticket_id: ticket, queue: refusedTicket.queue } };
}
