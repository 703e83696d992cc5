/**
 * Sends one POST, or one GET, over node:http, which takes half the time of fetch and ends no answer by a limit of its own. A
 * whole body is read here, up to its bound; a stream of events is handed on. Redirects are left to whoever asked.
 */
import { request as overHttp, Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as overHttps, Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { urlToHttpOptions } from 'node:url';
import { MessageTooLarge } from './transport-faults.ts';

const idleMs = 30_000;
const settings = { keepAlive: true, timeout: idleMs, scheduling: 'lifo' } as const;
const agents = { 'http:': new HttpAgent(settings), 'https:': new HttpsAgent(settings) } as const;

/** An address, taken apart once for all that is sent there. */
export interface Target {
  readonly isTls: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export function targetOf(url: URL): Target {
  const isTls = url.protocol === 'https:';
  const { auth, protocol, hostname, port, path } = urlToHttpOptions(url);
  const login = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const agent = isTls ? agents['https:'] : agents['http:'];
  return {
    isTls,
    options: { protocol, hostname, port, path, method: 'POST', agent },
    headers: { host: url.host, ...login },
  };
}

/** Names and values in turn, the form that node writes as it is. Of two that have one name, the later stands. */
export function headersFor(target: Target, ...given: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const named = new Map(Object.entries(target.headers));
  for (const headers of given)
    for (const [name, value] of Object.entries(headers)) named.set(name.toLowerCase(), value);
  named.delete('content-length');
  return [...named].flat();
}

export interface PostOrder {
  /** As made by headersFor. */
  readonly headers: readonly string[];
  /** Null: there is none. */
  readonly body: string | null;
  /** Gets the function that hangs up, for as long as there is a line. */
  readonly onLine: (hangUp: (reason: unknown) => void) => void;
  readonly maxBodyBytes: number;
}

export interface Posted {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole body; a stream of events as it comes. */
  readonly body: Buffer | IncomingMessage;
}

export function post(target: Target, { headers, body, onLine, maxBodyBytes }: PostOrder): Promise<Posted> {
  // Header and body as one text leave in one write.
  const length = body === null ? [] : ['content-length', String(Buffer.byteLength(body))];
  const options = { ...target.options, headers: [...headers, ...length] };
  return new Promise((resolve, reject) => {
    let settled = false;
    let hungUp: { readonly reason: unknown } | null = null;
    const done = (posted: Posted) => {
      settled = true;
      resolve(posted);
    };
    const fail = (error: () => unknown) => {
      if (settled) return;
      settled = true;
      reject(hungUp === null ? inFormOfFetch(error()) : hungUp.reason);
    };
    const sent = (target.isTls ? overHttps : overHttp)(options, (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      if (isEventStream(response.headers)) return done({ ...answer, body: response });
      readWhole(response, maxBodyBytes, (read) => done({ ...answer, body: read }), fail);
    });
    sent.on('error', (error) => fail(() => error));
    // The agent's timeout closes connections that rest; one that is in use waits for its answer.
    sent.on('socket', (socket) => socket.setTimeout(0));
    onLine((reason) => {
      hungUp ??= { reason };
      sent.destroy(new Error('the line was hung up'));
    });
    sent.end(body ?? undefined);
  });
}

/** Whoever reads faults of the network looks for the cause; what we decided ourselves is told as it is. */
function inFormOfFetch(error: unknown): unknown {
  return error instanceof MessageTooLarge ? error : new TypeError('fetch failed', { cause: error });
}

/** A read: the same way out and back. */
export function get(target: Target, order: Omit<PostOrder, 'body'>): Promise<Posted> {
  return post({ ...target, options: { ...target.options, method: 'GET' } }, { ...order, body: null });
}

export function isEventStream({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && type !== 'application/json' && type.split(';')[0]?.trim().toLowerCase() === eventStream;
}

const eventStream = 'text/event-stream';

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
  fail: (error: () => unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBodyBytes) return void chunks.push(chunk);
    // The status of a refusal says enough; of its words the first ones do.
    if ((response.statusCode ?? 0) < 300) fail(() => new MessageTooLarge(maxBodyBytes));
    else done(whole(chunks));
    response.destroy();
  });
  response.on('end', () => done(whole(chunks)));
  response.on('error', (error) => fail(() => error));
  // Broken off, unless the end came before.
  response.on('close', () => fail(() => new Error('the connection was closed in the middle of the answer')));
}

const whole = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
