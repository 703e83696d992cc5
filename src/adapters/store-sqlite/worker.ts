/**
 * The thread that writes. One connection, one batch at a time; an fsync that takes a quarter of a second stops nobody
 * else. Started by writer.ts, which speaks with it in the messages below.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { createBatchWriter, type WriteRequest } from './batch.ts';
import { openForWriting } from './connection.ts';
import { openEpoch, readTail, resumeEpoch, verifyTail } from './epoch.ts';
import { refusalOf, refuse, type Refused } from './refusal.ts';
import { prepareStatements } from './statements.ts';

export interface WorkerOptions {
  readonly file: string;
  readonly maxPages: number | null;
  /** The epoch to go on with after a worker died; null opens the next one. */
  readonly resume: number | null;
  readonly nowMs: number;
}

/** Each request as JSON. */
export interface WrittenBatch {
  readonly requests: readonly string[];
  readonly answered: number | null;
}

export type ToWorker =
  | ({ readonly type: 'batch' } & WrittenBatch)
  | { readonly type: 'close'; readonly answered: number | null; readonly nowMs: number };

export type FromWorker =
  | { readonly type: 'ready'; readonly epoch: number; readonly highestTimeMs: number }
  | { readonly type: 'refused'; readonly refused: Refused }
  /** The results of a batch, as JSON. */
  | { readonly type: 'results'; readonly text: string };

const { file, maxPages, resume, nowMs } = workerData as WorkerOptions;
const send = (message: FromWorker) => parentPort?.postMessage(message);

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
  parentPort?.on('message', (message: ToWorker) => {
    if (message.type === 'batch') {
      const requests = message.requests.map((text) => JSON.parse(text) as WriteRequest);
      const results = writer.run({ requests, answered: message.answered });
      return send({ type: 'results', text: JSON.stringify(results) });
    }
    try {
      writer.close(message.answered, message.nowMs);
    } finally {
      database.close();
      parentPort?.close();
    }
  });
  send({ type: 'ready', epoch: chain.head().epoch, highestTimeMs: chain.head().timeMs });
  return null;
}

try {
  const refused = start();
  if (refused !== null) send({ type: 'refused', refused });
} catch (error) {
  send({ type: 'refused', refused: refusalOf(error, file) });
}
