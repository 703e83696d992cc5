/** A streamed answer as a client without a library reads it. */
import { createParser } from 'eventsource-parser';
import { isObject } from '../../../src/core/values/json.ts';

export interface ReadStream {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly { readonly event: string | undefined; readonly data: string }[];
  /** The text of the first choice or block. */
  readonly text: string;
}

export interface Question {
  readonly key: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const askFor = (url: string, { key, body, headers = {}, signal }: Question): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

export async function readStream(response: Response): Promise<ReadStream> {
  const events: { event: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => void events.push({ event, data }) });
  parser.feed(await response.text());
  const text = events.map(({ data }) => textIn(data)).join('');
  return { status: response.status, headers: response.headers, events, text };
}

function textIn(data: string): string {
  if (!data.startsWith('{')) return '';
  const { choices, delta } = JSON.parse(data) as { choices?: readonly unknown[]; delta?: unknown };
  const [choice] = choices ?? [];
  const added = isObject(choice) ? choice['delta'] : delta;
  if (!isObject(added)) return '';
  const { content, text } = added;
  return typeof content === 'string' ? content : typeof text === 'string' ? text : '';
}
