/** How a phase of the spine ends: with what the next one needs, with a reply, or by deciding again. */
import type { Reply } from '../../core/call/reply.ts';
import type { Asked } from './asked.ts';

export type Stop =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** Something moved meanwhile: the whole call is decided again, as it is asked for here. */
  | { readonly kind: 'again'; readonly asked: Asked };

export type Phase<Next> = Stop | ({ readonly kind: 'next' } & Next);

export const replyWith = (reply: Reply): Stop => ({ kind: 'reply', reply });

export const again = (asked: Asked): Stop => ({ kind: 'again', asked });

/** As its caller sent it, whatever an approver made of it. */
export const againAsSent = (asked: Asked): Stop => again(asked.own ?? asked);
