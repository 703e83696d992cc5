/**
 * Who writes a commit that comes alone? The thread that asks for it: to hand it to the worker and back takes about as long
 * as the disk. Only for a disk that answers at once, and only while the worker has nothing: see writer.ts, which asks.
 */
import type { CommitResult, Session } from '../../../ports/store.ts';
import { type Batch, createBatchWriter } from './batch.ts';
import { openForWriting } from '../file/connection.ts';
import { readTail, resumeEpoch } from '../file/epoch.ts';
import { prepareStatements } from './statements.ts';

export interface LoneLimits {
  /** So many must have come alone, one after the other, before this thread opens the file: a command that makes one call never does. */
  readonly after: number;
  /** Of so many one goes to the worker all the same: it folds the log into the file, which nobody should wait for. */
  readonly foldEvery: number;
  /** What holds more text than this is written by the worker. */
  readonly maxBytes: number;
  /** A commit that took longer is slow: */
  readonly maxMs: number;
  /** of so many, one after the other, the disk is, and the next ones are the worker's */
  readonly maxSlow: number;
  /** for this long. */
  readonly restMs: number;
}

export const defaultLone: LoneLimits = {
  after: 8,
  foldEvery: 64,
  maxBytes: 64 << 10,
  maxMs: 5,
  maxSlow: 3,
  restMs: 10_000,
};

/** For a process that has more to do than to serve. */
export const neverLone: LoneLimits = { ...defaultLone, after: Number.POSITIVE_INFINITY };

/** Pages of this connection alone; the worker's cache is larger. */
const cacheKibibytes = 8 * 1_024;

export interface Written {
  readonly results: readonly CommitResult[];
  readonly sessions: readonly Session[] | null;
}

export type LoneWriter = ReturnType<typeof createLoneWriter>;

export function createLoneWriter(file: string, maxPages: number | null, epoch: number, limits: LoneLimits) {
  let opened: Opened | 'not yet' | 'cannot' = 'not yet';
  let inARow = 0;
  let restsUntil = 0;
  let slowInARow = 0;
  /** The worker may have written since: what is remembered of the file does not hold. */
  let isStale = true;

  return {
    /** Whether this thread would write a commit of that size now. Each question counts as a commit that came alone. */
    takes(bytes: number): boolean {
      inARow += 1;
      if (inARow <= limits.after || inARow % limits.foldEvery === 0) return false;
      return opened !== 'cannot' && bytes <= limits.maxBytes && performance.now() >= restsUntil;
    },
    /** Somebody else was there, too. */
    isNotAlone(): void {
      inARow = 0;
    },
    /** The worker has been given something to write. */
    workerWrites(): void {
      isStale = true;
    },
    /** Null where the file cannot be had at this moment, and nothing was written: the worker may wait for it. */
    write(batch: Batch): Written | null {
      if (opened === 'not yet') opened = open(file, maxPages, epoch) ?? 'cannot';
      if (opened === 'cannot') return null;
      const { writer } = opened;
      if (isStale) writer.lookAgain();
      isStale = false;
      const started = performance.now();
      const results = writer.tryRun(batch);
      const ended = performance.now();
      slowInARow = ended - started > limits.maxMs ? slowInARow + 1 : 0;
      if (slowInARow >= limits.maxSlow) restsUntil = ended + limits.restMs;
      return results === null ? null : { results, sessions: writer.changed() };
    },
    /** Before the worker closes: its connection is the last, and folds the log into the file. */
    close(): void {
      if (typeof opened !== 'string') opened.close();
      opened = 'cannot';
    },
  };
}

interface Opened {
  readonly writer: ReturnType<typeof createBatchWriter>;
  close(): void;
}

/** Null if it cannot be opened: the worker has it open, and goes on. */
function open(file: string, maxPages: number | null, epoch: number): Opened | null {
  try {
    const opening = openForWriting(file, maxPages);
    if (opening.kind === 'refused') return null;
    const { database } = opening;
    // Who holds the file is not waited for, and the log is the worker's to fold.
    database.exec(`PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -${cacheKibibytes}`);
    const statements = prepareStatements(database);
    const chain = resumeEpoch(database, statements, readTail(database), epoch);
    if (chain !== null) {
      const writer = createBatchWriter(database, statements, chain, file);
      const close = () => {
        writer.leave();
        database.close();
      };
      return { writer, close };
    }
    database.close();
  } catch {
    // Whatever it is, the worker will meet it, too, and say so.
  }
  return null;
}
