/**
 * Writes many transitions with one fsync: one BEGIN, each transition by itself, one COMMIT. If the disk fails, nothing
 * of the batch happened. If one transition cannot be written, the batch runs again with a savepoint around each, so
 * that only it is refused.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CommitResult, StoreTrouble, Transition } from '../../../ports/store.ts';
import { applyTransition, type Writing } from './apply-transition.ts';
import type { Chain } from './chain.ts';
import { readTail } from '../file/epoch.ts';
import { createPresence, lostMessage } from '../file/presence.ts';
import { eraseCall, type EraseRequest } from './erase-call.ts';
import { illegal } from './examine.ts';
import { createLedger } from './ledger.ts';
import { faultOf, isEnvironmental, takenOver, textOf } from '../file/refusal.ts';
import type { Statements } from './statements.ts';

export type WriteRequest = Transition | EraseRequest;

export interface Batch {
  readonly requests: readonly WriteRequest[];
  /** Adds what has arrived in the meantime to the requests; false if nothing has. */
  more(): boolean;
  /** How old the store is. */
  readonly age: number;
  /** The mark up to which replies reached their requesters, if it moved. */
  answered(): number | null;
}

const purgeAtOnce = 64;
const purgeEveryMs = 1_000;
const tokensKept = 10_000;

/** Another process owns the file now. */
class Fenced extends Error {}
/** The file that is written is not the store any more. */
class Lost extends Error {}
const isFinal = (error: unknown): boolean => error instanceof Fenced || error instanceof Lost;

export function createBatchWriter(database: DatabaseSync, statements: Statements, chain: Chain, file: string) {
  const presence = createPresence(file);
  let lost: string | null = null;
  const writing: Writing = { statements, chain, ledger: createLedger(statements), age: 0 };
  const { ledger } = writing;
  const { epoch } = chain.head();
  const keepAge = createAgeKeeper(statements, epoch);
  let headIsCertain = true;
  let erasing = false;

  const apply = (request: WriteRequest): CommitResult => {
    if (!('erase' in request)) return applyTransition(request, writing);
    // What was erased must not be readable in free pages or in the log.
    if (!erasing) database.exec('PRAGMA secure_delete = ON');
    erasing = true;
    return eraseCall(request, writing);
  };

  const applyInSavepoint = (request: WriteRequest): CommitResult => {
    const before = chain.head();
    database.exec('SAVEPOINT one');
    try {
      const result = apply(request);
      ledger.flush();
      database.exec('RELEASE one');
      return result;
    } catch (error) {
      if (isEnvironmental(error)) throw error;
      database.exec('ROLLBACK TO one; RELEASE one');
      ledger.forget();
      chain.reset(before);
      return illegal(`the transition cannot be written: ${textOf(error)}`);
    }
  };

  const begin = () => {
    if (lost !== null) throw new Lost(lostMessage(lost));
    statements.begin.run();
    const newest = statements.newestEpoch.get() as { epoch: number } | undefined;
    // INVARIANT: a writer that was replaced writes nothing more.
    if (newest?.epoch !== epoch) throw new Fenced();
    if (headIsCertain) return;
    const { head, timeMs, nextPayload } = readTail(database);
    if (head === null || head.epoch !== epoch) throw new Fenced();
    chain.reset({ ...head, timeMs, nextPayload });
    headIsCertain = true;
  };

  const finish = (batch: Batch) => {
    ledger.flush();
    const answered = batch.answered();
    if (answered !== null) statements.answered.run(answered, epoch);
    keepAge(batch.age);
    if (batch.requests.some(keepsToken)) statements.purgeTokens.run(tokensKept);
    statements.commit.run();
    // INVARIANT: nothing is acknowledged that was written into a file which nobody will find again.
    lost ??= presence.problem();
    if (lost !== null) throw new Lost(lostMessage(lost));
    ledger.committed();
  };

  const undo = () => {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // Ignored: the next BEGIN will say what is wrong.
    }
    ledger.forget();
    // INVARIANT: after a COMMIT with an unknown outcome the head is read from the file before going on.
    headIsCertain = false;
  };

  const attempt = (batch: Batch, applyOne: (request: WriteRequest) => CommitResult): CommitResult[] => {
    try {
      begin();
      writing.age = batch.age;
      const results: CommitResult[] = [];
      while (results.length < batch.requests.length || batch.more())
        results.push(applyOne(batch.requests[results.length] as WriteRequest));
      finish(batch);
      return results;
    } catch (error) {
      undo();
      if (!isEnvironmental(error) && !isFinal(error) && applyOne === apply) return attempt(batch, applyInSavepoint);
      // A file that is gone fails in many ways; that it is gone is what must be said.
      lost ??= error instanceof Fenced ? null : presence.problem();
      const { fault, message } = troubleOf(lost === null ? error : new Lost(lostMessage(lost)), file);
      return batch.requests.map(() => ({ kind: 'unavailable', fault, message }));
    }
  };

  return {
    run(batch: Batch): CommitResult[] {
      const results = attempt(batch, apply);
      if (erasing) database.exec('PRAGMA secure_delete = OFF; PRAGMA wal_checkpoint(TRUNCATE)');
      erasing = false;
      return results;
    },
    /** The plain sessions that this batch changed; null if that is not known. */
    changed: () => ledger.changed(),
    /** Writes the last record of the epoch. Throws if it cannot: then the next opening says `after_crash`. */
    close(answered: number | null, nowMs: number, age: number): void {
      begin();
      statements.age.run(age, epoch);
      if (answered !== null) statements.answered.run(answered, epoch);
      chain.append({ kind: 'epoch_close', call: null, session: null, body: '{}', payloads: [] }, 0, nowMs);
      statements.closeEpoch.run(nowMs, epoch);
      statements.commit.run();
    },
    /** Before the connection closes. */
    leave: () => presence.close(),
  };
}

/** Writes the age of the store, and forgets keys that are too old by it, once a second. */
function createAgeKeeper(statements: Statements, epoch: number): (age: number) => void {
  /** The age at which no expired key was left. */
  let purgedAt = 0;
  let writtenAge = 0;
  return (age) => {
    // INVARIANT: a key is forgotten by the age of the store, whatever times the transitions tell.
    if (age - purgedAt >= purgeEveryMs) {
      const expired = statements.expiredKeys.all(age, purgeAtOnce) as { tenant: string; agent: string; key: string }[];
      for (const { tenant, agent, key } of expired) statements.deleteKey.run(tenant, agent, key);
      // As long as there are more, every batch takes its share.
      if (expired.length < purgeAtOnce) purgedAt = age;
    }
    if (age - writtenAge < purgeEveryMs) return;
    statements.age.run(age, epoch);
    writtenAge = age;
  };
}

/** Transitions that move no call keep their tokens in a table of their own. */
const keepsToken = (request: WriteRequest): boolean =>
  !('erase' in request) && (request.call === null || request.call.kind === 'mark');

function troubleOf(error: unknown, file: string): StoreTrouble {
  if (error instanceof Fenced) return takenOver(file);
  return error instanceof Lost ? { fault: 'lost', message: error.message } : faultOf(error, file);
}
