/**
 * The store of a process beside the owner: it reads the file itself and hands its commits to the owner. When the owner
 * is gone its commits are `owner_gone`; the next one looks for a new owner. It never takes over: a person restarts one
 * of the two.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CommitResult, StoreFault, StoreTrouble } from '../../../ports/store.ts';
import type { WriteRequest } from '../write/batch.ts';
import type { Equal } from './equal-writes.ts';
import { readTail } from '../file/epoch.ts';
import { maxFrameBytes } from './frames.ts';
import { takeLock } from './lock.ts';
import { type OwnerLink, linkToOwner } from './owner-link.ts';
import type { Settings } from './owner.ts';
import { createReader } from '../read/reader.ts';
import { textOf } from '../file/refusal.ts';
import type { SqliteStore } from '../sqlite-store.ts';

const framesInFlight = 8;
/** An owner that is busy answers this within milliseconds. */
const answersWithinMs = 3_000;

export type Questions = ReturnType<typeof createQuestions>;

/** Passes the owner's questions to the listener. Without one this process has no requesters. */
export function createQuestions() {
  let listener: (equal: Equal) => Promise<boolean> = () => Promise.resolve(true);
  return {
    // Ignored: a requester that cannot be looked up counts as gone.
    known: (equal: Equal): Promise<boolean> => listener(equal).catch(() => false),
    listen: (callback: (equal: Equal) => Promise<boolean>): void => void (listener = callback),
  };
}

export function createForwarder(
  settings: Settings,
  database: DatabaseSync,
  first: OwnerLink,
  questions: Questions,
): SqliteStore {
  const { place, incarnation, batch } = settings;
  let link: OwnerLink = first;
  let linking: Promise<OwnerLink | null> | null = null;
  const inFlight = { requests: 0, characters: 0 };
  let closed = false;
  /** The link whose owner did not answer last time: nothing is sent there until it answers. */
  let silentLink: OwnerLink | null = null;

  const unavailable = (fault: StoreFault, message: string): CommitResult => ({ kind: 'unavailable', fault, message });

  const relink = async (): Promise<OwnerLink | null> => {
    const found = await linkToOwner({ ...settings, known: questions.known });
    linking = null;
    if (found !== null) link = found;
    return found;
  };

  /** A search that began earlier may have come too early: then it is made once more. */
  const findOwner = async () => {
    const found = linking === null ? null : await linking;
    return found ?? (linking ??= relink());
  };

  const silent: StoreTrouble = {
    fault: 'no_owner',
    message: `the process that owns '${place.file}' does not answer: wait until it is up, or restart it`,
  };

  const whyGone = async (): Promise<StoreTrouble> => {
    const lock = await takeLock(place.lock);
    if (lock.kind === 'held') lock.free();
    if (lock.kind !== 'held') return silent;
    const gone = `the process that owned '${place.file}' is gone: restart it or this one, so that one of them owns the file`;
    return { fault: 'no_owner', message: gone };
  };

  const send = async (requests: readonly string[]): Promise<readonly CommitResult[]> => {
    if (link === silentLink && link.alive()) return requests.map(() => unavailable(silent.fault, silent.message));
    const owner = link.alive() ? link : await findOwner();
    if (owner === null) {
      const { fault, message } = await whyGone();
      return requests.map(() => unavailable(fault, message));
    }
    const results = await owner.commit(requests);
    if (results === null) {
      const lost = `the process that owns '${place.file}' was lost while it wrote: nobody knows whether it did`;
      return requests.map(() => unavailable('owner_gone', lost));
    }
    if (results !== 'too_large') return results;
    const [only] = requests;
    if (requests.length === 1 && only !== undefined)
      return [{ kind: 'conflict', on: 'illegal', problem: `a transition of ${only.length} characters is too large` }];
    // Together they do not fit into a frame; each is sent by itself.
    return (await Promise.all(requests.map((request) => send([request])))).flat();
  };

  const write = async (requests: readonly WriteRequest[]): Promise<readonly CommitResult[]> => {
    const all = (result: CommitResult) => requests.map(() => result);
    if (closed) return all(unavailable('closed', `the store '${place.file}' is closed`));
    let texts: string[];
    try {
      texts = requests.map((request) => JSON.stringify(request));
    } catch (error) {
      return all({ kind: 'conflict', on: 'illegal', problem: `a transition is not plain data: ${textOf(error)}` });
    }
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    const full = inFlight.requests + texts.length > batch.maxQueued;
    if (full || (inFlight.requests > 0 && inFlight.characters + characters > maxFrameBytes * framesInFlight))
      return all(unavailable('overloaded', `too many commits wait for '${place.file}': ask again later`));
    inFlight.requests += texts.length;
    inFlight.characters += characters;
    const results: CommitResult[] = [];
    for (let at = 0; at < texts.length; at += batch.maxTransitions)
      results.push(...(await send(texts.slice(at, at + batch.maxTransitions))));
    inFlight.requests -= texts.length;
    inFlight.characters -= characters;
    return results;
  };

  return {
    ...createReader(database),
    incarnation,
    // Others may have written since the owner opened the file.
    highestTimeMs: Math.max(first.welcome.highestTimeMs, readTail(database).timeMs),
    commit: write,
    async trouble() {
      if (closed) return null;
      const owner = link.alive() ? link : await findOwner();
      if (owner === null) return whyGone();
      const answers = await owner.answers(answersWithinMs);
      // A connection that was lost meanwhile says nothing about the next owner.
      if (!answers && !owner.alive()) return whyGone();
      silentLink = answers ? null : owner;
      return answers ? null : silent;
    },
    answered: (position) => link.answered(position),
    erase: async (id, reason, atMs) => (await write([{ erase: id, reason, atMs }]))[0] as CommitResult,
    onForwarderGone: () => () => {},
    onEqualWrite: questions.listen,
    recovered: () => {},
    statistics: () => ({ batches: 0, requests: 0 }),
    async close() {
      if (closed) return;
      closed = true;
      link.close();
      database.close();
    },
  };
}
