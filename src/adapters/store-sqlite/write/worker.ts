/**
 * The writer's thread: one connection, one batch at a time, so that a slow fsync does not block the event loop of the
 * main thread. Started by writer-thread.ts, with which it exchanges the messages below.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { createBatchWriter, type WriteRequest } from './batch.ts';
import type { BatchLimits } from './commit-queue.ts';
import { openForWriting } from '../file/connection.ts';
import { createAgeReader, openEpoch, readTail, resumeEpoch, verifyTail } from '../file/epoch.ts';
import { refusalOf, refuse, type Refused } from '../file/refusal.ts';
import { prepareStatements } from './statements.ts';
import { type FlatRequest, restore, writeOutcome } from './wire.ts';

export interface WorkerOptions {
  readonly file: string;
  readonly batch: BatchLimits;
  readonly maxPages: number | null;
  /** The epoch to go on with after a worker died; null opens the next one. */
  readonly resume: number | null;
  readonly nowMs: number;
}

export interface Part {
  readonly requests: readonly FlatRequest[];
  readonly bytes: number;
  /** The mark up to which replies reached their requesters, if it moved. */
  readonly answered: number | null;
  /** How old the store is. */
  readonly age: number;
}

export type ToWorker =
  | ({ readonly type: 'part' } & Part)
  | ({ readonly type: 'close'; readonly nowMs: number } & Pick<Part, 'answered' | 'age'>);

/** The first message. After it, each batch is answered with a text: its outcome. */
export type FromWorker =
  | { readonly type: 'ready'; readonly epoch: number; readonly highestTimeMs: number; readonly age: number }
  | { readonly type: 'refused'; readonly refused: Refused };

const { file, batch: limits, maxPages, resume, nowMs } = workerData as WorkerOptions;
const port = parentPort as MessagePort;
const send = (message: FromWorker) => port.postMessage(message);

function start(): Refused | null {
  const opened = openForWriting(file, maxPages);
  if (opened.kind === 'refused') return opened;
  const { database } = opened;
  const tail = readTail(database);
  const broken = verifyTail(database, tail.head, file);
  if (broken !== null) {
    database.close();
    return broken;
  }
  const statements = prepareStatements(database);
  const chain =
    resume === null ? openEpoch(database, statements, tail, nowMs) : resumeEpoch(database, statements, tail, resume);
  if (chain === null) return refuse('locked', `another process has taken '${file}' over: stop this one`);
  const writer = createBatchWriter(database, statements, chain, file);

  const close = ({ answered, nowMs: atMs, age }: Extract<ToWorker, { type: 'close' }>) => {
    try {
      writer.close(answered, atMs, age);
    } finally {
      writer.leave();
      database.close();
      port.close();
    }
  };

  port.on('message', (message: ToWorker) => {
    if (message.type === 'close') return close(message);
    const { intake, closing } = createIntake(message);
    const results = writer.run(intake);
    port.postMessage(writeOutcome({ results, sessions: writer.changed() }));
    const last = closing();
    if (last !== null) close(last);
  });
  send({
    type: 'ready',
    epoch: chain.head().epoch,
    highestTimeMs: chain.head().timeMs,
    age: createAgeReader(database)(),
  });
  return null;
}

/** A batch that takes in parts which arrive while it is being written. */
function createIntake(first: Part) {
  const requests: WriteRequest[] = [];
  let bytes = 0;
  let answered: number | null = null;
  let last: Extract<ToWorker, { type: 'close' }> | null = null;
  const add = (part: Part) => {
    answered = part.answered ?? answered;
    bytes += part.bytes;
    for (const flat of part.requests) requests.push(restore(flat));
  };
  add(first);
  const intake = {
    requests,
    age: first.age,
    answered: () => answered,
    more(): boolean {
      const length = requests.length;
      while (requests.length === length) {
        if (last !== null || length >= limits.maxTransitions || bytes >= limits.maxBytes) return false;
        const received = receiveMessageOnPort(port) as { message: ToWorker } | undefined;
        if (received === undefined) return false;
        if (received.message.type === 'close') last = received.message;
        else add(received.message);
      }
      return true;
    },
  };
  return { intake, closing: () => last };
}

try {
  const refused = start();
  if (refused !== null) send({ type: 'refused', refused });
} catch (error) {
  send({ type: 'refused', refused: refusalOf(error, file) });
}
