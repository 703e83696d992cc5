/**
 * The thread of a workflow module seen from outside. It serves all steps of the module at once. If it does not
 * respond, the operator is told what runs in it. It is ended once nobody waits for one of its bodies; the next step
 * gets a new one.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Failure, makeFailure, type UpstreamResult } from '../../../ports/upstream.ts';
import type { BodyServices } from '../body-services.ts';
import type { ThreadBody } from '../check-definition.ts';
import { messageOf, nameOf } from '../describe-throw.ts';
import type { FromModule, ModuleFacts, ToModule, Told } from './module-messages.ts';
import type { ContextFacts } from '../tool-context.ts';

export interface ThreadOrder {
  readonly body: ThreadBody;
  readonly args: unknown;
  /** Null: the body is only loaded. */
  readonly facts: ContextFacts | null;
  readonly services: BodyServices;
}

/** A body blocks a thread: that of its module, or the gateway's own. */
export interface Frozen {
  /** One of these. */
  readonly tools: readonly string[];
  readonly forMs: number;
  readonly ended: boolean;
}

export interface ModuleThreads {
  /** Never rejects. Aborting tells the body; one that does not respond is ended with its thread. */
  run(order: ThreadOrder, signal: AbortSignal): Promise<UpstreamResult>;
  close(): Promise<void>;
}

// The built file has the extension of this one; tsc does not rewrite it in a URL.
const entry = new URL(`./module-worker${extname(import.meta.url)}`, import.meta.url);
const tickMs = 500;
/**
 * Ticks without an answer after which a thread counts as frozen. Ticks, not time: after a machine slept, both sides get
 * their turn first.
 */
const frozenTicks = 2;
/** A module may take long to load, once. */
const loadTicks = 60;

/** Called about what belongs to no step. */
export interface ThreadListener {
  readonly onFrozen: (frozen: Frozen) => void;
  /** An uncaught exception ended the thread. */
  readonly onCrash: (tools: readonly string[], error: unknown) => void;
}

export function createModuleThreads(listener: ThreadListener): ModuleThreads {
  const threads = new Map<string, ModuleThread>();
  let closed = false;
  return {
    async run(order, signal) {
      if (closed) return { kind: 'failed', failure: makeFailure('never_sent', 'the gateway is closing') };
      const { url } = order.body;
      for (;;) {
        const known = threads.get(url);
        const thread = known?.isUsable() === true ? known : startThread(listener);
        threads.set(url, thread);
        const outcome = await thread.serve(order, signal);
        // Its thread ended before the body was reached, so it is run in another.
        if (outcome !== neverBegun) return outcome;
        if (closed || signal.aborted)
          return { kind: 'failed', failure: makeFailure('never_sent', 'its thread ended before it began') };
      }
    },
    async close() {
      closed = true;
      await Promise.all([...threads.values()].map((thread) => thread.end()));
    },
  };
}

interface ModuleThread {
  serve(order: ThreadOrder, signal: AbortSignal): Promise<UpstreamResult>;
  isUsable(): boolean;
  end(): Promise<unknown>;
}

interface Running {
  readonly order: ThreadOrder;
  readonly signal: AbortSignal;
  readonly settle: (outcome: UpstreamResult) => void;
}

