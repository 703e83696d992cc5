/** A message about what happened, for people or programs outside, and how one try to deliver it ended. */
import type { WebhookEvent, WebhookMessage } from '../core/http/webhook-message.ts';

/** One event. */
export interface ToldEvent extends Omit<WebhookMessage, 'batch'> {
  /** A few words of ours that say what happened: nothing that others wrote. */
  readonly title: string;
}

/** What is delivered at once: an event, or several that happened within the time of a batch. */
export interface Notice {
  /** The same at every try, so that a receiver can drop a duplicate. */
  readonly id: string;
  /** Who is told: the name under `notify`. */
  readonly subscriber: string;
  /** Of those that are listed, in order. */
  readonly told: readonly [ToldEvent, ...ToldEvent[]];
  /** All of them, with those that are only counted. */
  readonly count: number;
  /** How many of each are only counted. */
  readonly omitted: Readonly<Partial<Record<WebhookEvent, number>>>;
  /** When the last of them happened. */
  readonly lastMs: number;
}

/** How one try to deliver a notice ended. */
export type Delivered =
  /** `butNot`: some of those who should get it never will, and why. */
  | { readonly kind: 'taken'; readonly butNot?: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly retryAfterMs: number | null }
  /** The receiver will never take it: it is not tried again. */
  | { readonly kind: 'refused'; readonly problem: string };

/** Sends one notice once. Its texts contain no address and no secret. Aborting the signal asks it to stop. */
export type DeliverNotice = (notice: Notice, signal: AbortSignal) => Promise<Delivered>;
