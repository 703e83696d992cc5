/** The part of an error reply that a gate provides. The rest of the reply comes from the call. */
import type { ErrorReply } from './reply.ts';

/** Fields that every reply gets from the call itself, not from the gate. */
type Envelope =
  | 'requested'
  | 'valid_next_actions'
  | 'next_total'
  | 'call_id'
  | 'session'
  | 'notices'
  | 'replayed'
  | 'effect';

type WithoutEnvelope<Branch> = Branch extends unknown ? Omit<Branch, Envelope> : never;

export type Refusal = WithoutEnvelope<ErrorReply>;
