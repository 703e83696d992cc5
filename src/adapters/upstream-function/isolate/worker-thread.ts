/**
 * One worker thread seen from outside: takes an order and gives exactly one outcome, whatever happens to the thread.
 * Killing it also ends a tight loop. worker-pool.ts decides which worker serves which call.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Failure, makeFailure, type SuppressedByBody, type UpstreamResult } from '../../../ports/upstream.ts';
import { messageOf, nameOf, read } from '../describe-throw.ts';
import {
  isAnswerTo,
  isPrinted,
  isSuppressedIn,
  type Order,
  type Printed,
  type WorkerFacts,
} from './worker-messages.ts';

/** With less, V8 cannot start a thread and ends the whole process. */
export const minHeapMb = 16;

export interface ThreadLimits {
  /**
   * A body that grows beyond this loses its worker. A single allocation that goes far beyond it (some 16 MB) ends the
   * whole process: V8 offers a thread no other way. Bodies that are not trusted that far belong behind a process of
   * their own.
   */
  readonly maxHeapMb: number;
  readonly maxStackMb: number;
}

export interface BodyOutput extends Printed {
  readonly tool: string;
}

/** Called with each error that a body ignores on purpose. */
export type HearSuppressed = (told: SuppressedByBody) => void;

export interface WorkerThread {
  /** The tool that it serves, or has served last. */
  tool(): string;
  /** Never rejects. One order at a time. */
  serve(tool: string, order: Order, signal: AbortSignal, hear: HearSuppressed): Promise<UpstreamResult>;
  kill(): void;
  /** False as soon as the thread is dying: nothing may be given to it any more. */
  isUsable(): boolean;
  /** Resolves when the thread is gone. */
  readonly gone: Promise<void>;
}

// The built file has the extension of this one; tsc does not rewrite it in a URL.
const entry = new URL(`./isolated-worker${extname(import.meta.url)}`, import.meta.url);

export function startThread(limits: ThreadLimits, onOutput: ((output: BodyOutput) => void) | undefined): WorkerThread {
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(entry, {
    name: 'recourse isolated body',
    workerData: { begun, prints: onOutput !== undefined } satisfies WorkerFacts,
    // The worker sends what it prints as messages.
    stdout: true,
    stderr: true,
    // A process started with --eval has an option that workers do not accept.
    ...(process.execArgv.some((option) => option.startsWith('--input-type')) ? { execArgv: [] } : {}),
    resourceLimits: { maxOldGenerationSizeMb: limits.maxHeapMb, stackSizeMb: limits.maxStackMb },
  });
  worker.unref();

  let tool = '';
  let fault: unknown;
  let settle: ((outcome: UpstreamResult) => void) | undefined;
  let awaited = 0;
  let heard: HearSuppressed = () => undefined;
  let killed = false;
  let ended = false;

  const answer = (outcome: UpstreamResult) => {
    settle?.(outcome);
    settle = undefined;
  };
  const kill = () => {
    killed = true;
    void worker.terminate();
  };
  worker.on('message', (message: unknown) => {
    if (isAnswerTo(awaited, message)) answer(message.outcome);
    else if (isSuppressedIn(awaited, message)) heard(message.suppressed);
    else if (isPrinted(message)) onOutput?.({ tool, stream: message.stream, text: message.text });
  });
  worker.on('messageerror', (error) => {
    const message = `the result cannot be read outside of its worker: ${messageOf(error)}`;
    const more = { subject: 'response', errorType: 'DataCloneError' };
    answer({ kind: 'failed', failure: makeFailure('schema_validation', message, more) });
    kill();
  });
  worker.on('error', (error) => {
    fault = error;
  });
  const gone = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      ended = true;
      const isSent = Atomics.load(begun, 0) === awaited;
      const reason = killed ? stopped(isSent) : isSent ? died(fault, code, limits) : neverBegun(fault, code);
      answer({ kind: 'failed', failure: reason });
      resolve();
    });
  });

  return {
    tool: () => tool,
    gone,
    kill,
    isUsable: () => !killed && !ended && fault === undefined,
    async serve(forTool, order, signal, hear) {
      tool = forTool;
      heard = hear;
      if (ended) return { kind: 'failed', failure: neverBegun(fault, 0) };
      worker.ref();
      signal.addEventListener('abort', kill, { once: true });
      try {
        return await new Promise<UpstreamResult>((resolve) => {
          settle = resolve;
          awaited = order.order;
          worker.postMessage(order);
        });
      } catch (thrown) {
        settle = undefined;
        const more = { subject: 'request', errorType: nameOf(thrown), effect: 'none' } as const;
        const message = `the arguments cannot enter the worker: ${messageOf(thrown)}`;
        return { kind: 'failed', failure: makeFailure('schema_validation', message, more) };
      } finally {
        signal.removeEventListener('abort', kill);
        worker.unref();
      }
    },
  };
}

function stopped(isSent: boolean): Failure {
  const more = { errorType: 'AbortError', effect: isSent ? null : 'none' } as const;
  return makeFailure('cancelled', isSent ? 'stopped: its worker was ended' : 'stopped before it began', more);
}

/** The body was not reached, so the call was certainly never sent. */
function neverBegun(fault: unknown, code: number): Failure {
  const reason = fault === undefined ? `exit code ${code}` : messageOf(fault);
  return makeFailure('never_sent', `its worker ended before the call began: ${reason}`, { errorType: nameOf(fault) });
}

/** The body was cut off, so the effect is `unknown`, whatever a throw would prove. */
function died(fault: unknown, code: number, limits: ThreadLimits): Failure {
  const effect = 'unknown';
  if (read(fault, 'code') === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message = `its worker ran out of memory (${limits.maxHeapMb} MB)`;
    return makeFailure('threw', message, { errorType: 'OutOfMemory', effect });
  }
  if (fault === undefined) {
    return makeFailure('threw', `its worker ended by itself with exit code ${code}`, {
      errorType: 'WorkerExit',
      effect,
    });
  }
  const stack = read(fault, 'stack');
  return makeFailure('threw', `an error outside of the call ended its worker: ${messageOf(fault)}`, {
    errorType: nameOf(fault),
    effect,
    cause: typeof stack === 'string' ? stack : null,
  });
}
