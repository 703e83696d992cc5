/** Tells all subscribers of a gateway, each from where it stopped. A new one begins with what happens from now on. */
import type { Position } from '../../core/journal/record.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { Batch } from './follow/batch.ts';
import { readCursors } from './follow/cursor-file.ts';
import { describeOccurrence, type Message } from './follow/describe-occurrence.ts';
import { followJournal } from './follow/follow-journal.ts';
import { keepCursors } from './follow/keep-cursors.ts';
import { deliveryId, isBefore } from './follow/positions.ts';
import { runSubscriber } from './follow/run-subscriber.ts';
import type { Cursor, Deliver, NoticeParts, NotifierUse } from './follow/subscriber.ts';
import { noticeOf, tellNotifier } from './follow/tell-notifier.ts';
import { deliverWebhook } from './webhook/deliver-webhook.ts';
import type { Webhook } from './webhook/webhook.ts';

export type AnySubscriber = Webhook | NotifierUse;

const called = (subscriber: AnySubscriber): string => {
  const kind = subscriber.via === 'webhook' ? 'webhook' : subscriber.kind;
  return `${kind === 'smtp' ? 'mail' : kind} '${subscriber.name}'`;
};

export interface Notices {
  /** Gives messages under way a moment to end. What was not accepted is delivered after the next start. */
  close(): Promise<void>;
}

/** Rejects if the store cannot be read. Only one process at a time may start them. */
export async function startNotices(subscribers: readonly AnySubscriber[], parts: NoticeParts): Promise<Notices> {
  const { store, file, clock, random, limits, onTrouble, onGivenUp } = parts;
  const storeTag = await store().identity();
  const [newest] = await store().entries(null, 1);
  const now: Position = newest === undefined ? { epoch: 0, seq: 0 } : { epoch: newest.epoch, seq: newest.seq };
  const known = await knownCursors(storeTag, parts);
  const cursors = new Map(subscribers.map(({ name }) => [name, cursorOf(known.get(name), now)]));
  const keeper = keepCursors({ file, storeTag, cursors, onTrouble });
  // INVARIANT: the start of a subscriber is on disk before anything happens that it must be told.
  await keeper.save();
  const { after } = followJournal({ store, from: now, limits });
  const running = subscribers.map((subscriber) => {
    return runSubscriber({
      subscriber,
      keeper,
      after,
      clock,
      random,
      limits,
      report: (text) => onTrouble(`${called(subscriber)} ${text}`),
      onGivenUp: (what, reason) => onGivenUp(`${what} to ${called(subscriber)}`, reason),
      deliver: deliverTo(subscriber, storeTag, parts),
    });
  });
  return {
    async close() {
      await Promise.all(running.map((each) => each.close()));
      await keeper.save();
    },
  };
}

function deliverTo(subscriber: AnySubscriber, storeTag: string, parts: NoticeParts): Deliver {
  const describe = async (batch: Batch): Promise<Message> => {
    const [first, ...others] = batch.listed;
    const told = await describeOccurrence(first, storeTag, parts);
    const rest = await Promise.all(others.map((each) => describeOccurrence(each, storeTag, parts)));
    return { id: deliveryId(storeTag, batch.at, batch.through), batch, told: [told, ...rest] };
  };
  switch (subscriber.via) {
    case 'webhook':
      return async (batch, signal) => deliverWebhook(subscriber, await describe(batch), parts, signal);
    case 'extension': {
      const deliver = parts.notifierOf(subscriber);
      return async (batch, signal) => tellNotifier(deliver, noticeOf(await describe(batch), subscriber), parts, signal);
    }
    default:
      return unreachable(subscriber);
  }
}

async function knownCursors(
  storeTag: string,
  { file, limits, onTrouble }: NoticeParts,
): Promise<ReadonlyMap<string, Cursor>> {
  const read = await readCursors(file, limits.maxCursorBytes);
  if (read.kind === 'broken')
    onTrouble(
      `'${file}' cannot be read (${read.problem}): everybody is told what happens from now on, and nothing older`,
    );
  // Positions in another journal mean nothing here.
  return read.kind === 'read' && read.store === storeTag ? read.cursors : new Map();
}

/**
 * A cursor ahead of the journal: the store was restored from a backup. The subscriber begins with what happens from
 * now on.
 */
function cursorOf(known: Cursor | undefined, now: Position): Cursor {
  return known === undefined || isBefore(now, known.after) ? { after: now, head: null, aside: [], sent: null } : known;
}
