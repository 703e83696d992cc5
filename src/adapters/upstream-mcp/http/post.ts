/**
 * Sends one request in a form that is read as fetch's is. A whole body is read, up to its bound; a stream of events is handed
 * on. Redirects are left to whoever asked.
 */
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { urlToHttpOptions } from 'node:url';
import type { Carry, Posted, PostOrder, Target } from './carrier.ts';
import { carryPlain } from './carry-plain.ts';
import { carryTls } from './carry-node.ts';
import { MessageTooLarge } from '../transport-faults.ts';

export function targetOf(url: URL): Target {
  const { auth, hostname, port, path } = urlToHttpOptions(url);
  const login = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return {
    isTls: url.protocol === 'https:',
    hostname: hostname ?? '',
    port: port === undefined || port === '' ? undefined : Number(port),
    path: path ?? '/',
    headers: { host: url.host, ...login },
  };
}

/** What says where a message ends, and what becomes of the connection, is ours to say. */
const ours = ['connection', 'content-length', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** Names and values in turn, the form that node writes as it is. Of two that have one name, the later stands. */
export function headersFor(target: Target, ...given: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const named = new Map(Object.entries(target.headers));
  for (const headers of given)
    for (const [name, value] of Object.entries(headers)) named.set(name.toLowerCase(), value);
  for (const name of ours) named.delete(name);
  return [...named].flat();
}

export function post(target: Target, order: PostOrder): Promise<Posted> {
  return ask('POST', target, order);
}

/** A read: the same way out and back. */
export function get(target: Target, order: Omit<PostOrder, 'body'>): Promise<Posted> {
  return ask('GET', target, { ...order, body: null });
}

export function ask(method: string, target: Target, order: PostOrder): Promise<Posted> {
  return send(method, target, order, target.isTls ? carryTls : carryPlain);
}

export function send(method: string, target: Target, order: PostOrder, carry: Carry): Promise<Posted> {
  return new Promise((resolve, reject) => {
    let settled = false;
    let hungUp: { readonly reason: unknown } | null = null;
    const carrier = carry(method, target, order, {
      done(posted) {
        settled = true;
        resolve(posted);
      },
      fail(error) {
        if (settled) return;
        settled = true;
        reject(hungUp === null ? inFormOfFetch(error) : hungUp.reason);
      },
    });
    order.onLine((reason) => {
      hungUp ??= { reason };
      carrier.hangUp();
    });
    if (hungUp === null) carrier.start();
  });
}

/** Whoever reads faults of the network looks for the cause; what we decided ourselves is told as it is. */
function inFormOfFetch(error: unknown): unknown {
  return error instanceof MessageTooLarge ? error : new TypeError('fetch failed', { cause: error });
}

/** Under these nothing may follow, and `Response` refuses whatever does; a stream that nobody read would hold its connection. */
const bodiless: readonly number[] = [204, 205, 304];

/** What `fetch` would have given. */
export function toResponse({ status, headers, body }: Posted): Response {
  const init = { status, headers: new Headers(headers as Record<string, string>) };
  if (bodiless.includes(status)) {
    if (!Buffer.isBuffer(body)) body.destroy();
    return new Response(null, init);
  }
  if (!Buffer.isBuffer(body)) return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array> as never, init);
  return new Response(body.length === 0 ? null : new Uint8Array(body), init);
}
