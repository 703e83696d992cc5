/**
 * The main thread's half of the writer. Requests queue; whenever the worker is idle, all of them that fit go to it as
 * one batch: the slower the disk, the larger the batches, and nobody waits for a timer. If the worker dies, what it
 * had is `unavailable`, and the next commit starts another one, which goes on in the same epoch.
 */
import { Worker } from 'node:worker_threads';

import type { Position } from '../../core/journal/record.ts';
import type { CommitResult, Transition } from '../../ports/store.ts';
import type { WriteRequest } from './batch.ts';
import type { EraseRequest } from './erase-call.ts';
import { type Refused, refuse, textOf } from './refusal.ts';
import { createRepliesUnderWay } from './replies-under-way.ts';
import { sizeOf } from './size-of.ts';
import type { FromWorker, ToWorker, WorkerOptions } from './worker.ts';

export interface BatchLimits {
  /** A batch holds at most this many transitions. */
  readonly maxTransitions: number;
  /** And about this many bytes, but always one transition. */
  readonly maxBytes: number;
  /** Transitions that wait; one more is refused as overloaded. */
  readonly maxQueued: number;
}

export const defaultBatch: BatchLimits = { maxTransitions: 512, maxBytes: 4 << 20, maxQueued: 10_000 };

export interface WriterOptions {
  readonly file: string;
  readonly batch: BatchLimits;
  readonly maxPages: number | null;
  readonly nowMs: () => number;
  readonly spawn?: (options: WorkerOptions) => Worker;
}

export interface Statistics {
  readonly batches: number;
  readonly transitions: number;
}

export interface Writer {
  readonly epoch: number;
  readonly highestTimeMs: number;
  commit(transitions: readonly Transition[]): Promise<readonly CommitResult[]>;
  erase(request: EraseRequest): Promise<CommitResult>;
  answered(position: Position): void;
  statistics(): Statistics;
  close(): Promise<void>;
}

interface Waiting {
  readonly request: WriteRequest;
  readonly bytes: number;
  readonly done: (result: CommitResult) => void;
}

/** A queue may hold this many full batches in bytes before it refuses more. */
const maxQueuedBatches = 32;
const flushAfterMs = 100;

export function spawnWorker(options: WorkerOptions): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), { workerData: options });
}

export async function startWriter(
  options: WriterOptions,
  alreadyLeft: () => Iterable<string>,
): Promise<{ readonly kind: 'opened'; readonly writer: Writer } | Refused> {
  const { file, batch: limits, maxPages, nowMs, spawn = spawnWorker } = options;
  const queue: Waiting[] = [];
  let queuedBytes = 0;
  let flight: readonly Waiting[] | null = null;
  let worker: Worker | null = null;
  let epoch: number | null = null;
  let closing: (() => void) | null = null;
  let closed = false;
  let flushTimer: NodeJS.Timeout | null = null;
  const statistics = { batches: 0, transitions: 0 };

  const unavailable = (fault: 'io' | 'closed' | 'overloaded', message: string): CommitResult => ({
    kind: 'unavailable',
    fault,
    message,
  });

  /** Starts a worker and waits until it is ready; from then on it belongs to this writer. */
  const start = () =>
    new Promise<Extract<FromWorker, { type: 'ready' }> | Refused>((resolve) => {
      const started = spawn({ file, maxPages, resume: epoch, nowMs: nowMs() });
      let failure = 'it ended without a word';
      started.on('message', (message: FromWorker) => {
        if (message.type === 'ready') {
          worker = started;
          resolve(message);
        } else if (message.type === 'refused') {
          resolve(message.refused);
          void started.terminate();
        } else if (message.type === 'results') land(message.results);
        else closing?.();
      });
      started.on('error', (error) => (failure = textOf(error)));
      started.on('exit', () => {
        resolve(refuse('io', `the writer of '${file}' did not start: ${failure}`));
        if (worker !== started) return;
        worker = null;
        fail(unavailable('io', `the writer of '${file}' stopped (${failure}): it is started again at the next commit`));
        closing?.();
      });
    });

  const land = (results: readonly CommitResult[]) => {
    const landed = flight ?? [];
    flight = null;
    statistics.batches += 1;
    statistics.transitions += landed.length;
    for (const [index, { request, done }] of landed.entries()) {
      const result = results[index] as CommitResult;
      if (result.kind === 'unavailable') replies.putBack();
      else if (!('erase' in request)) replies.committed(request, result);
      done(result);
    }
    pump();
  };

  const fail = (result: CommitResult) => {
    const lost = flight ?? [];
    flight = null;
    replies.putBack();
    for (const { done } of lost) done(result);
  };

  const post = (message: ToWorker) => worker?.postMessage(message);

  const takeBatch = (): Waiting[] => {
    let bytes = 0;
    let count = 0;
    while (count < queue.length && count < limits.maxTransitions) {
      bytes += (queue[count] as Waiting).bytes;
      if (count > 0 && bytes > limits.maxBytes) break;
      count += 1;
    }
    const batch = queue.splice(0, count);
    for (const waiting of batch) queuedBytes -= waiting.bytes;
    return batch;
  };

  let restarting = false;
  const restart = async () => {
    restarting = true;
    const started = await start();
    restarting = false;
    if ('type' in started) return pump();
    // The lock is still ours, so the next commit tries again.
    flight = queue.splice(0);
    queuedBytes = 0;
    fail(unavailable('io', started.message));
  };

  const pump = () => {
    if (flight !== null || restarting) return;
    if (queue.length === 0) {
      if (closing !== null && worker !== null) post({ type: 'close', answered: lastMark(), nowMs: nowMs() });
      else worker?.unref();
      return;
    }
    if (worker === null) return void restart();
    worker.ref();
    flight = takeBatch();
    post({ type: 'batch', requests: flight.map(({ request }) => request), answered: replies.take() });
  };

  const lastMark = () => (replies.allAnswered() ? drainedMark : replies.take());

  const enqueue = (request: WriteRequest): Promise<CommitResult> => {
    if (closed) return Promise.resolve(unavailable('closed', `the store '${file}' is closed`));
    const bytes = sizeOf(request);
    if (queue.length >= limits.maxQueued || queuedBytes + bytes > limits.maxBytes * maxQueuedBatches)
      return Promise.resolve(unavailable('overloaded', `too many commits wait for '${file}': ask again later`));
    queuedBytes += bytes;
    return new Promise((done) => queue.push({ request, bytes, done }));
  };

  const first = await start();
  if (!('type' in first)) return first;
  epoch = first.epoch;
  const replies = createRepliesUnderWay(first.epoch, alreadyLeft());
  pump();

  const writer: Writer = {
    epoch: first.epoch,
    highestTimeMs: first.highestTimeMs,
    commit(transitions) {
      const results = Promise.all(transitions.map(enqueue));
      pump();
      return results;
    },
    erase(request) {
      const result = enqueue(request);
      pump();
      return result;
    },
    answered(position) {
      replies.answered(position);
    },
    statistics: () => ({ ...statistics }),
    close() {
      return Promise.resolve();
    },
  };
  return { kind: 'opened', writer };
}
