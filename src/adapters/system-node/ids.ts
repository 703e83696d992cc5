/** Makes ids: a prefix and 26 characters of Crockford's base 32, from the machine's random source. */
import { randomFillSync } from 'node:crypto';
import type { Ids } from '../../ports/ids.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const poolSize = 16_384;
const pool = Buffer.alloc(poolSize);
let used = poolSize;

/** One system call for a thousand ids. */
function randomChars(count: number): string {
  if (used + count > poolSize) {
    randomFillSync(pool);
    used = 0;
  }
  let text = '';
  for (let i = 0; i < count; i++) text += alphabet[(pool[used++] ?? 0) & 31];
  return text;
}

function timeChars(ms: number): string {
  let text = '';
  for (let rest = ms, i = 0; i < 10; i++) {
    text = `${alphabet[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}

let lastMs = -1;
let counter = 0;

export const nodeIds: Ids = {
  ordered(prefix, nowMs) {
    // Within one millisecond a counter keeps the order, so that rows are appended and never inserted.
    counter = nowMs === lastMs ? counter + 1 : 0;
    lastMs = nowMs;
    const order = timeChars(counter).slice(-3);
    return `${prefix}${timeChars(nowMs)}${order}${randomChars(13)}`;
  },
  random: (prefix) => `${prefix}${randomChars(26)}`,
  chance: Math.random,
};
