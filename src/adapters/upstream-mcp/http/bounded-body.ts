/**
 * An HTTP answer that cannot grow without end, nor flood: a JSON body has a size, a stream of events has a size for each
 * event and a pace. Must not read what the answer says.
 */
import type { Transformer } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';
import { createFloodGate, type FloodGate } from './flood-gate.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { MessageTooLarge } from '../transport-faults.ts';

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';
}

/** The same answer with a body that is measured while it is read; bodies that are given the same gate share a pace. */
export function boundBody(response: Response, limits: McpLimits, gate: FloodGate = createPace(limits)): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const measure = isEventStream(response) ? measureEvents(limits, gate) : measureWhole(limits);
  return new Response(body.pipeThrough(new TransformStream(measure)), { status, statusText, headers });
}

export function createPace({ floodBurst, floodPerSecond }: McpLimits): FloodGate {
  return createFloodGate(floodBurst, floodPerSecond);
}

function measureWhole({ maxMessageBytes }: McpLimits): Transformer<Uint8Array, Uint8Array> {
  let size = 0;
  return {
    transform(chunk, controller) {
      size += chunk.length;
      if (size > maxMessageBytes) throw new MessageTooLarge(maxMessageBytes);
      controller.enqueue(chunk);
    },
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** An event has a few lines; where it has more, or there are only lines, so many of them count as one. */
const linesOfAnEvent = 8;
/** No more than this is handed on at once: all that one read brings would take everybody's time before its pace is known. */
const maxAtOnce = 128;

/** An event ends with an empty line; whatever comes without one counts as the same event. */
function measureEvents({ maxMessageBytes }: McpLimits, gate: FloodGate): Transformer<Uint8Array, Uint8Array> {
  let size = 0;
  let line = 0;
  let returned = false;
  return {
    async transform(chunk, controller) {
      let events = 0;
      let lines = 0;
      let handedOn = 0;
      const handOn = async (to: number) => {
        const units = Math.max(events, lines / linesOfAnEvent);
        controller.enqueue(chunk.subarray(handedOn, to));
        [events, lines, handedOn] = [0, 0, to];
        const restMs = units === 0 ? 0 : gate.spend(units);
        if (restMs > 0) await pause(restMs, undefined, { ref: false });
      };
      let from = 0;
      let feed = chunk.indexOf(lineFeed);
      let back = chunk.indexOf(carriageReturn);
      while (feed >= 0 || back >= 0) {
        const isFeed = back < 0 || (feed >= 0 && feed < back);
        const at = isFeed ? feed : back;
        // A line feed after a carriage return, even one in the last chunk, is the other half of the same end.
        const isHalf = isFeed && returned && at === from;
        line += at - from;
        size += at - from + 1;
        if (!isHalf) lines++;
        if (!isHalf && line === 0) {
          events++;
          size = 0;
        }
        if (size > maxMessageBytes) throw new MessageTooLarge(maxMessageBytes);
        line = 0;
        returned = !isFeed;
        from = at + 1;
        if (isFeed) feed = chunk.indexOf(lineFeed, from);
        else back = chunk.indexOf(carriageReturn, from);
        if (events >= maxAtOnce || lines >= maxAtOnce * linesOfAnEvent) await handOn(from);
      }
      const left = chunk.length - from;
      if (left > 0) returned = false;
      line += left;
      size += left;
      if (size > maxMessageBytes) throw new MessageTooLarge(maxMessageBytes);
      if (handedOn < chunk.length) await handOn(chunk.length);
    },
  };
}
