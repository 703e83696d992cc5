/**
 * How does a commit reach the worker and come back? Requests queue; whenever the worker is idle, all that fit go to it
 * as one batch: the slower the disk, the larger the batches, and nobody waits for a timer. If the worker dies, what it
 * had is `unavailable`, and the next commit starts another, which goes on in the same epoch: the lock is still ours.
 */
import type { Position } from '../../core/journal/record.ts';
import type { CommitResult, StoreFault } from '../../ports/store.ts';
import type { WriteRequest } from './batch.ts';
import { type BatchLimits, createCommitQueue, type Group, land, type Waiting } from './commit-queue.ts';
import { drained } from './epoch.ts';
import type { Refused } from './refusal.ts';
import type { RepliesUnderWay } from './replies-under-way.ts';
import { type Spawn, startWriterThread, type WriterThread } from './writer-thread.ts';

export interface WriterOptions {
  readonly file: string;
  readonly batch: BatchLimits;
  readonly maxPages: number | null;
  readonly nowMs: () => number;
  readonly spawn: Spawn;
}

export interface Statistics {
  /** Batches that came back: one COMMIT each. */
  readonly batches: number;
  readonly requests: number;
}

export interface Writer {
  write(requests: readonly WriteRequest[]): Promise<readonly CommitResult[]>;
  answered(position: Position): void;
  statistics(): Statistics;
  /** Takes nothing more and writes what waits. */
  drain(): Promise<void>;
  /** Ends the epoch and the worker; after drain. */
  close(): Promise<void>;
}

const flushAfterMs = 100;

export function startThread(options: WriterOptions, resume: number | null): Promise<WriterThread | Refused> {
  const { file, maxPages, nowMs, spawn } = options;
  return startWriterThread({ file, maxPages, resume, nowMs: nowMs() }, spawn);
}

export function createWriter(options: WriterOptions, first: WriterThread, replies: RepliesUnderWay): Writer {
  const { file, batch: limits, nowMs } = options;
  const queue = createCommitQueue(limits, file);
  const statistics = { batches: 0, requests: 0 };
  let thread: WriterThread | null = first;
  let working: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  let flushTimer: NodeJS.Timeout | null = null;

  const unavailable = (fault: StoreFault, message: string): CommitResult => ({ kind: 'unavailable', fault, message });

  const shutResult = unavailable('closed', `the store '${file}' is closed`);

  /** Why there is no worker, or null if there is one. */
  const ensureThread = async (): Promise<string | null> => {
    if (thread?.alive()) return null;
    const started = await startThread(options, first.epoch);
    thread = 'kind' in started ? null : started;
    return 'kind' in started ? started.message : null;
  };

  const writeOne = async (batch: readonly Waiting[]): Promise<void> => {
    const failure = await ensureThread();
    if (failure !== null || thread === null) return landAll(batch, unavailable('io', failure ?? ''));
    const answered = replies.take();
    const requests = batch.map(({ text }) => text);
    const results = await thread.run({ requests, answered });
    if (results === null) {
      replies.putBack();
      const died = `the writer of '${file}' stopped (${thread.cause()}): it starts again with the next commit`;
      return landAll(batch, unavailable('io', died));
    }
    statistics.batches += 1;
    statistics.requests += batch.length;
    for (let index = 0; index < batch.length; index++) {
      const waiting = batch[index] as Waiting;
      const result = results[index] as CommitResult;
      if (result.kind === 'unavailable') replies.putBack();
      else if (!('erase' in waiting.request)) replies.committed(waiting.request, result);
      land(waiting, result);
    }
  };

  const pump = async (): Promise<void> => {
    while (!queue.isEmpty()) await writeOne(queue.take());
    working = null;
  };

  const wake = () => {
    working ??= pump();
  };

  /** While nobody commits, the mark is written by itself. */
  const flushSoon = () => {
    if (flushTimer !== null || closing !== null) return;
    flushTimer = setTimeout(() => {
      flushTimer = null;
      if (working === null && closing === null && thread?.alive()) working = flush().then(pump);
    }, flushAfterMs).unref();
  };

  const flush = async () => {
    const answered = replies.take();
    if (answered === null || thread === null) return;
    if ((await thread.run({ requests: [], answered })) === null) replies.putBack();
  };

  const drain = async () => {
    if (flushTimer !== null) clearTimeout(flushTimer);
    while (working !== null) await working;
  };

  const close = async () => {
    // INVARIANT: only when every reply arrived does the epoch say that nobody waits.
    const answered = replies.allAnswered() ? drained : replies.take();
    if (thread?.alive()) await thread.close(answered, nowMs());
  };

  return {
    write(requests) {
      if (requests.length === 0) return Promise.resolve([]);
      return new Promise((resolve) => {
        const group: Group = { results: [], missing: requests.length, resolve };
        for (const [index, request] of requests.entries()) {
          const refused = closing === null ? queue.add(request, group, index) : shutResult;
          if (refused !== null) land({ group, index }, refused);
        }
        wake();
      });
    },
    answered(position) {
      replies.answered(position);
      flushSoon();
    },
    statistics: () => ({ ...statistics }),
    drain: () => (closing ??= drain()),
    close,
  };
}

function landAll(batch: readonly Waiting[], result: CommitResult): void {
  for (const waiting of batch) land(waiting, result);
}
