/**
 * Sends one HTTP request to an MCP server by undici. Reads the body whole, up to a limit; an event stream is handed on
 * as a stream. Never sends a request twice and never follows a redirect. Every connection to a server is opened by the
 * connector that holds it to its own address.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import type { Agent as UndiciAgent, Dispatcher } from 'undici';
import { destinationOf } from '../../../core/egress/destination.ts';
import { onlyHost } from '../../../core/egress/egress-list.ts';
import { invariant } from '../../../core/values/unreachable.ts';
import type { Resolver } from '../../../ports/resolver.ts';
import { createEgressConnector } from '../../shared/egress-connector.ts';
import { systemResolver } from '../../shared/node-resolver.ts';
import { createTokenBucket, type TokenBucket } from '../token-bucket.ts';
import { MessageTooLarge } from '../transport-faults.ts';
import type { Target } from './http-target.ts';

export interface HttpRequest {
  readonly method: string;
  /** As made by `headersFor`. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly maxBodyBytes: number;
  /** Cancels the request in flight, and the event stream that answers it. */
  readonly signal?: AbortSignal | null | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; values that came more than once are joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or an event stream as it comes. */
  readonly body: Buffer | Readable;
}

// The package's entry point replaces the dispatcher behind the global `fetch` of the whole process, also of a program
// that embeds the gateway. The module is therefore loaded by itself; the version is pinned.
const load = createRequire(import.meta.url);
const Agent = load('undici/lib/dispatcher/agent.js') as typeof UndiciAgent;

const connectTimeoutMs = 10_000;
const idleMs = 30_000;
/** A server closes a connection at the time that it announces; it is not used in the last second before. */
const idleMarginMs = 1_000;
/** To one server at a time; further requests wait for one of them. */
const maxConnections = 1_024;
const maxHeaderBytes = 16 << 10;
/** Heads of status 1xx before the answer. */
const maxEarlyHeads = 16;

const noContent = 204;
const resetContent = 205;
const notModified = 304;

const agents = new WeakMap<Resolver, Map<string, UndiciAgent>>();

/** The connections to one origin. The address that the operator wrote is the only one that they may go to. */
export function agentFor(origin: string, resolver: Resolver): UndiciAgent {
  const known = agents.get(resolver) ?? new Map<string, UndiciAgent>();
  agents.set(resolver, known);
  const agent = known.get(origin) ?? createAgent(origin, resolver);
  known.set(origin, agent);
  return agent;
}

function createAgent(origin: string, resolver: Resolver): UndiciAgent {
  const own = destinationOf(origin);
  invariant(own !== null, 'the address of a server was checked');
  return new Agent({
    connect: createEgressConnector({ list: onlyHost(own), resolver, timeoutMs: connectTimeoutMs }),
    connections: maxConnections,
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    keepAliveTimeoutThreshold: idleMarginMs,
    // Whoever sends a request sets its time limit, and a stream may be silent for long.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/**
 * Rejects with the reason of the signal, with MessageTooLarge, or as `fetch` does: with a TypeError that has the fault
 * as its cause.
 */
export function send(
  target: Target,
  request: HttpRequest,
  agent: UndiciAgent = agentFor(target.origin, systemResolver),
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    request.signal?.throwIfAborted();
    const { origin, path } = target;
    const { method, headers } = request;
    const exchange = new Exchange(origin, request, resolve, reject);
    agent.dispatch({ origin, path, method, ...written(headers, request.body) } as Dispatcher.DispatchOptions, exchange);
  });
}

const maxBytesAtOnce = 64 << 10;

/** A large body is written in pieces: if the server answers before it was sent, undici then closes the connection. */
function written(headers: readonly string[], body: string | null) {
  if (body === null || body.length <= maxBytesAtOnce / 3) return { headers, body };
  const bytes = Buffer.from(body);
  return { headers: [...headers, 'content-length', String(bytes.length)], body: piecesOf(bytes) };
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += maxBytesAtOnce) yield bytes.subarray(at, at + maxBytesAtOnce);
}

