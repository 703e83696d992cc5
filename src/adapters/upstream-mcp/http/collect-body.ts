/** Reads a body as a whole, up to its bound. */
import type { Posted, Waiting } from './carrier.ts';
import { MessageTooLarge } from '../transport-faults.ts';

/** The status of a refusal says enough; of its words the first ones do. */
export function endTooLarge(
  head: Pick<Posted, 'status' | 'headers'>,
  body: Collected,
  maxBytes: number,
  waiting: Waiting,
): void {
  if (head.status < 300) waiting.fail(new MessageTooLarge(maxBytes));
  else waiting.done({ ...head, body: body.whole() });
}

export interface Collected {
  /** False: this would be too much, and is left out. */
  add(chunk: Buffer): boolean;
  whole(): Buffer;
}

/** Very many small pieces would take far more memory than their bytes. */
const maxPieces = 1_024;

export function collect(maxBytes: number): Collected {
  let large: Buffer[] = [];
  let small: Buffer[] = [];
  let size = 0;
  return {
    add(chunk) {
      size += chunk.length;
      if (size > maxBytes) return false;
      if (small.push(chunk) >= maxPieces) {
        large.push(Buffer.concat(small));
        small = [];
      }
      return true;
    },
    whole() {
      const [only, ...others] = [...large, ...small];
      large = small = [];
      return only === undefined ? Buffer.alloc(0) : others.length === 0 ? only : Buffer.concat([only, ...others]);
    },
  };
}
