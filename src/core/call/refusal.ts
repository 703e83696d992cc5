/** What a gate says when it says no: the part of the reply that the gate alone knows. */
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
