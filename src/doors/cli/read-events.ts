/** Which events are in a stream of server-sent events? Reads it piece by piece as it comes, as the HTML standard says. Bounded. */
import type { DaemonEvent } from './daemon.ts';

/** An event is an approval with its arguments: what is larger is no event of ours. */
const maxEventChars = 32 << 20;

export interface EventReading {
  /** The events that are complete with this piece; null if this is no stream of events. */
  take(piece: string): readonly DaemonEvent[] | null;
}

export function readEvents(): EventReading {
  let rest = '';
  let id: string | null = null;
  let event = '';
  let data: string[] = [];
  let chars = 0;

  /** An event ends with an empty line; one without data is none. */
  const finish = (): DaemonEvent | null => {
    const told =
      data.length === 0 ? null : { id, event: event === '' ? 'message' : event, data: parsed(data.join('\n')) };
    [event, data, chars] = ['', [], 0];
    return told;
  };
  const line = (text: string): DaemonEvent | null => {
    if (text === '') return finish();
    const colon = text.indexOf(':');
    // A comment says that somebody is there.
    if (colon === 0) return null;
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') id = value;
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
    return null;
  };
  return {
    take(piece) {
      chars += piece.length;
      const lines = `${rest}${piece}`.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      const told = lines.map(line).filter((each) => each !== null);
      return chars > maxEventChars || rest.length > maxEventChars ? null : told;
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
