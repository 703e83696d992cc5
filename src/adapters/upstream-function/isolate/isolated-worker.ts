/**
 * The code inside a worker thread: takes one order at a time, runs the body, answers. What a body prints is sent as
 * messages, never to the gateway's streams. Must not import anything that a body does not need.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { makeFailure, type SuppressedByBody, type UpstreamResult } from '../../../ports/upstream.ts';
import { noServices } from '../body-services.ts';
import { bodyOfSource } from './body-source.ts';
import { failureOf, messageOf, outcomeOf } from '../describe-throw.ts';
import type { Answer, IsolatedBody, Order, Printed, Suppressed, WorkerFacts } from './worker-messages.ts';
import { createContext, type ToolContext } from '../tool-context.ts';

type Run = (args: unknown, context: ToolContext) => unknown;

const { begun, prints } = workerData as WorkerFacts;
const maxPrintedChars = 64 * 1_024;

const loaded = new Map<string, Promise<Run>>();
let printable = 0;

for (const stream of ['stdout', 'stderr'] as const) process[stream].write = printer(stream);
parentPort?.on('message', (order: Order) => void serve(order));

async function serve({ order, body, args, facts }: Order): Promise<void> {
  // INVARIANT: no body is reached before this line; if the worker dies, the gateway can tell whether the call was sent.
  Atomics.store(begun, 0, order);
  printable = prints ? maxPrintedChars : 0;
  // This signal is never aborted: cancelling a call ends its worker.
  const { signal } = new AbortController();
  try {
    const run = await load(body);
    send({
      order,
      outcome: outcomeOf(
        await run(args, createContext(facts, signal, { ...noServices, suppressed: (told) => tell(order, told) })),
      ),
    });
  } catch (thrown) {
    const reason = failureOf(thrown, signal);
    send({
      order,
      outcome: { kind: 'failed', failure: { ...reason, message: explain(reason.message, thrown, body) } },
    });
  }
}

function tell(order: number, suppressed: SuppressedByBody): void {
  parentPort?.postMessage({ order, suppressed } satisfies Suppressed);
}

function load(body: IsolatedBody): Promise<Run> {
  if (body.kind === 'stage') throw new TypeError('a stage runs in the thread of the gateway');
  const known = body.kind === 'source' ? body.expression : body.url;
  const run = loaded.get(known) ?? loadFirst(body);
  loaded.set(known, run);
  return run;
}

async function loadFirst(body: Exclude<IsolatedBody, { kind: 'stage' }>): Promise<Run> {
  if (body.kind === 'source') return bodyOfSource(body.expression) as Run;
  const module = (await import(body.url)) as { default?: unknown; run?: unknown };
  const run = module.default ?? module.run;
  if (typeof run !== 'function') throw new TypeError('the module of the body exports no function as default or as run');
  return run as Run;
}

function send(answer: Answer): void {
  try {
    parentPort?.postMessage(answer);
  } catch (thrown) {
    const message = 'the result holds something that cannot leave its worker, such as a function';
    const more = { subject: 'response', errorType: 'DataCloneError', cause: messageOf(thrown) };
    const outcome: UpstreamResult = { kind: 'failed', failure: makeFailure('schema_validation', message, more) };
    parentPort?.postMessage({ order: answer.order, outcome } satisfies Answer);
  }
}

/** A body sent as text cannot see its surroundings; explains the ReferenceError to its author. */
function explain(message: string, thrown: unknown, body: IsolatedBody): string {
  if (body.kind !== 'source' || !(thrown instanceof ReferenceError)) return message;
  const name = /^(\S+) is not defined$/.exec(message)?.[1];
  if (name === undefined) return message;
  return (
    `${message}: an isolated body is shipped as text and cannot see '${name}' outside of it; ` +
    `declare it inside, load it with await import(…), or give a module: isolate: new URL(…, import.meta.url)`
  );
}

/** Drops output above the limit for one call, and all output without a listener. */
function printer(stream: Printed['stream']): typeof process.stdout.write {
  return (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    const text = (typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString()).slice(0, printable);
    printable -= text.length;
    if (text !== '') parentPort?.postMessage({ stream, text } satisfies Printed);
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
}
