/** Types of a webhook, of its cursor, and of what the sender needs. */
import type { ApprovalView } from '../../core/approval/approval-view.ts';
import type { Position } from '../../core/journal/record.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StoreReader } from '../../ports/store.ts';
import type { WebhookLimits } from './webhook-limits.ts';

export interface Webhook {
  readonly name: string;
  readonly url: string;
  /** The codes of which it is told. */
  readonly events: readonly string[];
  /** What its messages are signed with; null leaves them unsigned. */
  readonly secret: string | null;
  readonly format: 'json' | 'slack';
  /** Where a person finds the approval; `{approval_id}` stands for its id. */
  readonly link: string | null;
}

/** What the sender reads: the journal, and whom and what a record is about. */
export type WebhookStore = Pick<StoreReader, 'entries' | 'call' | 'session' | 'ticket' | 'identity'>;

export interface WebhookParts {
  /** Asked each time: a process may open its store anew. */
  readonly store: () => WebhookStore;
  /** As it may be shown; null if there is none. */
  readonly approval: (id: string) => Promise<{ readonly tenant: string; readonly view: ApprovalView } | null>;
  /** Where the cursors are kept. */
  readonly file: string;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  /** Never holds an address or a secret. */
  readonly onTrouble: (problem: string) => void;
  readonly limits: WebhookLimits;
}

/** A delivery that failed and is tried again. */
export interface Failed {
  readonly at: Position;
  readonly tries: number;
  /** When it was first tried. */
  readonly sinceMs: number;
}

/** How far a hook is. Everything up to `after` was accepted, given up, or set aside. */
export interface Cursor {
  readonly after: Position;
  /** The next delivery, if it failed; later ones wait for it. */
  readonly head: Failed | null;
  /** Failed deliveries that later ones overtook, the oldest first. */
  readonly aside: readonly Failed[];
}
