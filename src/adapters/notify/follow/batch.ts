/** The events of one message: the first of them listed, the rest counted. Pure. */
import type { Position } from '../../../core/journal/record.ts';
import type { WebhookEvent } from '../../../core/http/webhook-message.ts';
import { eventFor, type Occurrence } from './occurrence.ts';
import { positionText } from './positions.ts';

export interface Listed {
  readonly event: WebhookEvent;
  readonly occurrence: Occurrence;
}

export interface Batch {
  readonly listed: readonly [Listed, ...Listed[]];
  /** How many are counted only, by event. */
  readonly omitted: Readonly<Partial<Record<WebhookEvent, number>>>;
  /** All of them. */
  readonly count: number;
  readonly at: Position;
  readonly through: Position;
  readonly lastMs: number;
}

export interface BatchBuilder {
  /** False if it is none of ours. */
  add(occurrence: Occurrence): boolean;
  isEmpty(): boolean;
  count(): number;
  /** Null if nothing was added. */
  build(): Batch | null;
}

export function buildBatch(events: readonly string[], maxListed: number): BatchBuilder {
  const listed: Listed[] = [];
  const omitted: Partial<Record<WebhookEvent, number>> = {};
  let count = 0;
  let last: Occurrence | null = null;
  return {
    add(occurrence) {
      const event = eventFor(occurrence, events);
      if (event === null) return false;
      count += 1;
      last = occurrence;
      if (listed.length < maxListed) listed.push({ event, occurrence });
      else omitted[event] = (omitted[event] ?? 0) + 1;
      return true;
    },
    isEmpty: () => count === 0,
    count: () => count,
    build() {
      const [first, ...others] = listed;
      if (first === undefined || last === null) return null;
      const { at } = first.occurrence;
      return { listed: [first, ...others], omitted, count, at, through: last.at, lastMs: last.atMs };
    },
  };
}

/** Names it for the operator. */
export function nameOfBatch({ listed: [{ occurrence }], count, at }: Batch): string {
  return count === 1
    ? `${occurrence.kind} ${positionText(at)}`
    : `${count} events from ${occurrence.kind} ${positionText(at)} on`;
}
