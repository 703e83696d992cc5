/**
 * The thread that writes keys, so that an fsync or another process's lock blocks nothing else. Started by
 * writer-thread.ts. It never sees a secret.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { KeyEntry, NewKey } from '../../ports/keyring.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { openDatabase, writeTimeoutMs } from './key-table.ts';
import { keyringError, type KeyringReason } from './keyring-error.ts';
import { createKeyWriter, type Fresh, type KeyWriter, type Rotation } from './write-keys.ts';

export type Order =
  | { readonly type: 'add'; readonly fresh: Fresh; readonly key: NewKey; readonly nowMs: number }
  | ({ readonly type: 'rotate'; readonly fresh: Fresh; readonly nowMs: number } & Rotation)
  | { readonly type: 'revoke'; readonly tenant: string; readonly id: string; readonly nowMs: number }
  | { readonly type: 'use'; readonly marks: readonly (readonly [id: string, atMs: number])[] };

/** The result of an order: the written entry, whether there was one, or nothing. */
export type Done = KeyEntry | boolean | null;

export type ToWorker = { readonly at: number; readonly order: Order } | 'close';

export type FromWorker =
  | { readonly at: number; readonly done: Done }
  | { readonly at: number; readonly problem: { readonly reason: KeyringReason; readonly message: string } };

const { file } = workerData as { readonly file: string };
const port = parentPort as MessagePort;

function carryOut(order: Order, writer: KeyWriter): Done {
  switch (order.type) {
    case 'add':
      return writer.add(order.fresh, order.key, order.nowMs);
    case 'rotate':
      return writer.rotate(order.fresh, order, order.nowMs);
    case 'revoke':
      return writer.revoke(order.tenant, order.id, order.nowMs);
    case 'use':
      writer.use(order.marks);
      return null;
    default:
      return unreachable(order);
  }
}

// A file that cannot be opened is tried again with the next order.
let opened: { readonly writer: KeyWriter; readonly close: () => void } | null = null;

async function open() {
  const database = await openDatabase(file, writeTimeoutMs);
  return { writer: createKeyWriter(database, file), close: () => database.close() };
}

async function obey(message: ToWorker): Promise<void> {
  if (message === 'close') {
    opened?.close();
    port.close();
    return;
  }
  const { at, order } = message;
  try {
    opened ??= await open();
    port.postMessage({ at, done: carryOut(order, opened.writer) } satisfies FromWorker);
  } catch (error) {
    const { reason, message: text } = keyringError(error, file);
    port.postMessage({ at, problem: { reason, message: text } } satisfies FromWorker);
  }
}

// One at a time, in order.
let last = Promise.resolve();
port.on('message', (message: ToWorker) => {
  last = last.then(() => obey(message));
});
