/** How does the main thread speak with the worker? One request at a time; a worker that dies answers null. */
import { Worker } from 'node:worker_threads';

import type { CommitResult } from '../../ports/store.ts';
import { refuse, type Refused, textOf } from './refusal.ts';
import type { FromWorker, ToWorker, WorkerOptions, WrittenBatch } from './worker.ts';

export interface WriterThread {
  readonly epoch: number;
  readonly highestTimeMs: number;
  /** Null if the worker died: nobody knows whether the batch was applied. */
  run(batch: WrittenBatch): Promise<readonly CommitResult[] | null>;
  /** Ends the epoch and the worker. */
  close(answered: number | null, nowMs: number): Promise<void>;
  alive(): boolean;
  /** What it died of. */
  cause(): string;
}

export type Spawn = (options: WorkerOptions) => Worker;

/** The build renames .ts to .js, but not inside a URL: the extension is that of this very file. */
export const spawnWorker: Spawn = (options) => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), { workerData: options });
};

export function startWriterThread(options: WorkerOptions, spawn: Spawn = spawnWorker): Promise<WriterThread | Refused> {
  const worker = spawn(options);
  let living = true;
  let cause = 'it ended without a word';
  let answer: ((results: readonly CommitResult[] | null) => void) | null = null;

  const settle = (results: readonly CommitResult[] | null) => {
    const waiting = answer;
    answer = null;
    // A process may end while the writer is idle, but not while somebody waits for it.
    worker.unref();
    waiting?.(results);
  };
  const ask = (message: ToWorker) =>
    new Promise<readonly CommitResult[] | null>((resolve) => {
      if (!living) return resolve(null);
      answer = resolve;
      worker.ref();
      worker.postMessage(message);
    });

  return new Promise((resolve) => {
    const thread = (ready: Extract<FromWorker, { type: 'ready' }>): WriterThread => ({
      epoch: ready.epoch,
      highestTimeMs: ready.highestTimeMs,
      run: (batch) => ask({ type: 'batch', ...batch }),
      close: async (answered, nowMs) => void (await ask({ type: 'close', answered, nowMs })),
      alive: () => living,
      cause: () => cause,
    });
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'results') settle(JSON.parse(message.text) as CommitResult[]);
      else if (message.type === 'refused') resolve(message.refused);
      else {
        worker.unref();
        resolve(thread(message));
      }
    });
    worker.on('error', (error) => (cause = textOf(error)));
    worker.on('exit', () => {
      living = false;
      resolve(refuse('io', `the writer of '${options.file}' did not start: ${cause}`));
      settle(null);
    });
  });
}
