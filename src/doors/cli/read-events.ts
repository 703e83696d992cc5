/** Reads the events of a gateway's event stream, piece by piece as it comes. Gives up on what is no stream of ours. */
import { createParser } from 'eventsource-parser';
import type { DaemonEvent } from './daemon.ts';

/** The largest event is an approval with its arguments. */
const maxEventChars = 32 << 20;

export interface EventReading {
  /** The events that are complete with this piece; null if this is no stream of events. */
  take(piece: string): readonly DaemonEvent[] | null;
}

export function readEvents(): EventReading {
  let events: DaemonEvent[] = [];
  let id: string | null = null;
  let isTooLarge = false;
  /**
   * Since the last event or comment: lines that are neither are not buffered by the parser, and must not go on for
   * ever.
   */
  let chars = 0;
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onId: (given) => void (id = given),
    onEvent({ event = 'message', data }) {
      events.push({ id, event, data: parsed(data) });
      chars = 0;
    },
    onComment: () => void (chars = 0),
    onError: ({ type }) => void (isTooLarge ||= type === 'max-buffer-size-exceeded'),
  });
  return {
    take(piece) {
      chars += piece.length;
      if (!isTooLarge) parser.feed(piece);
      isTooLarge ||= chars > maxEventChars;
      const complete = events;
      events = [];
      return isTooLarge ? null : complete;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
