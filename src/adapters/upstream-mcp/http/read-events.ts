/**
 * Reads a stream of server-sent events: the messages in it, and the marks by which it can be taken up again. Costs the length
 * of what came, however small its pieces are. Whatever is no event of a message is passed over.
 */
import { boundEvents } from './bound-events.ts';
import type { FloodGate } from './flood-gate.ts';
import { parseAnswer } from '../parse-answer.ts';
import type { McpLimits } from '../mcp-limits.ts';

export interface StreamEvent {
  /** Undefined if it carries none. */
  readonly message: unknown;
  /** The mark of this place in the stream; empty: it has none from here on; null: nothing is said about it. */
  readonly id: string | null;
  /** How long to wait before a stream that ended is asked for again. */
  readonly retryMs: number | null;
}

/** Resolves when the stream is over; rejects when it breaks. What it broke off in the middle of an event is not told. */
export async function readEvents(
  stream: AsyncIterable<Uint8Array>,
  limits: McpLimits,
  onEvent: (event: StreamEvent) => void,
  gate?: FloodGate,
): Promise<void> {
  const decoder = new TextDecoder();
  const push = splitLines(collectFields(onEvent));
  for await (const chunk of boundEvents(stream, limits, gate)) push(decoder.decode(chunk, { stream: true }));
}

/** Looks at each piece once and keeps it until its line is whole; a line ends with CR LF, LF or CR. */
function splitLines(onLine: (line: string) => void): (text: string) => void {
  let parts: string[] = [];
  let returned = false;
  return (text) => {
    if (text === '') return;
    // A line feed after the last piece's carriage return is the other half of the same end.
    let from = returned && text.startsWith('\n') ? 1 : 0;
    returned = text.endsWith('\r');
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      parts.push(text.slice(from, end.index));
      from = ends.lastIndex;
      const line = parts.join('');
      parts = [];
      onLine(line);
    }
    if (from < text.length) parts.push(text.slice(from));
  };
}

/** An event is what stands before an empty line. */
function collectFields(onEvent: (event: StreamEvent) => void): (line: string) => void {
  let name = '';
  let data: string[] = [];
  let id: string | null = null;
  let retryMs: number | null = null;
  return (line) => {
    if (line === '') {
      const isMessage = name === '' || name === 'message';
      const event = { message: isMessage ? messageIn(data) : undefined, id, retryMs };
      [name, data, id, retryMs] = ['', [], null, null];
      return onEvent(event);
    }
    const colon = line.indexOf(':');
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    switch (colon < 0 ? line : line.slice(0, colon)) {
      case 'event':
        name = value;
        return;
      case 'data':
        data.push(value);
        return;
      case 'id':
        if (!value.includes('\0')) id = value;
        return;
      case 'retry':
        if (/^\d+$/.test(value)) retryMs = Number(value);
        return;
      default:
        // A comment, or a field that says nothing about messages.
        return;
    }
  };
}

/** What is no JSON is no message: nobody waits for it by any id. */
function messageIn(data: readonly string[]): unknown {
  if (data.length === 0) return undefined;
  try {
    return parseAnswer(data.join('\n'));
  } catch {
    return undefined;
  }
}
