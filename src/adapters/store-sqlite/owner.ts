/** The process that holds the lock: it writes for itself and for every forwarder. */
import type { IncarnationId } from '../../core/call.ts';
import type { CommitResult, Transition } from '../../ports/store.ts';
import type { BatchLimits } from './commit-queue.ts';
import { createPrivately, type Lock } from './lock.ts';
import { openForReading } from './open-reader.ts';
import { createEmptyPlaces } from './empty-places.ts';
import { createKnownSessions } from './known-sessions.ts';
import type { LoneLimits } from './lone-writer.ts';
import type { Place } from './place.ts';
import { createReader, leftBehind } from './reader.ts';
import { refusalOf, type Refused } from './refusal.ts';
import { createRepliesUnderWay } from './replies-under-way.ts';
import { protocolVersion, serveForwarders } from './serve-forwarders.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { createWriter, startThread } from './writer.ts';
import type { Spawn } from './writer-thread.ts';

export interface Settings {
  readonly place: Place;
  readonly batch: BatchLimits;
  readonly lone: LoneLimits;
  readonly incarnation: IncarnationId;
  readonly maxPages: number | null;
  readonly markEveryMs: number;
  readonly answerWithinMs: number;
  readonly nowMs: () => number;
  readonly spawn: Spawn;
}

export async function openOwner(
  settings: Settings,
  lock: Lock,
): Promise<{ kind: 'opened'; store: SqliteStore; role: 'owner' } | Refused> {
  const { file } = settings.place;
  const options = { ...settings, file };
  const giveUp = (refused: Refused): Refused => {
    lock.free();
    return refused;
  };
  try {
    createPrivately(file);
  } catch (error) {
    return giveUp(refusalOf(error, file));
  }
  const thread = await startThread(options, null);
  if ('kind' in thread) return giveUp(thread);
  const opened = await openForReading(file);
  if (opened.kind === 'refused') {
    await thread.close(null, settings.nowMs());
    return giveUp(opened);
  }
  const { database } = opened;
  const replies = createRepliesUnderWay(thread.epoch, leftBehind(database));
  const places = createEmptyPlaces(database);
  const reader = createReader(database);
  const sessions = createKnownSessions();
  const committed = (transition: Transition, result: CommitResult) => {
    places.committed(transition, result);
    replies.committed(transition, result);
  };
  const writer = createWriter(options, thread, { ...replies, committed }, sessions);
  const departures = createDepartures();
  const { epoch, highestTimeMs } = thread;
  const door = await serveForwarders(
    settings.place,
    writer,
    { version: protocolVersion, epoch, highestTimeMs },
    departures.tell,
  );
  let closing: Promise<void> | null = null;
  const close = async () => {
    door?.close();
    await writer.drain();
    // Before the writer, so that its closing is the last and folds the log into the file.
    database.close();
    await writer.close();
    lock.free();
  };
  const store: SqliteStore = {
    ...reader,
    session: async (id) => sessions.find(id) ?? reader.session(id),
    abandoned: async (session, fingerprint, sinceMs) =>
      places.mayBe(session, fingerprint) ? reader.abandoned(session, fingerprint, sinceMs) : null,
    incarnation: settings.incarnation,
    highestTimeMs,
    commit: (transitions, alone) => writer.write(transitions, alone),
    answered: (position) => writer.answered(position),
    erase: async (id, reason, atMs) => (await writer.write([{ erase: id, reason, atMs }]))[0] as CommitResult,
    onForwarderGone: departures.listen,
    statistics: () => writer.statistics(),
    close: () => (closing ??= close()),
  };
  return { kind: 'opened', store, role: 'owner' };
}

/** Tells who is gone; those who left before anybody listened are told to the first who does. */
function createDepartures() {
  const listeners = new Set<(incarnation: IncarnationId) => void>();
  const untold: IncarnationId[] = [];
  return {
    tell(incarnation: IncarnationId): void {
      if (listeners.size === 0) untold.push(incarnation);
      for (const listener of listeners) listener(incarnation);
    },
    listen(listener: (incarnation: IncarnationId) => void): () => void {
      listeners.add(listener);
      for (const incarnation of untold.splice(0)) listener(incarnation);
      return () => listeners.delete(listener);
    },
  };
}
