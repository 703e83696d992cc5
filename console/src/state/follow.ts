/** Follows an event stream of the API, and comes back where it stopped. Reads it itself: EventSource sends no header. */
import { createParser } from 'eventsource-parser';
import { ourHeaders } from './api.ts';
import { signedOut } from './signed-out.ts';

export interface FollowOrder {
  readonly path: string;
  /** The position to continue after; null for where the stream begins by itself. */
  readonly after: string | null;
  readonly onEvent: (name: string, data: unknown) => void;
  readonly onOpen?: () => void;
  /** It broke, and is tried again. */
  readonly onBroken?: () => void;
}

const firstPauseMs = 500;
const longestPauseMs = 10_000;

/** Returns what ends it. */
export function follow(order: FollowOrder): () => void {
  const ending = new AbortController();
  void run(order, ending.signal);
  return () => ending.abort();
}

async function run({ path, after, onEvent, onOpen, onBroken }: FollowOrder, signal: AbortSignal): Promise<void> {
  let last = after;
  let pauseMs = firstPauseMs;
  const open = () => {
    pauseMs = firstPauseMs;
    onOpen?.();
  };
  const parser = () =>
    createParser({
      onEvent({ id, event, data }) {
        last = id ?? last;
        if (event !== undefined && event !== 'end') onEvent(event, parsed(data));
      },
    });
  while (!signal.aborted) {
    await readOnce(path, last, parser(), open, signal);
    if (signal.aborted) return;
    onBroken?.();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

type Parser = ReturnType<typeof createParser>;

async function readOnce(
  path: string,
  last: string | null,
  parser: Parser,
  onOpen: () => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const headers = { ...ourHeaders, accept: 'text/event-stream', ...(last === null ? {} : { 'last-event-id': last }) };
    const response = await fetch(path, { headers, credentials: 'same-origin', signal });
    if (response.status === 401) signedOut('The session is over: sign in again.');
    if (!response.ok || response.body === null) return;
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(value);
    }
  } catch {
    // Ignored: whatever ended the stream, it is opened again after a pause.
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
