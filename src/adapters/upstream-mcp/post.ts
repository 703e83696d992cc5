/**
 * Sends one POST and gives back what `fetch` would: over node:http, which takes half the time of it and ends no answer by a limit
 * of its own. A whole body is read here, up to its bound; a stream of events is handed on. Redirects are left to whoever asked.
 */
import { request as overHttp, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as overHttps, Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { MessageTooLarge } from './transport-faults.ts';

const idleMs = 30_000;
const settings = { keepAlive: true, timeout: idleMs, scheduling: 'lifo' } as const;
const agents = { 'http:': new HttpAgent(settings), 'https:': new HttpsAgent(settings) } as const;

export interface PostOrder {
  readonly headers: Headers;
  readonly body: string;
  readonly signal: AbortSignal | null;
  readonly maxBodyBytes: number;
}

export function post(url: URL, { headers, body, signal, maxBodyBytes }: PostOrder): Promise<Response> {
  const isTls = url.protocol === 'https:';
  const bytes = Buffer.from(body, 'utf8');
  const options = {
    method: 'POST',
    headers: { ...Object.fromEntries(headers), 'content-length': String(bytes.length) },
    agent: isTls ? agents['https:'] : agents['http:'],
    ...(signal === null ? {} : { signal }),
  };
  return new Promise((resolve, reject) => {
    // Errors have the form of fetch's: whoever reads them looks for the cause.
    const fail = (error: unknown) =>
      reject(signal?.aborted === true ? signal.reason : new TypeError('fetch failed', { cause: error }));
    const sent = (isTls ? overHttps : overHttp)(url, options, (response) => {
      read(response, maxBodyBytes).then(resolve, fail);
    });
    sent.on('error', fail);
    // The agent's timeout closes connections that rest; one that is in use waits for its answer.
    sent.on('socket', (socket) => socket.setTimeout(0));
    sent.end(bytes);
  });
}

async function read(response: IncomingMessage, maxBodyBytes: number): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headersDistinct))
    for (const one of value ?? []) headers.append(name, one);
  const status = response.statusCode ?? 0;
  const init = { status, statusText: response.statusMessage ?? '', headers };
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type === 'text/event-stream')
    return new Response(Readable.toWeb(response) as ReadableStream<Uint8Array> as never, init);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) {
      chunks.push(chunk);
      continue;
    }
    response.destroy();
    // The status of a refusal says enough; of its words the first ones do.
    if (status < 300) throw new MessageTooLarge(maxBodyBytes);
    break;
  }
  const empty = status === 204 || status === 304 || size === 0;
  return new Response(empty ? null : Buffer.concat(chunks), init);
}
