/** Reads the JSON-RPC messages of an event stream, and the ids and delays by which the stream can be resumed. */
import { createParser } from 'eventsource-parser';
import { boundEvents } from './bound-events.ts';
import type { TokenBucket } from '../token-bucket.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { parseAnswer } from '../rpc-message.ts';

export interface StreamReader {
  onMessage(message: unknown): void;
  /** The id of a complete event, before its message; empty if the stream cannot be resumed from here on. */
  onId(id: string): void;
  /** How long to wait before a stream that ended is asked for again. */
  onRetry(ms: number): void;
}

/** Resolves when the stream is over; rejects when it breaks. An event that is not complete by then is not reported. */
export async function readEvents(
  stream: AsyncIterable<Uint8Array>,
  limits: McpLimits,
  { onMessage, onId, onRetry }: StreamReader,
  gate?: TokenBucket,
): Promise<void> {
  const decoder = new TextDecoder();
  const parser = createParser({
    onId,
    onRetry,
    onEvent({ event = 'message', data }) {
      const message = event === 'message' ? messageIn(data) : undefined;
      if (message !== undefined) onMessage(message);
    },
  });
  // The size of an event is bounded before the parser sees it.
  for await (const chunk of boundEvents(stream, limits, gate)) parser.feed(decoder.decode(chunk, { stream: true }));
}

/** Text that is no JSON is no message: nobody waits for it by any id. */
function messageIn(data: string): unknown {
  try {
    return parseAnswer(data);
  } catch {
    return undefined;
  }
}
