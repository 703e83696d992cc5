/** The process that holds the lock: it writes for itself and for every forwarder. */
import type { DatabaseSync } from 'node:sqlite';

import type { CallId, IncarnationId } from '../../../core/call/call.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult, StoredCall, StoreTrouble, Transition } from '../../../ports/store.ts';
import { createAskOthers, createDepartures, notKnown } from './ask-others.ts';
import type { BatchLimits } from '../write/commit-queue.ts';
import { createPrivately, type Lock } from './lock.ts';
import { openForReading } from '../read/open-reader.ts';
import { createAbandonedIndex } from '../read/abandoned-index.ts';
import { createEqualWrites, type Equal } from './equal-writes.ts';
import { readTag } from '../file/epoch.ts';
import { startHeadWriter } from '../file/head-file.ts';
import { createKnownSessions } from '../read/known-sessions.ts';
import type { LoneLimits } from '../write/lone-writer.ts';
import type { Place } from './place.ts';
import { createPresence, lostMessage } from '../file/presence.ts';
import { createReader, leftBehind } from '../read/reader.ts';
import { faultOf, refusalOf, type Refused, takenOver } from '../file/refusal.ts';
import { createUnansweredReplies } from '../unanswered-replies.ts';
import { createRoom, type Room } from '../file/room.ts';
import { type Door, protocolVersion, serveForwarders } from './serve-forwarders.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { createWriter, startThread, type Writer } from '../write/writer.ts';
import type { Spawn } from '../write/writer-thread.ts';

