/** One scripted answer: what a gateway, or the way to it, would say to a call. Made by the words in answers.ts. */
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { Answer, WireCall } from '../transport/transport.ts';

/** What every reply has from its call. */
export interface Envelope {
  readonly requested: string;
  readonly valid_next_actions: readonly string[];
  readonly call_id: string;
  readonly session: string | null;
}

export type ScriptedAnswer =
  | { readonly kind: 'reply'; readonly write: (envelope: Envelope, call: WireCall) => Reply }
  | { readonly kind: 'pending'; readonly seconds: number; readonly then: readonly ScriptedAnswer[] }
  | { readonly kind: 'way'; readonly answer: Answer };

type Own<Branch> = Branch extends unknown ? Omit<Branch, keyof Envelope> : never;

/** An answer that is a refusal, with what is particular to it. */
export const refusing = (own: Own<ErrorReply>): ScriptedAnswer => ({
  kind: 'reply',
  write: (envelope) => ({ ...own, ...envelope }) as ErrorReply,
});
