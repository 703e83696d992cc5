/**
 * A ticket: something that only a person can settle, in a queue until somebody closes it. At most one for a call and a
 * reason, so its id is made of both. What it is about (arguments, reply) is read from the call when it is shown.
 */
import type { CallId, SessionId } from '../call/call.ts';

export const ticketReasons = {
  policy_denied: 'the upstream forbids it',
  auth_expired: 'the upstream no longer accepts the credential',
  unrecognised_failure: 'nobody recognises the failure',
  idempotency_mismatch: 'the upstream knows the key from another request',
  schema_mismatch: 'the answer does not have the declared shape',
  in_doubt: 'nobody knows whether the call took effect',
  reversal_refused: 'the call could not be reversed',
  playbook: 'the playbook asks for a person',
} as const;

export type TicketReason = keyof typeof ticketReasons;
export type TicketId = `tkt_${string}`;

export interface Ticket {
  readonly id: TicketId;
  readonly tenant: string;
  readonly agent: string;
  readonly session: SessionId | null;
  readonly call: CallId;
  readonly tool: string;
  readonly queue: string;
  readonly reason: TicketReason;
  readonly state: 'open' | 'closed';
  readonly openedAtMs: number;
  readonly closedAtMs: number | null;
  /** Who closed it: a person, or `recourse` when the call was settled by itself. */
  readonly closedBy: string | null;
}

export const ticketIdOf = (call: CallId, reason: TicketReason): TicketId =>
  `tkt_${call.replace(/^call_/, '')}_${reason}`;
