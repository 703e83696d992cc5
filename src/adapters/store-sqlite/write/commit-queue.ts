/** The queue of requests that wait to be written, bounded in number and in bytes. */
import type { CommitResult } from '../../../ports/store.ts';
import type { WriteRequest } from './batch.ts';
import { textOf } from '../file/refusal.ts';
import { type FlatRequest, flatten } from './wire.ts';

export interface BatchLimits {
  /** A batch holds at most this many transitions, */
  readonly maxTransitions: number;
  /** and about this many bytes, but always one transition. */
  readonly maxBytes: number;
  /** Transitions that may wait; one more is refused as overloaded. */
  readonly maxQueued: number;
}

export const defaultBatch: BatchLimits = { maxTransitions: 512, maxBytes: 4 << 20, maxQueued: 10_000 };

/** The queue holds at most this many full batches in bytes. */
const maxQueuedBatches = 64;

/** The requests of one commit: its promise resolves when the last of them has a result. */
interface Group {
  readonly results: CommitResult[];
  missing: number;
  readonly resolve: (results: readonly CommitResult[]) => void;
}

export interface Waiting {
  readonly request: WriteRequest;
  readonly flat: FlatRequest;
  readonly bytes: number;
  readonly group: Group;
  readonly index: number;
}

export function createCommitQueue(limits: BatchLimits, file: string) {
  let waiting: Waiting[] = [];
  let bytesWaiting = 0;

  /** Null, or why it cannot wait here. */
  const addOne = (request: WriteRequest, group: Group, index: number): CommitResult | null => {
    let own: number;
    let flat: FlatRequest;
    try {
      own = sizeOf(request);
      flat = flatten(request);
    } catch (error) {
      return notPlain(error);
    }
    const bytes = bytesWaiting + own;
    if (waiting.length >= limits.maxQueued || (waiting.length > 0 && bytes > limits.maxBytes * maxQueuedBatches)) {
      const message = `too many commits wait for '${file}': ask again later`;
      return { kind: 'unavailable', fault: 'overloaded', message };
    }
    bytesWaiting = bytes;
    waiting.push({ request, flat, bytes: own, group, index });
    return null;
  };

  return {
    isEmpty: () => waiting.length === 0,
    length: () => waiting.length,
    /** Resolves when each request has its result; one that cannot wait here is refused at once. */
    add(requests: readonly WriteRequest[]): Promise<readonly CommitResult[]> {
      return new Promise((resolve) => {
        const group: Group = { results: [], missing: requests.length, resolve };
        for (const [index, request] of requests.entries()) {
          const refused = addOne(request, group, index);
          if (refused !== null) land({ group, index }, refused);
        }
      });
    },
    /** The longest waiting that fit into one batch. */
    take(): readonly Waiting[] {
      let bytes = 0;
      let count = 0;
      for (; count < waiting.length && count < limits.maxTransitions; count++) {
        const next = (waiting[count] as Waiting).bytes;
        if (count > 0 && bytes + next > limits.maxBytes) break;
        bytes += next;
      }
      bytesWaiting -= bytes;
      if (count < waiting.length) return waiting.splice(0, count);
      const all = waiting;
      waiting = [];
      return all;
    },
  };
}

/** Gives a request its result. */
export function land({ group, index }: Pick<Waiting, 'group' | 'index'>, result: CommitResult): void {
  group.results[index] = result;
  group.missing -= 1;
  if (group.missing === 0) group.resolve(group.results);
}

/** Refuses a request that is not what its type says, and no other. */
export function notPlain(error: unknown): CommitResult {
  return { kind: 'conflict', on: 'illegal', problem: `the transition is not plain data: ${textOf(error)}` };
}

/** About how many bytes a request takes: only its texts can be large. */
function sizeOf(request: WriteRequest): number {
  let bytes = 1_024;
  if ('erase' in request) return bytes;
  for (const { text } of request.blobs) bytes += text.length;
  for (const { approval } of request.approvals) bytes += JSON.stringify(approval).length;
  for (const write of request.tickets) bytes += JSON.stringify(write).length;
  for (const write of request.reversals) bytes += JSON.stringify(write).length;
  for (const write of request.rollbacks) bytes += JSON.stringify(write).length;
  for (const { body, payloads } of request.records) {
    bytes += body.length;
    for (const { text } of payloads) bytes += text.length;
  }
  // Whoever could not be measured would count as no number, and nobody after it would find room.
  if (!Number.isSafeInteger(bytes)) throw new TypeError('one of its texts is none');
  return bytes;
}
