/** Opens the store as its owner: the process that holds the lock, and writes for itself and for every forwarder. */
import type { DatabaseSync } from 'node:sqlite';

import type { CallId, IncarnationId } from '../../../core/call/call.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult, StoredCall, StoreTrouble, Transition } from '../../../ports/store.ts';
import {
  type AskForwarders,
  createAskForwarders,
  createDepartures,
  type Departures,
  notKnown,
} from './ask-forwarders.ts';
import type { BatchLimits } from '../write/commit-queue.ts';
import { createPrivately, type Lock } from './lock.ts';
import { openForReading } from '../read/open-reader.ts';
import { createAbandonedIndex } from '../read/abandoned-index.ts';
import { createTicketIndex } from '../read/ticket-index.ts';
import { createEqualWrites, type Equal, type EqualWrites } from './equal-writes.ts';
import { readTag } from '../file/epoch.ts';
import { startHeadWriter } from '../file/head-file.ts';
import { createKnownSessions } from '../read/known-sessions.ts';
import type { Place } from './place.ts';
import { createPresence, lostMessage, type Presence } from '../file/presence.ts';
import { createReader, leftBehind } from '../read/reader.ts';
import { faultOf, refusalOf, type Refused, takenOver } from '../file/refusal.ts';
import { createUnansweredReplies, type UnansweredReplies } from '../unanswered-replies.ts';
import { createFreeSpace, type FreeSpace } from '../file/free-space.ts';
import { type Door, type ForwarderEvents, protocolVersion, serveForwarders } from './serve-forwarders.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { createWriter, startThread, type Writer } from '../write/writer.ts';
import type { Spawn, WriterThread } from '../write/writer-thread.ts';

export interface Settings {
  readonly place: Place;
  readonly batch: BatchLimits;
  readonly incarnation: IncarnationId;
  readonly maxPages: number | null;
  readonly markEveryMs: number;
  readonly answerWithinMs: number;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly spawn: Spawn;
  /** The opener settles first what an earlier owner left, and calls `recovered` then. */
  readonly recovers: boolean;
}

export async function openOwner(
  settings: Settings,
  lock: Lock,
): Promise<{ kind: 'opened'; store: SqliteStore; role: 'owner' } | Refused> {
  const started = await start(settings);
  if (started.kind === 'refused') {
    lock.free();
    return started;
  }
  return { kind: 'opened', store: await createOwner(settings, started, lock), role: 'owner' };
}

interface Started {
  readonly kind: 'started';
  readonly thread: WriterThread;
  /** A connection that only reads. */
  readonly database: DatabaseSync;
}

async function start(settings: Settings): Promise<Started | Refused> {
  const { file } = settings.place;
  try {
    createPrivately(file);
  } catch (error) {
    return refusalOf(error, file);
  }
  const thread = await startThread({ ...settings, file }, null);
  if ('kind' in thread) return thread;
  const opened = await openForReading(file);
  if (opened.kind === 'opened') return { kind: 'started', thread, database: opened.database };
  await thread.close({ answered: null, nowMs: settings.nowMs(), age: thread.age });
  return opened;
}

async function createOwner(settings: Settings, { thread, database }: Started, lock: Lock): Promise<SqliteStore> {
  const { file } = settings.place;
  const { epoch, highestTimeMs } = thread;
  const replies = createUnansweredReplies(epoch, leftBehind(database));
  const abandoned = createAbandonedIndex(database);
  const tickets = createTicketIndex(database);
  const sessions = createKnownSessions();
  const equals = createEqualWrites(equalIn(database));
  const committed = (transition: Transition, result: CommitResult) => {
    abandoned.committed(transition, result);
    tickets.committed(transition, result);
    replies.committed(transition, result);
    if (result.kind === 'committed') equals.committed(transition);
  };
  const space = createFreeSpace(file);
  const plainWriter = createWriter({ ...settings, file }, thread, { ...replies, committed }, sessions);
  const writer = refuseWhileFull(plainWriter, space, (results) => head.committed(results));
  const reader = createReader(database, writer.age);
  const departures = createDepartures();
  const others = createAskForwarders(equals, departures, () => door);
  const presence = createPresence(file);
  const trouble = createTroubleCheck(settings.place.file, database, epoch, presence, space);
  const recovered = Promise.withResolvers<void>();
  if (!settings.recovers) recovered.resolve();
  const first = { store: readTag(database), epoch, seq: 1 };
  const head = await startHeadWriter(file, first, () => presence.problem() === null);
  const answered = (position: Position) => {
    const call = replies.callAt(position);
    if (call !== undefined) equals.handedOver(call);
    writer.answered(position);
  };
  const forwarding = writeForForwarders({ writer, replies, equals, others, departures, recovered: recovered.promise });
  let door: Door | null = null;
  door = await serveForwarders(
    settings.place,
    { version: protocolVersion, epoch, highestTimeMs },
    { ...forwarding, answered },
  );
  let closing: Promise<void> | null = null;
  const close = async () => {
    recovered.resolve();
    door?.close();
    await writer.drain();
    await head.close();
    presence.close();
    // Before the writer, so that its connection is the last and folds the log into the file.
    database.close();
    await writer.close();
    lock.free();
  };
  return {
    ...reader,
    session: async (id) => sessions.find(id) ?? reader.session(id),
    abandoned: async (session, fingerprint, withinMs) =>
      abandoned.mayHave(session, fingerprint) ? reader.abandoned(session, fingerprint, withinMs) : null,
    ticketFences: async (session) => (tickets.mayFence(session) ? reader.ticketFences(session) : []),
    continuing: async (session, fingerprint) =>
      tickets.mayGoOn(session) ? reader.continuing(session, fingerprint) : null,
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
    commit(transitions) {
      const asking = others.ask(transitions, null);
      if (asking === null) return writer.write(transitions);
      return asking.then((isKnown) => (isKnown ? writer.write(transitions) : transitions.map(() => notKnown)));
    },
    trouble: async () => (closing === null ? trouble() : null),
    answered,
    erase: async (id, reason, atMs) => (await writer.write([{ erase: id, reason, atMs }]))[0] as CommitResult,
    onForwarderGone: departures.listen,
    onEqualWrite: others.listen,
    recovered: recovered.resolve,
    statistics: () => writer.statistics(),
    close: () => (closing ??= close()),
  };
}