export interface Settings {
  readonly place: Place;
  readonly batch: BatchLimits;
  readonly lone: LoneLimits;
  readonly incarnation: IncarnationId;
  readonly maxPages: number | null;
  readonly markEveryMs: number;
  readonly answerWithinMs: number;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly spawn: Spawn;
  /** Whoever opens it settles first what an earlier owner left, and says when. */
  readonly recovers: boolean;
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
    await thread.close({ answered: null, nowMs: settings.nowMs(), isStale: false, age: thread.age });
    return giveUp(opened);
  }
  const { database } = opened;
  const replies = createUnansweredReplies(thread.epoch, leftBehind(database));
  const abandoned = createAbandonedIndex(database);
  const sessions = createKnownSessions();
  const equals = createEqualWrites(equalIn(database));
  const committed = (transition: Transition, result: CommitResult) => {
    abandoned.committed(transition, result);
    replies.committed(transition, result);
    if (result.kind === 'committed') equals.committed(transition);
  };
  const room = createRoom(file);
  const writer = overseen(createWriter(options, thread, { ...replies, committed }, sessions), room, (results) =>
    head.committed(results),
  );
  const reader = createReader(database, writer.age);
  const departures = createDepartures();
  const others = createAskOthers(equals, departures, () => door);
  const presence = createPresence(file);
  const newest = database.prepare('SELECT max(epoch) AS epoch FROM epochs');
  const trouble = (): StoreTrouble | null => {
    const gone = presence.problem();
    if (gone !== null) return { fault: 'lost', message: lostMessage(gone) };
    const { epoch: last } = newest.get() as { epoch: number };
    return last === thread.epoch ? room.trouble() : takenOver(file);
  };
  const recovered = Promise.withResolvers<void>();
  if (!settings.recovers) recovered.resolve();
  const { epoch, highestTimeMs } = thread;
  const head = await startHeadWriter(
    file,
    { store: readTag(database), epoch, seq: 1 },
    () => presence.problem() === null,
  );
  const answered = (position: Position) => {
    const call = replies.callAt(position);
    if (call !== undefined) equals.handedOver(call);
    writer.answered(position);
  };
  /** What forwarders handed over and the writer has. */
  const landing = new Map<IncarnationId, Set<Promise<unknown>>>();
  const land = <Result>(by: IncarnationId, writing: Promise<Result>): Promise<Result> => {
    const all = landing.get(by) ?? new Set();
    landing.set(by, all.add(writing));
    return writing.finally(() => all.delete(writing));
  };
  let door: Door | null = null;
  door = await serveForwarders(
    settings.place,
    { version: protocolVersion, epoch, highestTimeMs },
    {
      gone(incarnation) {
        // INVARIANT: what it left is settled once all that it handed over has landed, also what landed after its link ended.
        const landed = Promise.allSettled(landing.get(incarnation) ?? []);
        landing.delete(incarnation);
        // Only these: the process may be alive, and begin others on its next link meanwhile.
        const held = equals.heldBy(incarnation);
        void departures.tell(incarnation, landed).then(() => held.forEach(equals.handedOver));
      },
      async write(requests, { incarnation: by, isLinked }) {
        // INVARIANT: what an earlier owner left is on record first.
        await recovered.promise;
        for (const request of requests) equals.begins(request, by);
        const isKnown = (await others.ask(requests, by)) ?? true;
        // INVARIANT: after its link has ended nothing more of it is written, so that its calls can be settled.
        const results = isKnown && isLinked() ? await land(by, writer.write(requests)) : requests.map(() => notKnown);
        for (const [at, request] of requests.entries()) {
          const result = results[at] as CommitResult;
          equals.ended(request, result);
          if (!('erase' in request) && result.kind === 'committed') replies.forwarded(request, by);
        }
        return results;
      },
      answered,
    },
  );
  let closing: Promise<void> | null = null;
  const close = async () => {
    recovered.resolve();
    door?.close();
    await writer.drain();
    await head.close();
    presence.close();
    // Before the writer, so that its closing is the last and folds the log into the file.
    database.close();
    await writer.close();
    lock.free();
  };
  const store: SqliteStore = {
    ...reader,
    session: async (id) => sessions.find(id) ?? reader.session(id),
    abandoned: async (session, fingerprint, withinMs) =>
      abandoned.mayHave(session, fingerprint) ? reader.abandoned(session, fingerprint, withinMs) : null,
    async unanswered(limit, of) {
      if (of === undefined) return reader.unanswered(limit);
      // INVARIANT: who took the place of a requester is owed the reply, whichever process runs the call.
      const found: StoredCall[] = [];
      for (const id of new Set([...replies.owedBy(of), ...equals.heldBy(of)])) {
        const call = found.length < limit ? await reader.call(id as CallId) : null;
        if (call !== null && call.requesterLeftAtMs === null) found.push(call);
      }
      return found;
    },
    incarnation: settings.incarnation,
    highestTimeMs,
    commit(transitions, alone) {
      const asking = others.ask(transitions, null);
      if (asking === null) return writer.write(transitions, alone);
      return asking.then((isKnown) => (isKnown ? writer.write(transitions) : transitions.map(() => notKnown)));
    },
    async trouble() {
      if (closing !== null) return null;
      try {
        return trouble();
      } catch (error) {
        return faultOf(error, file);
      }
    },
    answered,
    erase: async (id, reason, atMs) => (await writer.write([{ erase: id, reason, atMs }]))[0] as CommitResult,
    onForwarderGone: departures.listen,
    onEqualWrite: others.listen,
    recovered: recovered.resolve,
    statistics: () => writer.statistics(),
    close: () => (closing ??= close()),
  };
  return { kind: 'opened', store, role: 'owner' };
}

/** INVARIANT: while there is no room nothing is written, neither for this process nor for a forwarder. */
function overseen(writer: Writer, room: Room, committed: (results: readonly CommitResult[]) => void): Writer {
  return {
    ...writer,
    async write(requests, alone) {
      const no = room.refuses();
      if (no !== null) return requests.map(() => ({ kind: 'unavailable', ...no }));
      const results = await writer.write(requests, alone);
      room.heard(results);
      committed(results);
      return results;
    },
  };
}

function equalIn(database: DatabaseSync): (id: CallId) => Equal | null {
  const find = database.prepare('SELECT session, fingerprint FROM calls WHERE id = ? AND session IS NOT NULL');
  return (id) => (find.get(id) as Equal | undefined) ?? null;
}
