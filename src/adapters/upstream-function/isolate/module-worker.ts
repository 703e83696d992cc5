/**
 * Runs the bodies of one workflow module inside its thread, concurrently. Loads the module itself, so that bodies
 * share their state. A body that blocks stops only this thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { canonicalise } from '../../../core/values/canonical.ts';
import { isObject } from '../../../core/values/json.ts';
import { makeFailure, type UpstreamResult } from '../../../ports/upstream.ts';
import type { BodyServices } from '../body-services.ts';
import type { LocalBody, ThreadBody } from '../check-definition.ts';
import { failureOf, messageOf, nameOf, outcomeOf } from '../describe-throw.ts';
import { findNotJson } from '../find-not-json.ts';
import type { FromModule, ModuleFacts, Told, ToModule } from './module-messages.ts';
import { createContext } from '../tool-context.ts';
import { checkedBody } from '../tool.ts';

const { begun } = workerData as ModuleFacts;
const loaded = new Map<string, Promise<LocalBody>>();
const running = new Map<number, AbortController>();
const open = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
let questions = 0;

for (const stream of ['stdout', 'stderr'] as const)
  process[stream].write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString();
    send({ kind: 'printed', stream, text });
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };

// An unhandled rejection must not end the other bodies in this thread.
process.on('unhandledRejection', (reason) => send({ kind: 'stray', name: nameOf(reason), message: messageOf(reason) }));

parentPort?.on('message', (message: ToModule) => {
  switch (message.kind) {
    case 'run':
      return void serve(message);
    case 'abort':
      return running.get(message.order)?.abort(new Error(message.reason));
    case 'told':
      return hear(message.question, message.answer);
    default:
      return send({ kind: 'pong' });
  }
});

async function serve({ order, body, args, facts }: Extract<ToModule, { kind: 'run' }>): Promise<void> {
  // INVARIANT: no body is reached before this line, so the gateway knows which orders a dead thread never began.
  Atomics.store(begun, 0, order);
  const controller = new AbortController();
  running.set(order, controller);
  const outcome = await run(body, controller, (found) =>
    facts === null ? null : found(args as never, createContext(facts, controller.signal, servicesOf(order))),
  );
  running.delete(order);
  send({ kind: 'ended', order, outcome });
}

async function run(
  body: ThreadBody,
  { signal }: AbortController,
  act: (found: LocalBody) => unknown,
): Promise<UpstreamResult> {
  let found: LocalBody;
  try {
    found = await load(body);
  } catch (thrown) {
    const fix = "write blocking: false to run its actions in the gateway's own thread";
    const message = `its module could not be loaded in the thread of its bodies: ${messageOf(thrown)}; ${fix}`;
    return { kind: 'failed', failure: makeFailure('never_sent', message, { errorType: 'ModuleNotLoaded' }) };
  }
  try {
    return outcomeOf(await act(found), asJson);
  } catch (thrown) {
    return { kind: 'failed', failure: failureOf(thrown, signal) };
  }
}

function load(body: ThreadBody): Promise<LocalBody> {
  const known = loaded.get(body.tool) ?? loadFirst(body);
  loaded.set(body.tool, known);
  return known;
}

async function loadFirst({ url, tool, text }: ThreadBody): Promise<LocalBody> {
  const module = (await import(url)) as Readonly<Record<string, unknown>>;
  const bodies = Object.values(module).flatMap((value) =>
    isObject(value) && Array.isArray(value['bodies']) ? (value['bodies'] as readonly unknown[]) : [],
  );
  const found = bodies.map((each) => checkedBody(each, tool)).find((each) => each !== null) ?? null;
  if (found === null) throw new Error(`it has no body for '${tool}'`);
  // INVARIANT: the code that runs is the code that the gateway read. A changed file takes effect at the next start.
  if (Function.prototype.toString.call(found) !== text)
    throw new Error('it was changed since the gateway started; restart it');
  return found;
}

/** Applies `toJSON`, which would be lost between threads. What is not JSON is refused outside. */
function asJson(output: unknown): unknown {
  try {
    if (findNotJson(output) === null) return output;
    const written = canonicalise(output === undefined ? null : output, { maxDepth: 256 });
    return written.ok ? JSON.parse(written.text) : output;
  } catch {
    return output;
  }
}

function servicesOf(order: number): BodyServices {
  const ask = (
    service: Extract<FromModule, { kind: 'asks' }>['service'],
    given: readonly unknown[],
  ): Promise<never> => {
    questions += 1;
    const question = questions;
    const asked = new Promise<never>((resolve, reject) => {
      open.set(question, { resolve, reject });
      send({ kind: 'asks', order, question, service, given });
    });
    // Ignored: awaiting the request still throws, and one that is not awaited must not end the thread.
    asked.catch(() => undefined);
    return asked;
  };
  return {
    elicit: (message, schema) => ask('elicit', schema === undefined ? [message] : [message, schema]),
    sample: (request) => ask('sample', [request]),
    call: (name, args) => ask('call', args === undefined ? [name] : [name, args]),
    suppressed: (told) => send({ kind: 'suppressed', order, told }),
  };
}

function hear(question: number, answer: Told): void {
  const asked = open.get(question);
  open.delete(question);
  if (answer.ok) asked?.resolve(answer.value as never);
  else asked?.reject(Object.assign(new Error(answer.message), { name: answer.name }));
}

function send(message: FromModule): void {
  try {
    parentPort?.postMessage(message);
  } catch (thrown) {
    if (message.kind === 'asks') {
      hear(message.question, { ok: false, name: 'DataCloneError', message: messageOf(thrown) });
      return;
    }
    if (message.kind !== 'ended') return;
    const said = 'the result holds something that cannot leave its thread, such as a function';
    const more = { subject: 'response', errorType: 'DataCloneError', cause: messageOf(thrown) };
    const outcome: UpstreamResult = { kind: 'failed', failure: makeFailure('schema_validation', said, more) };
    parentPort?.postMessage({ ...message, outcome });
  }
}
