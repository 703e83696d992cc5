/**
 * Starts the worker that writes keys when there is something to write, and sends it orders. A worker that died is
 * started again by the next order; the orders that it had have failed.
 */
import { Worker } from 'node:worker_threads';
import { keyLimits } from './key-limits.ts';
import { KeyringError } from './keyring-error.ts';
import type { Done, FromWorker, Order, ToWorker } from './writer-worker.ts';

export interface WriterThread {
  /** Rejects with a KeyringError. */
  ask(order: Order): Promise<Done>;
  /** After what was asked before. */
  close(): Promise<void>;
}

export type Spawn = (file: string) => Worker;

/** The build does not rename .ts to .js inside a URL, so the extension is taken from this file. */
export const spawnWorker: Spawn = (file) => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  // Without the flags of the process: a worker does not accept some, such as --eval.
  return new Worker(new URL(`./writer-worker.${extension}`, import.meta.url), { workerData: { file }, execArgv: [] });
};

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<Done>>;
  readonly ended: Promise<void>;
}

export function createWriterThread(file: string, spawn: Spawn = spawnWorker): WriterThread {
  let running: Running | null = null;
  let asked = 0;

  const start = (): Running => {
    const worker = spawn(file);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const started: Running = { worker, waiting: new Map(), ended };
    let failure = 'it ended without a word';
    worker.on('message', (message: FromWorker) => {
      const waits = started.waiting.get(message.at);
      started.waiting.delete(message.at);
      // An idle keyring does not keep the process alive.
      if (started.waiting.size === 0) worker.unref();
      if ('done' in message) waits?.resolve(message.done);
      else waits?.reject(new KeyringError(message.problem.reason, message.problem.message));
    });
    worker.on('error', (error) => (failure = error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => {
      if (running === started) running = null;
      const gone = `the thread that writes '${file}' ended (${failure}): look with agents ls what was done, then ask again`;
      for (const waits of started.waiting.values()) waits.reject(new KeyringError('io', gone));
      started.waiting.clear();
      end();
    });
    return started;
  };

  return {
    async ask(order) {
      running ??= start();
      const { worker, waiting } = running;
      if (waiting.size >= keyLimits.maxWaiting)
        throw new KeyringError('busy', `${waiting.size} changes of keys wait already: ask again in a moment`);
      const waits = Promise.withResolvers<Done>();
      const at = ++asked;
      waiting.set(at, waits);
      worker.ref();
      worker.postMessage({ at, order } satisfies ToWorker);
      return waits.promise;
    },
    async close() {
      if (running === null) return;
      const { worker, ended } = running;
      worker.ref();
      worker.postMessage('close' satisfies ToWorker);
      await ended;
    },
  };
}
