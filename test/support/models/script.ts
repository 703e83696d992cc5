/** What happens to one request at a local provider. Without a script it answers with a short text. */
import type { Refusal } from './provider-errors.ts';
import type { Said } from './said.ts';

export interface Script {
  readonly says?: Said;
  readonly refuses?: Refusal;
  readonly fault?: Fault;
  /** After this many events of a stream, or before the head of a plain answer (0), it waits for `release()`. */
  readonly holdAfter?: number;
}

export type Fault =
  /** The connection closes: before the head, right after it, or after so many events of a stream. */
  | { readonly kind: 'drop'; readonly when: 'before_head' | 'after_head' | number }
  /** Nothing more comes, and the connection stays open. */
  | { readonly kind: 'stall'; readonly when: 'before_head' | 'after_head' | number }
  /** The stream ends as HTTP ends, without its last events. */
  | { readonly kind: 'end_early'; readonly after: number }
  /** The provider says in its stream that it failed: the whole event as it is written. */
  | { readonly kind: 'error_event'; readonly after: number; readonly event: string | null; readonly data: unknown }
  /** The body is no JSON; in a stream, the event after so many is none. */
  | { readonly kind: 'malformed'; readonly after?: number }
  | { readonly kind: 'wrong_type' }
  /** Every byte is a piece of its own. */
  | { readonly kind: 'trickle' }
  /** After so many events, one that never ends. */
  | { readonly kind: 'endless_event'; readonly after: number }
  /** A redirect to elsewhere. */
  | { readonly kind: 'redirect'; readonly to: string };
