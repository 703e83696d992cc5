/**
 * Starts the writer's thread and exchanges messages with it: parts go out, results come back in the same order, or it
 * dies.
 */
import { Worker } from 'node:worker_threads';

import { refuse, type Refused, textOf } from '../file/refusal.ts';
import { type Outcome, readOutcome } from './wire.ts';
import type { FromWorker, Part, ToWorker, WorkerOptions } from './worker.ts';

export interface WriterThread {
  readonly epoch: number;
  readonly highestTimeMs: number;
  /** How old the store was when it was opened. */
  readonly age: number;
  post(part: Part): void;
  /** Ends the epoch and the worker. */
  close(last: Omit<Extract<ToWorker, { type: 'close' }>, 'type'>): Promise<void>;
  listen(listener: ThreadListener): void;
  /** Whether the thread keeps the process alive: while a commit waits, and not while it is idle. */
  hold(wanted: boolean): void;
}

export interface ThreadListener {
  /** For the longest waiting requests. */
  results(outcome: Outcome): void;
  /** Nobody knows whether what it had was applied. */
  died(cause: string): void;
}

/** An idle worker is often needed again at once: `unref` and `ref` each time cost more than a short wait. */
const restMs = 20;

export type Spawn = (options: WorkerOptions) => Worker;

/** The build renames .ts to .js, but not inside a URL: the extension is that of this very file. */
export const spawnWorker: Spawn = (options) => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  // Without the flags of the process: some, such as --eval, make no sense for a worker and stop it.
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), { workerData: options, execArgv: [] });
};

export function startWriterThread(options: WorkerOptions, spawn: Spawn): Promise<WriterThread | Refused> {
  const worker = spawn(options);
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let listener: ThreadListener | null = null;
  let cause: string | null = null;
  const post = (message: ToWorker) => worker.postMessage(message);

  let wanted = true;
  let held = true;
  let rest: NodeJS.Timeout | null = null;
  const hold = (nowWanted: boolean) => {
    wanted = nowWanted;
    if (wanted && !held) worker.ref();
    held ||= wanted;
    if (wanted || rest !== null) return;
    rest = setTimeout(() => {
      rest = null;
      if (wanted || !held) return;
      worker.unref();
      held = false;
    }, restMs).unref();
  };

  return new Promise((resolve) => {
    const thread = ({ epoch, highestTimeMs, age }: Extract<FromWorker, { type: 'ready' }>): WriterThread => ({
      epoch,
      highestTimeMs,
      age,
      post: (part) => post({ type: 'part', ...part }),
      close(last) {
        hold(true);
        post({ type: 'close', ...last });
        return ended;
      },
      listen(next) {
        listener = next;
        if (cause !== null) next.died(cause);
      },
      hold,
    });
    worker.on('message', (message: FromWorker | string) => {
      if (typeof message === 'string') listener?.results(readOutcome(message));
      else resolve(message.type === 'refused' ? message.refused : thread(message));
    });
    let failure = 'it ended without a word';
    worker.on('error', (error) => (failure = textOf(error)));
    worker.on('exit', () => {
      cause = failure;
      resolve(refuse('io', `the writer of '${options.file}' did not start: ${failure}`));
      listener?.died(failure);
    });
  });
}
