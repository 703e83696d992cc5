/** Reads a stream of server-sent events for the messages in it. Whatever is no event of a message is passed over. */
import { boundBody } from './bounded-body.ts';
import type { McpLimits } from './mcp-limits.ts';

/** Resolves when the stream is over; rejects when it breaks. */
export async function readEvents(
  response: Response,
  limits: McpLimits,
  onMessage: (message: unknown) => void,
): Promise<void> {
  const { body } = boundBody(response, limits);
  if (body === null) return;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    // A carriage return at the very end may be half of a line's end.
    for (let end = /\r\n\r\n|\n\n|\r\r(?!\n)/.exec(text); end !== null; end = /\r\n\r\n|\n\n|\r\r(?!\n)/.exec(text)) {
      tell(text.slice(0, end.index), onMessage);
      text = text.slice(end.index + end[0].length);
    }
  }
}

function tell(event: string, onMessage: (message: unknown) => void): void {
  const fields = event.split(/\r\n|\n|\r/);
  const name = fields.find((field) => field.startsWith('event:'));
  if (name !== undefined && valueOf(name) !== 'message') return;
  const data = fields.filter((field) => field.startsWith('data:')).map(valueOf);
  if (data.length === 0) return;
  let message: unknown;
  try {
    message = JSON.parse(data.join('\n'));
  } catch {
    // No message: nobody waits for it by any id.
    return;
  }
  onMessage(message);
}

const valueOf = (field: string): string => field.slice(field.indexOf(':') + 1).replace(/^ /, '');
