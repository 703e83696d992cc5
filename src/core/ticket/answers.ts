/**
 * What a person can answer to a ticket, and what each answer does. Which of them are possible depends on the reason and
 * on how the call stands now. Pure.
 */
import type { Ticket, TicketReason } from '../recovery/ticket.ts';
import type { CallState } from '../taxonomy.ts';
import type { Json } from '../values/json.ts';
import { unreachable } from '../values/unreachable.ts';
import type { AnswerKind } from './answer-kinds.ts';

export type TicketAnswer =
  | { readonly answer: 'retry' | 'it_did_not'; readonly force?: boolean }
  | { readonly answer: 'replace'; readonly args: Json }
  | { readonly answer: 'it_happened'; readonly result?: Json }
  | { readonly answer: 'approve' | 'authenticate' | 'never_known' | 'give_up' };

/** Those that say what became of a call in doubt. */
export const settlingAnswers: ReadonlySet<AnswerKind> = new Set(['it_happened', 'it_did_not', 'never_known']);

/** What the user of the agent's own client may answer, where the file lets them. */
export const clientAnswers: ReadonlySet<AnswerKind> = new Set(['retry', 'replace', 'give_up']);

/** What the answers to a ticket depend on, as it is now. */
export interface TicketStanding {
  /** Null if the store does not have the call. */
  readonly call: CallState | null;
  /** Whether it is a step of a workflow. */
  readonly isStep: boolean;
  /** Whether its arguments are there and unmasked, so that it can be sent by itself. */
  readonly isReadable: boolean;
  /** Whether a person can sign in for its credential. */
  readonly canSignIn: boolean;
}

export interface PossibleAnswer {
  readonly answer: AnswerKind;
  /** What it would do, in words. */
  readonly does: string;
}

/** In the order in which they are offered; none once the ticket is closed. */
export function possibleAnswers(ticket: Ticket, now: TicketStanding): readonly PossibleAnswer[] {
  if (ticket.state !== 'open') return [];
  return kindsFor(ticket.reason, now).map((answer) => ({ answer, does: whatItDoes(answer, now.call) }));
}

function kindsFor(reason: TicketReason, { call, isStep, isReadable, canSignIn }: TicketStanding): AnswerKind[] {
  if (call === 'IN_DOUBT') {
    const again: AnswerKind[] = isStep || !isReadable ? [] : ['retry'];
    return ['it_happened', 'it_did_not', 'never_known', ...again, 'give_up'];
  }
  // A call that waits for somebody to sign in was never sent: it is refused, which proves as much.
  if (call !== 'FAILED' && !(call === 'DENIED' && canSignIn)) return ['give_up'];
  return [
    ...(canSignIn && reason === 'auth_expired' ? ['authenticate' as const] : []),
    ...(isReadable && approvable.has(reason) ? ['approve' as const] : []),
    ...(isReadable ? ['retry' as const] : []),
    'replace',
    'give_up',
  ];
}

/** Reasons of which a yes of a person is an answer. */
const approvable: ReadonlySet<TicketReason> = new Set(['policy_denied', 'playbook']);

function whatItDoes(answer: AnswerKind, call: CallState | null): string {
  switch (answer) {
    case 'retry':
      return call === 'IN_DOUBT'
        ? 'sends the call once more, although it may have taken effect; that is your decision, on record'
        : 'runs the call again with the same arguments, as a new call under the policy of now';
    case 'replace':
      return 'runs the call with the arguments that you give, as a new call under the policy of now';
    case 'approve':
      return 'runs the call again as `retry` does; your yes also counts as the approval that policy may ask for';
    case 'authenticate':
      return 'asks you to sign in at the provider; as soon as you have, the call runs again';
    case 'it_happened':
      return 'settles the call as done; with a result, if you give one';
    case 'it_did_not':
      return 'settles the call as not done; its agent may ask again';
    case 'never_known':
      return 'settles the call as never to be known; its budget stays charged';
    case 'give_up':
      return call === 'IN_DOUBT'
        ? 'closes the ticket; nothing runs, and the call stays in doubt'
        : 'closes the ticket; nothing runs, and the call stays as it is';
    default:
      return unreachable(answer);
  }
}
