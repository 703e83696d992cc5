/**
 * How do many transitions share one fsync? One BEGIN, each transition by itself, one COMMIT. If the disk fails, nothing
 * of the batch happened and all are told so. If one transition cannot be written, the batch runs again with a savepoint
 * around each, so that only this one is refused.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CommitResult, Transition } from '../../ports/store.ts';
import { applyTransition, type Writing } from './apply-transition.ts';
import type { Chain } from './chain.ts';
import { readTail } from './epoch.ts';
import { eraseCall, type EraseRequest } from './erase-call.ts';
import { illegal } from './examine.ts';
import { createLedger } from './ledger.ts';
import { faultOf, isEnvironmental, sqlite, sqliteCode, textOf } from './refusal.ts';
import type { Statements } from './statements.ts';

export type WriteRequest = Transition | EraseRequest;

export interface Batch {
  readonly requests: readonly WriteRequest[];
  /** Adds what has arrived in the meantime to the requests; false if nothing has. */
  more(): boolean;
  /** The mark up to which replies reached their requesters, if it moved. */
  answered(): number | null;
}

type KeyName = { tenant: string; agent: string; key: string };

/** In the form of SQLite's own. */
const lockedOut = Object.assign(new Error('the file is locked'), { errcode: sqlite.busy });

const purgeAtOnce = 64;
const purgeEveryMs = 1_000;
const tokensKept = 10_000;

class Fenced extends Error {}
/** Somebody else holds the file, and nothing was written. */
class Locked extends Error {}

export function createBatchWriter(database: DatabaseSync, statements: Statements, chain: Chain, file: string) {
  const writing: Writing = { statements, chain, ledger: createLedger(statements) };
  const { ledger } = writing;
  const { epoch } = chain.head();
  let headIsCertain = true;
  let purgedAtMs = 0;

  let erasing = false;

  const apply = (request: WriteRequest): CommitResult => {
    if (!('erase' in request)) return applyTransition(request, writing);
    // What was erased must not be readable in free pages or in the log.
    if (!erasing) database.exec('PRAGMA secure_delete = ON');
    erasing = true;
    return eraseCall(request, writing);
  };

  const applyCarefully = (request: WriteRequest): CommitResult => {
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
    try {
      statements.begin.run();
    } catch (error) {
      throw sqliteCode(error) === sqlite.busy ? new Locked(textOf(error)) : error;
    }
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
    let nowMs = 0;
    let tokens = false;
    for (const request of batch.requests) {
      if (request.atMs > nowMs) nowMs = request.atMs;
      tokens ||= !('erase' in request) && (request.call === null || request.call.kind === 'mark');
    }
    if (nowMs - purgedAtMs >= purgeEveryMs) {
      const expired = statements.expiredKeys.all(nowMs, purgeAtOnce) as KeyName[];
      for (const { tenant, agent, key } of expired) statements.deleteKey.run(tenant, agent, key);
      // As long as there are more, every batch takes its share.
      if (expired.length < purgeAtOnce) purgedAtMs = nowMs;
    }
    if (tokens) statements.purgeTokens.run(tokensKept);
    statements.commit.run();
    ledger.committed();
  };

  const undo = () => {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // The next BEGIN will say what is wrong.
    }
    ledger.forget();
    // INVARIANT: after a COMMIT with an unknown outcome the head is read from the file before going on.
    headIsCertain = false;
  };

  const attempt = (batch: Batch, applyOne: (request: WriteRequest) => CommitResult): CommitResult[] => {
    try {
      begin();
      const results: CommitResult[] = [];
      while (results.length < batch.requests.length || batch.more())
        results.push(applyOne(batch.requests[results.length] as WriteRequest));
      finish(batch);
      return results;
    } catch (error) {
      undo();
      if (error instanceof Locked) throw error;
      if (!isEnvironmental(error) && !(error instanceof Fenced) && applyOne === apply)
        return attempt(batch, applyCarefully);
      return allUnavailable(batch, error);
    }
  };

  const allUnavailable = ({ requests }: Batch, error: unknown): CommitResult[] => {
    const fenced = `another process has taken '${file}' over: stop this one`;
    const { fault, message } =
      error instanceof Fenced ? { fault: 'fenced' as const, message: fenced } : faultOf(error, file);
    return requests.map(() => ({ kind: 'unavailable', fault, message }));
  };

  /** Null while somebody else holds the file. */
  const tryRun = (batch: Batch): CommitResult[] | null => {
    try {
      return attempt(batch, apply);
    } catch (error) {
      if (error instanceof Locked) return null;
      throw error;
    }
  };

  return {
    tryRun,
    run(batch: Batch): CommitResult[] {
      const results = tryRun(batch) ?? allUnavailable(batch, lockedOut);
      if (erasing) database.exec('PRAGMA secure_delete = OFF; PRAGMA wal_checkpoint(TRUNCATE)');
      erasing = false;
      return results;
    },
    /** Another connection of this process has written since: nothing that is remembered of the file holds. */
    lookAgain(): void {
      ledger.lookAgain();
      headIsCertain = false;
    },
    /** The plain sessions that this batch changed; null if nobody can say. */
    changed: () => ledger.changed(),
    /** The last record of the epoch. Throws if it cannot be written: then the next opening says `after_crash`. */
    close(answered: number | null, nowMs: number): void {
      begin();
      if (answered !== null) statements.answered.run(answered, epoch);
      chain.append({ kind: 'epoch_close', call: null, session: null, body: '{}', payloads: [] }, 0, nowMs);
      statements.closeEpoch.run(nowMs, epoch);
      statements.commit.run();
    },
  };
}
