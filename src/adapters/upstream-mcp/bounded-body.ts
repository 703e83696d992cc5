/**
 * An HTTP answer that cannot grow without end, nor flood: a JSON body has a size, a stream of events has a size for each
 * event and a pace. Must not read what the answer says.
 */
import type { Transformer } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';
import { createFloodGate } from './flood-gate.ts';
import type { McpLimits } from './mcp-limits.ts';
import { MessageTooLarge } from './transport-faults.ts';

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';
}

/** The same answer with a body that is measured while it is read. */
export function boundBody(response: Response, limits: McpLimits): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const measure = isEventStream(response) ? measureEvents(limits) : measureWhole(limits);
  return new Response(body.pipeThrough(new TransformStream(measure)), { status, statusText, headers });
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

/** An event ends with an empty line; whatever comes without one counts as the same event. */
function measureEvents(limits: McpLimits): Transformer<Uint8Array, Uint8Array> {
  const gate = createFloodGate(limits.floodBurst, limits.floodPerSecond);
  let size = 0;
  let line = 0;
  return {
    async transform(chunk, controller) {
      let events = 0;
      let from = 0;
      for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
        const length = line + at - from;
        // A carriage return before the line's end is no content; should it stand alone in the last chunk, nothing is lost but a count.
        const isEmpty = length === 0 || (length === 1 && at > from && chunk[at - 1] === 0x0d);
        size = isEmpty ? 0 : size + at - from + 1;
        if (size > limits.maxMessageBytes) throw new MessageTooLarge(limits.maxMessageBytes);
        if (isEmpty) events++;
        line = 0;
        from = at + 1;
      }
      line += chunk.length - from;
      size += chunk.length - from;
      if (size > limits.maxMessageBytes) throw new MessageTooLarge(limits.maxMessageBytes);
      controller.enqueue(chunk);
      const restMs = events === 0 ? 0 : gate.spend(events);
      if (restMs > 0) await pause(restMs);
    },
  };
}
