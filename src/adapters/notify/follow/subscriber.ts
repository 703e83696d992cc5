/** Types of whoever is told (a webhook, or people by mail), of its cursor, and of what telling needs. */
import type { ApprovalView } from '../../../core/approval/approval-view.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { JsonObject } from '../../../core/values/json.ts';
import type { Delivered, DeliverNotice } from '../../../ports/notice.ts';
import type { StoreReader } from '../../../ports/store.ts';
import type { Batch } from './batch.ts';
import type { NoticeLimits } from './notice-limits.ts';

export interface Subscriber {
  readonly name: string;
  /** The events that it is told about. */
  readonly events: readonly string[];
  /** What happens within this time after an event goes into one message; 0 sends a message for each event. */
  readonly batchMs: number;
  /** Messages beyond it wait, and what they tell goes into one. */
  readonly limit: MessageLimit | null;
  /** Where a person finds the approval; `{approval_id}` stands for its id. */
  readonly link: string | null;
}

/** At most so many in each period; a period begins with its first message. */
export interface MessageLimit {
  readonly messages: number;
  readonly perMs: number;
}

/** Sends one message once. Never rejects, and its texts contain no address and no secret. */
export type Deliver = (batch: Batch, signal: AbortSignal) => Promise<Delivered>;

/** Told by a notifier that an extension adds; mail too. */
export interface NotifierUse extends Subscriber {
  readonly via: 'extension';
  readonly kind: string;
  readonly settings: JsonObject;
}

/** What is read: the journal, and whom and what a record is about. */
export type NoticeStore = Pick<StoreReader, 'entries' | 'call' | 'session' | 'ticket' | 'identity'>;

export interface NoticeParts {
  /** Asked each time: a process may open its store anew. */
  readonly store: () => NoticeStore;
  /** As it may be shown; null if there is none. */
  readonly approval: (id: string) => Promise<{ readonly tenant: string; readonly view: ApprovalView } | null>;
  /** Where the cursors are kept. */
  readonly file: string;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  /** Never holds an address or a secret. */
  readonly onTrouble: (problem: string) => void;
  /** A message was given up: puts that on record, with the reason. */
  readonly onGivenUp: (what: string, reason: string) => void;
  readonly limits: NoticeLimits;
  /** Makes the notifier of a kind. */
  readonly notifierOf: (use: NotifierUse) => DeliverNotice;
}

/** A message that is tried again. Its extent is fixed, so that it is the same at every try. */
export interface Failed {
  readonly at: Position;
  /** The last event of the message; `at` if there is one. */
  readonly through: Position;
  readonly tries: number;
  /** When it was first tried. */
  readonly sinceMs: number;
}

/** How far a subscriber is. Everything up to `after` was accepted, given up, or set aside. */
export interface Cursor {
  readonly after: Position;
  /** The next message, if it failed or tells several events; later ones wait for it. */
  readonly head: Failed | null;
  /** Failed messages that later ones overtook, the oldest first. */
  readonly aside: readonly Failed[];
  /** Messages of the period that began then; null if there is no limit, or none was sent. */
  readonly sent: SentCount | null;
}

export interface SentCount {
  readonly fromMs: number;
  readonly count: number;
}