function startThread({ onFrozen, onCrash }: ThreadListener): ModuleThread {
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(entry, {
    name: 'recourse workflow bodies',
    workerData: { begun } satisfies ModuleFacts,
    stdout: true,
    stderr: true,
    ...(process.execArgv.some((option) => option.startsWith('--input-type')) ? { execArgv: [] } : {}),
  });
  worker.unref();
  const running = new Map<number, Running>();
  let orders = 0;
  let silentTicks = 0;
  let isUsable = true;
  let isLoaded = false;
  let why: Failure | null = null;
  const post = (message: ToModule) => worker.postMessage(message);

  const end = (reason: Failure) => {
    isUsable = false;
    why ??= reason;
    return worker.terminate();
  };
  const tick = () => {
    const most = isLoaded ? frozenTicks : loadTicks;
    if (silentTicks === most) tellFrozen(false);
    if (silentTicks >= most && [...running.values()].some(({ signal }) => signal.aborted)) {
      tellFrozen(true);
      void end(cutOff('its thread did not respond and was ended'));
      return;
    }
    silentTicks += 1;
    post({ kind: 'ping' });
  };
  const tellFrozen = (ended: boolean) => {
    onFrozen({ tools: toolsIn(), forMs: silentTicks * tickMs, ended });
  };
  const toolsIn = () => [...new Set([...running.values()].map(({ order }) => order.body.tool))];
  let ticking: NodeJS.Timeout | null = null;
  const settle = (order: number, outcome: UpstreamResult) => {
    running.get(order)?.settle(outcome);
    running.delete(order);
    if (running.size > 0) return;
    if (ticking !== null) clearInterval(ticking);
    ticking = null;
    worker.unref();
  };

  worker.on('message', (message: FromModule) => {
    switch (message.kind) {
      case 'ended':
        isLoaded = true;
        return settle(message.order, message.outcome);
      case 'asks':
        return void answer(message);
      case 'suppressed':
        return running.get(message.order)?.order.services.suppressed(message.told);
      case 'printed':
        return void process.stderr.write(message.text);
      case 'stray':
        return strayed(message.name, message.message);
      default:
        silentTicks = 0;
        return undefined;
    }
  });
  worker.on('error', (error) => {
    isUsable = false;
    onCrash(toolsIn(), error);
    why ??= cutOff(`an error outside of any step ended its thread: ${messageOf(error)}`, nameOf(error));
  });
  worker.on('exit', (code) => {
    isUsable = false;
    const reason = why ?? cutOff(`its thread ended by itself with exit code ${code}`);
    const last = Atomics.load(begun, 0);
    for (const order of running.keys()) settle(order, order > last ? neverBegun : { kind: 'failed', failure: reason });
  });

  async function answer({ order, question, service, given }: Extract<FromModule, { kind: 'asks' }>): Promise<void> {
    const told = (value: Told) => {
      if (isUsable) post({ kind: 'told', question, answer: value });
    };
    try {
      const services = running.get(order)?.order.services;
      if (services === undefined) throw new Error('the step has ended');
      const value = await (services[service] as (...args: readonly unknown[]) => Promise<unknown>)(...given);
      told({ ok: true, value });
    } catch (thrown) {
      told({ ok: false, name: nameOf(thrown), message: messageOf(thrown) });
    }
  }

  return {
    isUsable: () => isUsable,
    end: () => end(cutOff('the gateway is closing')),
    serve(order, signal) {
      orders += 1;
      const number = orders;
      const { body, args, facts } = order;
      return new Promise((resolve) => {
        const stop = () => {
          const reason: unknown = signal.reason;
          if (isUsable)
            post({ kind: 'abort', order: number, reason: reason instanceof Error ? reason.message : 'stopped' });
        };
        const done = (outcome: UpstreamResult) => {
          signal.removeEventListener('abort', stop);
          resolve(outcome);
        };
        running.set(number, { order, signal, settle: done });
        worker.ref();
        silentTicks = ticking === null ? 0 : silentTicks;
        ticking ??= setInterval(tick, tickMs).unref();
        signal.addEventListener('abort', stop, { once: true });
        post({ kind: 'run', order: number, body, args, facts });
      });
    },
  };
}

/** Rejects a promise in this thread, so that the handler of unhandled rejections reports it. */
function strayed(name: string, message: string): void {
  void Promise.reject(name === 'NonError' ? message : Object.assign(new Error(message), { name }));
}

/** Compared by identity. */
const neverBegun: UpstreamResult = {
  kind: 'failed',
  failure: makeFailure('never_sent', 'its thread ended before it began'),
};

/** The body was cut off, so its effect is unknown. */
function cutOff(message: string, errorType = 'ThreadEnded'): Failure {
  return makeFailure('threw', message, { errorType, effect: 'unknown' });
}
