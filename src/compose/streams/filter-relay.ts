/**
 * Filters what an attempt relays, as its result is filtered. What is held back is sent when the attempt is over, and
 * nothing after that.
 */
import type { Attempt, Relay, StreamEvent } from '../../ports/upstream.ts';

export interface EventFilter {
  /** What may be sent now, in order. */
  take(event: StreamEvent): Promise<readonly StreamEvent[]>;
  end(): Promise<readonly StreamEvent[]>;
}

export interface FilteredAttempt {
  readonly attempt: Attempt;
  /** Resolves when all was sent. */
  end(): Promise<void>;
}

export function filterRelay(attempt: Attempt, createFilter: () => EventFilter): FilteredAttempt {
  const { relay } = attempt;
  if (relay === undefined) return { attempt, end: async () => undefined };
  const filter = createFilter();
  let isOver = false;
  let last: Promise<boolean> = Promise.resolve(true);
  const sendAll = async (ready: readonly StreamEvent[]): Promise<boolean> => {
    for (const event of ready) if (!(await relay.send(event))) return false;
    return true;
  };
  /** One after the other, also if somebody does not wait. */
  const next = (ready: () => Promise<readonly StreamEvent[]>): Promise<boolean> =>
    (last = last.then(async (isRead) => isRead && sendAll(await ready())));
  const filtered: Relay = { send: (event) => (isOver ? Promise.resolve(false) : next(() => filter.take(event))) };
  return {
    attempt: { ...attempt, relay: filtered },
    async end() {
      isOver = true;
      await next(() => filter.end());
    },
  };
}

/** The data of an event as a value; a text if it is no JSON. */
export function dataOf({ data }: StreamEvent): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

export const withData = (event: StreamEvent, data: unknown): StreamEvent => ({
  ...event,
  data: typeof data === 'string' ? data : JSON.stringify(data),
});
