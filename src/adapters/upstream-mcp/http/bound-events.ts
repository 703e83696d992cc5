/**
 * Limits an event stream: a size for each event, and a pace for all of them. Passes the bytes on unchanged; does not parse them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createTokenBucket, type TokenBucket } from '../token-bucket.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { MessageTooLarge } from '../transport-faults.ts';

export function createPace({ floodBurst, floodPerSecond }: McpLimits): TokenBucket {
  return createTokenBucket(floodBurst, floodPerSecond);
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** An event has a few lines. Where it has more, or there are only lines, so many of them count as one event. */
const linesPerEvent = 8;
/** At most so many events are passed on before the pace is checked: one read may bring thousands. */
const maxAtOnce = 128;

/** Streams that are given the same gate share a pace. Throws MessageTooLarge. */
export async function* boundEvents(
  stream: AsyncIterable<Uint8Array>,
  limits: McpLimits,
  gate: TokenBucket = createPace(limits),
): AsyncGenerator<Uint8Array> {
  const measure = createMeasure(limits.maxMessageBytes);
  for await (const chunk of stream) {
    for (let from = 0; from < chunk.length;) {
      const { to, units } = measure(chunk, from);
      yield chunk.subarray(from, to);
      from = to;
      const waitMs = units === 0 ? 0 : gate.spend(units);
      if (waitMs > 0) await pause(waitMs, undefined, { ref: false });
    }
  }
}

/** Reads on from `from`: up to where, and how many events that was. An event ends with an empty line. */
function createMeasure(maxBytes: number): (chunk: Uint8Array, from: number) => { to: number; units: number } {
  let size = 0;
  let line = 0;
  let returned = false;
  return (chunk, start) => {
    let events = 0;
    let lines = 0;
    let from = start;
    let feed = chunk.indexOf(lineFeed, from);
    let back = chunk.indexOf(carriageReturn, from);
    while ((feed >= 0 || back >= 0) && events < maxAtOnce && lines < maxAtOnce * linesPerEvent) {
      const isFeed = back < 0 || (feed >= 0 && feed < back);
      const at = isFeed ? feed : back;
      // A line feed right after a carriage return, even one in the chunk before, belongs to the same line end.
      const isHalf = isFeed && returned && at === from;
      line += at - from;
      size += at - from + 1;
      if (!isHalf) lines++;
      if (!isHalf && line === 0) {
        events++;
        size = 0;
      }
      if (size > maxBytes) throw new MessageTooLarge(maxBytes);
      line = 0;
      returned = !isFeed;
      from = at + 1;
      if (isFeed) feed = chunk.indexOf(lineFeed, from);
      else back = chunk.indexOf(carriageReturn, from);
    }
    const units = Math.max(events, lines / linesPerEvent);
    if (feed >= 0 || back >= 0) return { to: from, units };
    const left = chunk.length - from;
    if (left > 0) returned = false;
    line += left;
    size += left;
    if (size > maxBytes) throw new MessageTooLarge(maxBytes);
    return { to: chunk.length, units };
  };
}
