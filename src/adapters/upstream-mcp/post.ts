/**
 * Sends one POST over node:http, which takes half the time of fetch and ends no answer by a limit of its own. A whole body
 * is read here, up to its bound; a stream of events is handed on. Redirects are left to whoever asked.
 */
import { request as overHttp, Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as overHttps, Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { MessageTooLarge } from './transport-faults.ts';

const idleMs = 30_000;
const settings = { keepAlive: true, timeout: idleMs, scheduling: 'lifo' } as const;
const agents = { 'http:': new HttpAgent(settings), 'https:': new HttpsAgent(settings) } as const;

export interface PostOrder {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal | null;
  readonly maxBodyBytes: number;
}

export interface Posted {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole body; a stream of events as it comes. */
  readonly body: Buffer | IncomingMessage;
}

export function post(url: URL, { headers, body, signal, maxBodyBytes }: PostOrder): Promise<Posted> {
  const isTls = url.protocol === 'https:';
  const bytes = Buffer.from(body, 'utf8');
  const options = {
    method: 'POST',
    headers: { ...headers, 'content-length': String(bytes.length) },
    agent: isTls ? agents['https:'] : agents['http:'],
    ...(signal === null ? {} : { signal }),
  };
  return new Promise((resolve, reject) => {
    // Errors have the form of fetch's: whoever reads them looks for the cause.
    const fail = (error: unknown) =>
      reject(signal?.aborted === true ? signal.reason : new TypeError('fetch failed', { cause: error }));
    const sent = (isTls ? overHttps : overHttp)(url, options, (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      if (isEventStream(response.headers)) return resolve({ ...answer, body: response });
      readWhole(response, maxBodyBytes, (read) => resolve({ ...answer, body: read }), fail);
    });
    sent.on('error', fail);
    // The agent's timeout closes connections that rest; one that is in use waits for its answer.
    sent.on('socket', (socket) => socket.setTimeout(0));
    sent.end(bytes);
  });
}

export const isEventStream = (headers: IncomingHttpHeaders): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';

/** What `fetch` would have given. */
export function toResponse({ status, headers, body }: Posted): Response {
  const init = { status, headers: new Headers(headers as Record<string, string>) };
  if (!Buffer.isBuffer(body)) return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array> as never, init);
  const empty = status === 204 || status === 304 || body.length === 0;
  return new Response(empty ? null : new Uint8Array(body), init);
}

function readWhole(
  response: IncomingMessage,
  maxBodyBytes: number,
  done: (body: Buffer) => void,
  fail: (error: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBodyBytes) return void chunks.push(chunk);
    // The status of a refusal says enough; of its words the first ones do.
    if ((response.statusCode ?? 0) < 300) fail(new MessageTooLarge(maxBodyBytes));
    else done(Buffer.concat(chunks));
    response.destroy();
  });
  response.on('end', () => done(Buffer.concat(chunks)));
  response.on('error', fail);
  // Broken off: after the end nobody listens any more.
  response.on('close', () => fail(new Error('the connection was closed in the middle of the answer')));
}
