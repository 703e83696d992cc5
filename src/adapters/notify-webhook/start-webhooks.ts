/** Starts all hooks of a gateway, each where it stopped. A new hook begins with what happens from now on. */
import type { Position } from '../../core/journal/record.ts';
import { readCursors } from './cursor-file.ts';
import { describeOccurrence } from './describe-occurrence.ts';
import { followJournal } from './follow-journal.ts';
import { keepCursors } from './keep-cursors.ts';
import { isBefore } from './positions.ts';
import { postWebhook } from './post-webhook.ts';
import { runHook } from './run-hook.ts';
import type { Cursor, Webhook, WebhookParts } from './webhook.ts';
import { signWebhook, writeMessage } from './write-message.ts';

export interface Webhooks {
  /** Gives requests in flight a moment to end. What was not accepted is delivered after the next start. */
  close(): Promise<void>;
}

/** Rejects if the store cannot be read. Only one process at a time may start them. */
export async function startWebhooks(hooks: readonly Webhook[], parts: WebhookParts): Promise<Webhooks> {
  const { store, file, clock, random, limits, onTrouble } = parts;
  const storeTag = await store().identity();
  const [newest] = await store().entries(null, 1);
  const now: Position = newest === undefined ? { epoch: 0, seq: 0 } : { epoch: newest.epoch, seq: newest.seq };
  const known = await knownCursors(storeTag, parts);
  const cursors = new Map(hooks.map(({ name }) => [name, cursorOf(known.get(name), now)]));
  const keeper = keepCursors({ file, storeTag, cursors, onTrouble });
  // INVARIANT: the start of a hook is on disk before anything happens that it must report.
  await keeper.save();
  const follower = followJournal({ store, from: now, limits });
  const running = hooks.map((hook) =>
    runHook({
      hook,
      keeper,
      ...follower,
      clock,
      random,
      limits,
      report: (text) => onTrouble(`webhook '${hook.name}' ${text}`),
      async deliver(occurrence, signal) {
        const told = await describeOccurrence(occurrence, storeTag, parts);
        const body = writeMessage(told, hook, limits.maxBodyBytes);
        const headers = signWebhook(told.id, Math.floor(clock.nowMs() / 1_000), body, hook.secret);
        const { timeoutMs, maxAnswerBytes } = limits;
        return postWebhook({ url: hook.url, headers, body, timeoutMs, maxAnswerBytes, clock, signal });
      },
    }),
  );
  return {
    async close() {
      await Promise.all(running.map((hook) => hook.close()));
      await keeper.save();
    },
  };
}

async function knownCursors(
  storeTag: string,
  { file, limits, onTrouble }: WebhookParts,
): Promise<ReadonlyMap<string, Cursor>> {
  const read = await readCursors(file, limits.maxCursorBytes);
  if (read.kind === 'broken')
    onTrouble(
      `'${file}' cannot be read (${read.problem}): webhooks are told what happens from now on, and nothing older`,
    );
  // Positions in another journal mean nothing here.
  return read.kind === 'read' && read.store === storeTag ? read.cursors : new Map();
}

/**
 * A cursor ahead of the journal: the store was restored from a backup. The hook begins with what happens from now on.
 */
function cursorOf(known: Cursor | undefined, now: Position): Cursor {
  return known === undefined || isBefore(now, known.after) ? { after: now, head: null, aside: [] } : known;
}