interface Forwarding {
  readonly writer: Writer;
  readonly replies: UnansweredReplies;
  readonly equals: EqualWrites;
  readonly others: AskForwarders;
  readonly departures: Departures;
  /** Resolves when what an earlier owner left is settled. */
  readonly recovered: Promise<void>;
}

/** Writes what forwarders hand over, and has settled what a forwarder leaves when its link ends. */
function writeForForwarders(parts: Forwarding): Pick<ForwarderEvents, 'gone' | 'write'> {
  const { writer, replies, equals, others, departures } = parts;
  /** What forwarders handed over and the writer has. */
  const writing = new Map<IncarnationId, Set<Promise<unknown>>>();
  const track = <Result>(by: IncarnationId, one: Promise<Result>): Promise<Result> => {
    const all = writing.get(by) ?? new Set();
    writing.set(by, all.add(one));
    return one.finally(() => all.delete(one));
  };
  return {
    gone(incarnation) {
      // INVARIANT: what it left is settled once all that it handed over is written, also what is written after its link
      // ended.
      const written = Promise.allSettled(writing.get(incarnation) ?? []);
      writing.delete(incarnation);
      // Only these: the process may be alive, and begin others on its next link meanwhile.
      const held = equals.heldBy(incarnation);
      void departures.tell(incarnation, written).then(() => held.forEach(equals.handedOver));
    },
    async write(requests, { incarnation: by, isLinked }) {
      // INVARIANT: what an earlier owner left is on record first.
      await parts.recovered;
      for (const request of requests) equals.begins(request, by);
      const isKnown = (await others.ask(requests, by)) ?? true;
      // INVARIANT: after its link has ended nothing more of it is written, so that its calls can be settled.
      const results = isKnown && isLinked() ? await track(by, writer.write(requests)) : requests.map(() => notKnown);
      for (const [at, request] of requests.entries()) {
        const result = results[at] as CommitResult;
        equals.ended(request, result);
        if (!('erase' in request) && result.kind === 'committed') replies.forwarded(request, by);
      }
      return results;
    },
  };
}

/** INVARIANT: while the disk is full nothing is written, neither for this process nor for a forwarder. */
function refuseWhileFull(
  writer: Writer,
  space: FreeSpace,
  committed: (results: readonly CommitResult[]) => void,
): Writer {
  return {
    ...writer,
    async write(requests) {
      const full = space.checkForCommit();
      if (full !== null) return requests.map(() => ({ kind: 'unavailable', ...full }));
      const results = await writer.write(requests);
      space.committed(results);
      committed(results);
      return results;
    },
  };
}

/** Finds out without a commit why one would fail now. */
function createTroubleCheck(
  file: string,
  database: DatabaseSync,
  epoch: number,
  presence: Presence,
  space: FreeSpace,
): () => StoreTrouble | null {
  const newest = database.prepare('SELECT max(epoch) AS epoch FROM epochs');
  return () => {
    try {
      const gone = presence.problem();
      if (gone !== null) return { fault: 'lost', message: lostMessage(gone) };
      const { epoch: last } = newest.get() as { epoch: number };
      return last === epoch ? space.check() : takenOver(file);
    } catch (error) {
      return faultOf(error, file);
    }
  };
}

function equalIn(database: DatabaseSync): (id: CallId) => Equal | null {
  const find = database.prepare('SELECT session, fingerprint FROM calls WHERE id = ? AND session IS NOT NULL');
  return (id) => (find.get(id) as Equal | undefined) ?? null;
}