/** One request and its answer, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #origin: string;
  readonly #request: HttpRequest;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #cancel = (): void => this.#abort(this.#request.signal?.reason);
  #controller: Dispatcher.DispatchController | null = null;
  #cancelled: { readonly reason: unknown } | null = null;
  #earlyHeads = 0;
  #head: Pick<HttpAnswer, 'status' | 'headers'> | null = null;
  #stream: Readable | null = null;
  /** Pieces of the body; a few large ones in place of very many small ones. */
  #pieces: Buffer[] = [];
  #joined: Buffer[] = [];
  #size = 0;
  #smallPieces = 0;
  #isPaced = false;
  #isFull = false;

  constructor(
    origin: string,
    request: HttpRequest,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#origin = origin;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal?.addEventListener('abort', this.#cancel, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // INVARIANT: a request that was cancelled while it waited for a connection is not sent.
    if (this.#cancelled !== null) controller.abort(cancelled());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, given: IncomingHttpHeaders): void {
    if (status < 200) {
      if (++this.#earlyHeads > maxEarlyHeads) controller.abort(new Error('the server sends no end of early heads'));
      return;
    }
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value].flat().join(', ')]));
    this.#head = { status, headers };
    // A body with this status is not read: `Response` refuses one, and a stream that nobody reads would keep its
    // connection.
    if (status === resetContent) {
      this.#resolve({ ...this.#head, body: Buffer.alloc(0) });
      return this.#abort(null);
    }
    if (status === noContent || status === notModified || !isEventStream(headers['content-type'])) return;
    this.#stream = new Readable({
      read: () => {
        this.#isFull = false;
        this.#resume();
      },
      destroy: (error, done) => {
        this.#abort(error);
        done(error);
      },
    });
    // It may break before anybody reads it; whoever reads it then is told so.
    this.#stream.on('error', () => undefined);
    this.#resolve({ ...this.#head, body: this.#stream });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#size += piece.length;
    if (this.#stream === null && this.#size > this.#request.maxBodyBytes) return this.#endTooLarge();
    this.#pieces.push(piece);
    if (this.#stream !== null) {
      // Pieces that came in one read are handed on as one.
      if (this.#pieces.length === 1) queueMicrotask(() => this.#handOn());
    } else if (this.#pieces.length >= maxPieces) {
      this.#joined.push(Buffer.concat(this.#pieces));
      this.#pieces = [];
    }
    this.#pace(controller, piece);
  }

  onResponseEnd(): void {
    this.#settle();
    this.#handOn();
    if (this.#stream !== null) this.#stream.push(null);
    else if (this.#head !== null) this.#resolve({ ...this.#head, body: this.#whole() });
  }

  onResponseError(_: unknown, error: Error): void {
    this.#settle();
    this.#handOn();
    const fault = this.#cancelled === null ? asFetchError(error, this.#head !== null) : this.#cancelled.reason;
    this.#reject(fault);
    this.#stream?.destroy(error);
  }

  #settle(): void {
    this.#request.signal?.removeEventListener('abort', this.#cancel);
  }

  /** Closes the connection, unless the answer is complete; a request that waits for one is never sent. */
  #abort(reason: unknown): void {
    this.#cancelled ??= { reason };
    this.#settle();
    this.#controller?.abort(cancelled());
    this.#reject(reason);
  }

  /** The status of a refusal says enough; the beginning of its body is kept. */
  #endTooLarge(): void {
    const { maxBodyBytes } = this.#request;
    if (this.#head !== null && this.#head.status >= 300) this.#resolve({ ...this.#head, body: this.#whole() });
    this.#abort(new MessageTooLarge(maxBodyBytes));
  }

  #whole(): Buffer {
    const pieces = [...this.#joined, ...this.#pieces];
    const [only = Buffer.alloc(0)] = pieces;
    return pieces.length > 1 ? Buffer.concat(pieces) : only;
  }

  #handOn(): void {
    if (this.#stream === null || this.#pieces.length === 0) return;
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#pieces = [];
    if (this.#stream.destroyed || this.#stream.push(bytes)) return;
    this.#isFull = true;
    this.#controller?.pause();
  }

  /** A server that sends very many small chunks is read no faster than its share. */
  #pace(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (piece.length >= smallPieceBytes || ++this.#smallPieces % usualSmallPieces !== 0) return;
    const waitMs = paceOf(this.#origin).spend(usualSmallPieces);
    if (waitMs === 0) return;
    this.#isPaced = true;
    controller.pause();
    setTimeout(() => {
      this.#isPaced = false;
      this.#resume();
    }, waitMs).unref();
  }

  #resume(): void {
    if (!this.#isPaced && !this.#isFull) this.#controller?.resume();
  }
}

/** Very many small pieces would take far more memory than their bytes. */
const maxPieces = 1_024;

/** So many small pieces of one answer cost little. Of more, a server may send a burst, and then so many each second. */
const usualSmallPieces = 64;
const smallPieceBytes = 1 << 10;
const smallPiecesBurst = 20_000;
const smallPiecesPerSecond = 10_000;

const paces = new Map<string, TokenBucket>();

function paceOf(origin: string): TokenBucket {
  const known = paces.get(origin) ?? createTokenBucket(smallPiecesBurst, smallPiecesPerSecond);
  paces.set(origin, known);
  return known;
}

export function isEventStream(contentType: string | null | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';
}

const cancelled = (): Error => new Error('the request was cancelled');

/**
 * INVARIANT: a fault that proves that nothing was sent keeps its code; a fault of an open connection has none of
 * undici's codes. A connection that ends before the answer began counts as reset, whether it is new or was used before.
 */
function asFetchError(error: Error & { code?: string }, hasBegun: boolean): TypeError {
  const { code = '' } = error;
  const isUndici = /^(?:UND_ERR_(?!CONNECT_TIMEOUT)|HPE_)/.test(code);
  const reset = code === 'UND_ERR_SOCKET' && !hasBegun ? { code: 'ECONNRESET' } : {};
  const cause = isUndici ? Object.assign(new Error(error.message), reset) : error;
  return new TypeError('fetch failed', { cause });
}
