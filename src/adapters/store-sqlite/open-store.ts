/**
 * Opens the store: checks the file without touching it, takes its lock and owns it. If another process holds the lock,
 * opens a forwarder that hands its commits to the owner. A refusal says what to do.
 */
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import type { IncarnationId } from '../../core/call/call.ts';
import { type BatchLimits, defaultBatch } from './write/commit-queue.ts';
import { createForwarder, createQuestions, type Questions } from './share/forwarder.ts';
import { type Begin, checkHead } from './file/head-file.ts';
import { openForReading } from './read/open-reader.ts';
import { openOwner, type Settings } from './share/owner.ts';
import { defaultAnswerWithinMs, type OwnerLink, linkToOwner } from './share/owner-link.ts';
import { takeLock } from './share/lock.ts';
import { placeOfStore } from './share/place.ts';
import { refuse, type RefusalReason, type Refused } from './file/refusal.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { type Spawn, spawnWorker } from './write/writer-thread.ts';

export interface OpenOptions {
  readonly file: string;
  /** Whether a store may be made; where there was none if not given. */
  readonly begin?: Begin;
  readonly batch?: Partial<BatchLimits>;
  readonly incarnation?: IncarnationId;
  /** The file grows to at most this many pages of 4 KiB; beyond, commits answer `disk_full`. */
  readonly maxPages?: number;
  /** How often the mark of answered replies is written, at most; 100 ms by default. */
  readonly markEveryMs?: number;
  readonly nowMs?: () => number;
  /** By which the age of the store is counted. */
  readonly monotonicMs?: () => number;
  /** How long to wait for an owner that holds the lock and does not answer yet. */
  readonly patienceMs?: number;
  /** How long a commit that was handed to the owner waits for its answer; 10 s by default. */
  readonly answerWithinMs?: number;
  /** Forwarders wait with their commits until `recovered` is called. */
  readonly recovers?: boolean;
  /** How the writer's thread is started; tests keep hold of it here. */
  readonly spawn?: Spawn;
}

const defaultPatienceMs = 10_000;
const askEveryMs = 50;

export type OpenResult =
  | { readonly kind: 'opened'; readonly store: SqliteStore; readonly role: 'owner' | 'forwarder' }
  | Refused<Exclude<RefusalReason, 'missing'>>;

export async function openSqliteStore(options: OpenOptions): Promise<OpenResult> {
  const place = placeOfStore(options.file);
  if (place === null)
    return refuse('not_writable', `the folder of '${options.file}' does not exist: create it, or name another file`);
  const unfit = unfitName(place.file, options.file);
  if (unfit !== null) return unfit;
  const misplaced = await lookAt(place.file, options.begin ?? 'if_none');
  if (misplaced !== null) return misplaced;

  const settings: Settings = {
    place,
    batch: { ...defaultBatch, ...options.batch },
    incarnation: options.incarnation ?? (`inc_${randomUUID()}` as IncarnationId),
    maxPages: options.maxPages ?? null,
    markEveryMs: options.markEveryMs ?? 100,
    answerWithinMs: options.answerWithinMs ?? defaultAnswerWithinMs,
    nowMs: options.nowMs ?? Date.now,
    monotonicMs: options.monotonicMs ?? (() => performance.now()),
    spawn: options.spawn ?? spawnWorker,
    recovers: options.recovers ?? false,
  };
  return (await own(settings, options.patienceMs ?? defaultPatienceMs)) as OpenResult;
}

/** INVARIANT: a store that is not what was here before is never used, nor made, without a word. */
async function lookAt(file: string, begin: Begin): Promise<Refused<Exclude<RefusalReason, 'missing'>> | null> {
  const looked = await openForReading(file);
  if (looked.kind === 'refused')
    return looked.reason === 'missing' ? checkHead(file, null, begin) : (looked as Refused<'io'>);
  try {
    return checkHead(file, looked.empty ? null : looked.database, begin);
  } finally {
    looked.database.close();
  }
}

/**
 * Checks what the name refers to: SQLite would wait for a pipe forever, and says nothing useful about a broken link.
 */
function unfitName(file: string, name: string): Refused<'not_a_store' | 'not_writable'> | null {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) return null;
    if (found.isDirectory()) return refuse('not_a_store', `'${name}' is a folder: name a file in it`);
    return refuse('not_a_store', `'${name}' is not a file: name another`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return refuse('not_writable', `'${name}' cannot be looked at (${code}): check the name, its folder and its rights`);
  }
}

/** An owner that is just starting holds the lock before it answers, so asking once is not enough. */
async function own(settings: Settings, patienceMs: number): Promise<OpenResult | Refused> {
  const { place } = settings;
  const until = performance.now() + patienceMs;
  for (;;) {
    const lock = await takeLock(place.lock);
    if (lock.kind === 'held') return openOwner(settings, lock);
    if (lock.kind === 'refused') return lock;
    const questions = createQuestions();
    const link = await linkToOwner({ ...settings, known: questions.known });
    if (link !== null) return forward(settings, link, questions);
    if (performance.now() >= until) break;
    await pause(askEveryMs);
  }
  const message = `another process owns '${place.file}' and does not answer at '${place.socket}': stop it, then start again`;
  return refuse('locked', message);
}

async function forward(settings: Settings, link: OwnerLink, questions: Questions): Promise<OpenResult | Refused> {
  const opened = await openForReading(settings.place.file);
  if (opened.kind === 'refused') {
    link.close();
    return opened;
  }
  return { kind: 'opened', store: createForwarder(settings, opened.database, link, questions), role: 'forwarder' };
}
