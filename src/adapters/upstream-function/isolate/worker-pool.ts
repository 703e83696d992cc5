/**
 * Chooses a worker for an isolated call: an idle one, preferably one that knows the tool, or a new one. Above the
 * limits calls wait, then are refused as never sent. Every call gets exactly one outcome, also on close.
 */
import { makeFailure, type UpstreamResult } from '../../../ports/upstream.ts';
import { messageOf } from '../describe-throw.ts';
import type { Order } from './worker-messages.ts';
import {
  minHeapMb,
  startThread,
  type BodyOutput,
  type HearSuppressed,
  type ThreadLimits,
  type WorkerThread,
} from './worker-thread.ts';

export interface IsolationLimits extends ThreadLimits {
  /** Workers kept warm after their call. */
  readonly maxIdleWorkers: number;
  readonly maxWorkers: number;
  /** Calls that wait for a worker; the next one is never sent. */
  readonly maxQueuedCalls: number;
}

export const defaultIsolationLimits: IsolationLimits = {
  maxIdleWorkers: 2,
  maxWorkers: 8,
  maxQueuedCalls: 64,
  maxHeapMb: 256,
  maxStackMb: 4,
};

export interface WorkerPool {
  /** Never rejects. Aborting ends the worker, whatever it does. */
  run(tool: string, order: Omit<Order, 'order'>, signal: AbortSignal, hear: HearSuppressed): Promise<UpstreamResult>;
  close(): Promise<void>;
}

interface Waiting {
  readonly tool: string;
  readonly order: Order;
  readonly signal: AbortSignal;
  readonly hear: HearSuppressed;
  readonly settle: (outcome: UpstreamResult) => void;
}

export function createWorkerPool(wanted: IsolationLimits, onOutput?: (output: BodyOutput) => void): WorkerPool {
  const limits = {
    ...wanted,
    maxWorkers: Math.max(1, wanted.maxWorkers),
    maxHeapMb: Math.max(minHeapMb, wanted.maxHeapMb),
  };
  const living = new Set<WorkerThread>();
  const idle: WorkerThread[] = [];
  const queue: Waiting[] = [];
  let orders = 0;
  let closed = false;

  function nextOrder(): number {
    orders = orders === 2 ** 31 - 1 ? 1 : orders + 1;
    return orders;
  }

  function start(): WorkerThread {
    const thread = startThread(limits, onOutput);
    living.add(thread);
    void thread.gone.then(() => {
      living.delete(thread);
      forget(idle, thread);
      serveQueue();
    });
    return thread;
  }

  /** Null: no worker is free. */
  function take(tool: string): WorkerThread | null {
    const usable = idle.filter((thread) => thread.isUsable());
    const warm = usable.findLast((thread) => thread.tool() === tool) ?? usable.at(-1);
    if (warm === undefined) return living.size < limits.maxWorkers ? start() : null;
    forget(idle, warm);
    return warm;
  }

  function giveBack(thread: WorkerThread): void {
    if (closed || !thread.isUsable()) thread.kill();
    else idle.push(thread);
    serveQueue();
    while (idle.length > limits.maxIdleWorkers) idle.shift()?.kill();
  }

  function serveQueue(): void {
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      const thread = placeFor(head);
      if (thread === null) return;
      queue.shift();
      if (thread !== 'refused') void serve(thread, head);
    }
  }

  function placeFor(call: Waiting): WorkerThread | 'refused' | null {
    try {
      return take(call.tool);
    } catch (thrown) {
      call.settle(unsent(`no worker could be started: ${messageOf(thrown)}`));
      return 'refused';
    }
  }

  async function serve(thread: WorkerThread, call: Waiting): Promise<void> {
    const outcome = await thread.serve(call.tool, call.order, call.signal, call.hear);
    giveBack(thread);
    call.settle(outcome);
  }

  return {
    run(tool, order, signal, hear) {
      if (closed) return Promise.resolve(unsent('the gateway is closing'));
      if (queue.length >= limits.maxQueuedCalls && !hasPlace()) {
        return Promise.resolve(unsent(`all ${limits.maxWorkers} workers are busy and ${queue.length} calls wait`));
      }
      return new Promise((resolve) => {
        const leave = () => {
          if (forget(queue, call)) call.settle(unwanted());
        };
        const settle = (outcome: UpstreamResult) => {
          signal.removeEventListener('abort', leave);
          resolve(outcome);
        };
        const call: Waiting = { tool, order: { ...order, order: nextOrder() }, signal, hear, settle };
        signal.addEventListener('abort', leave, { once: true });
        queue.push(call);
        serveQueue();
      });
    },
    async close() {
      closed = true;
      for (const call of queue.splice(0)) call.settle(unsent('the gateway is closing'));
      const ends = [...living].map((thread) => {
        thread.kill();
        return thread.gone;
      });
      await Promise.all(ends);
    },
  };

  function hasPlace(): boolean {
    return queue.length === 0 && (living.size < limits.maxWorkers || idle.some((thread) => thread.isUsable()));
  }
}

function forget<Item>(list: Item[], item: Item): boolean {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}

function unsent(message: string): UpstreamResult {
  return { kind: 'failed', failure: makeFailure('never_sent', message, { errorType: 'WorkersBusy' }) };
}

function unwanted(): UpstreamResult {
  const more = { errorType: 'AbortError', effect: 'none' } as const;
  return { kind: 'failed', failure: makeFailure('cancelled', 'stopped while it waited for a worker', more) };
}
