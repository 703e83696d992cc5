/**
 * Limits an event stream: a size for each event, and a pace for all of them. Passes the bytes on unchanged; does not
 * parse them.
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

/** Reads on from `start`: up to where, and how many events that was. An event ends with an empty line. */
function createMeasure(maxBytes: number): (chunk: Uint8Array, start: number) => { to: number; units: number } {
  let size = 0;
  let line = 0;
  let returned = false;

  function count(bytes: number): void {
    size += bytes;
    if (size > maxBytes) throw new MessageTooLarge(maxBytes);
  }

  return (chunk, start) => {
    let events = 0;
    let lines = 0;
    let from = start;
    const unitsSoFar = () => Math.max(events, lines / linesPerEvent);
    for (const at of lineEnds(chunk, start)) {
      if (unitsSoFar() >= maxAtOnce) return { to: from, units: unitsSoFar() };
      const isFeed = chunk[at] === lineFeed;
      // A line feed right after a carriage return, even one in the chunk before, belongs to the same line end.
      const isHalf = isFeed && returned && at === from;
      line += at - from;
      if (!isHalf) lines++;
      if (!isHalf && line === 0) {
        events++;
        size = 0;
      } else count(at - from + 1);
      line = 0;
      returned = !isFeed;
      from = at + 1;
    }
    const left = chunk.length - from;
    if (left > 0) returned = false;
    line += left;
    count(left);
    return { to: chunk.length, units: unitsSoFar() };
  };
}

/** Where the carriage returns and line feeds are, in order. */
function* lineEnds(chunk: Uint8Array, start: number): Generator<number> {
  let feed = chunk.indexOf(lineFeed, start);
  let back = chunk.indexOf(carriageReturn, start);
  while (feed >= 0 || back >= 0) {
    const isFeed = back < 0 || (feed >= 0 && feed < back);
    yield isFeed ? feed : back;
    if (isFeed) feed = chunk.indexOf(lineFeed, feed + 1);
    else back = chunk.indexOf(carriageReturn, back + 1);
  }
}
