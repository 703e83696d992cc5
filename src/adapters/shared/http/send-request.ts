/**
 * Sends one HTTP request by undici and says how it ended, with what is certain about its having been sent. Reads the
 * answer whole, or hands it over piece by piece, up to a limit. Never rejects, never sends a request twice, never
 * follows a redirect.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Agent as UndiciAgent, buildConnector, Dispatcher } from 'undici';
import { denialIn } from '../egress-connector.ts';
import type { ClientLimits } from './client-limits.ts';
import type { HttpRequest } from './http-request.ts';

export type HttpEnd =
  | HttpAnswer
  /** No byte of it was written to a connection. */
  | { readonly kind: 'unsent'; readonly reason: string; readonly cause: string }
  /** A connection would have gone where the egress list does not allow. `after`: what was answered before. */
  | { readonly kind: 'denied'; readonly host: string; readonly after: 'nothing' | 'refusals' | 'redirects' }
  /** It may have arrived; the answer is lost, or is no HTTP. */
  | { readonly kind: 'lost'; readonly how: 'closed' | 'timeout' | 'malformed' | 'too_large'; readonly cause: string }
  | { readonly kind: 'stopped'; readonly sent: boolean };

export interface HttpHead {
  readonly status: number;
  /** Names in lower case; values that came more than once are joined. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface HttpAnswer extends HttpHead {
  readonly kind: 'answered';
  /** Empty if it was handed over. Null if it did not arrive whole; only of a refusal, whose status says enough. */
  readonly body: Buffer | null;
}

/** Takes a piece of an answer; no further one is read before that. Never rejects. */
export type TakePiece = (piece: Buffer) => Promise<void>;

/** Who takes the answer with this head, piece by piece; null: it is collected. */
export type ChooseTaker = (head: HttpHead) => TakePiece | null;

export interface Sending {
  readonly end: Promise<HttpEnd>;
  isSent(): boolean;
  /** Closes the connection, or takes the request out of the queue. */
  stop(): void;
}

export interface HttpClient {
  /** `sendBy`: by `performance.now()`; a request that still waits for a connection then is not sent. */
  send(request: HttpRequest, sendBy: number, choose?: ChooseTaker): Sending;
  /** Closes when every request is done. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

// The package's entry point replaces the dispatcher behind the global `fetch` of the whole process. The module is
// therefore loaded by itself; the version is pinned.
const load = createRequire(import.meta.url);
const Agent = load('undici/lib/dispatcher/agent.js') as typeof UndiciAgent;

/** A server closes a connection at the time that it announces; it is not used in the last second before. */
const idleMarginMs = 1_000;

/** `connect` is the only place where a connection of this client is opened. */
export function createHttpClient(limits: ClientLimits, connect: buildConnector.connector): HttpClient {
  const agent = new Agent({
    connect,
    connections: limits.maxConnections,
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: limits.maxHeaderBytes,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMs,
    keepAliveTimeoutThreshold: idleMarginMs,
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
  });
  return {
    send: (request, sendBy, choose = () => null) => new Exchange(agent, request, sendBy, { limits, choose }),
    retire: () => agent.close(),
    close: () => agent.destroy(),
  };
}

/** Why a request that waited for a connection is not sent. Thrown to undici, which then keeps the connection. */
class NotSent extends Error {
  override name = 'NotSent';
}

interface ExchangeParts {
  readonly limits: ClientLimits;
  readonly choose: ChooseTaker;
}

const maxPieces = 1_024;

/** One request and its answer, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler, Sending {
  readonly #limits: ClientLimits;
  readonly #choose: ChooseTaker;
  readonly #sendBy: number;
  readonly #timer: NodeJS.Timeout;
  readonly #ended = Promise.withResolvers<HttpEnd>();
  #isOver = false;
  #sent = false;
  #controller: Dispatcher.DispatchController | null = null;
  #earlyHeads = 0;
  #head: HttpHead | null = null;
  #take: TakePiece | null = null;
  /** Resolves when all that arrived has been taken; `#untaken` counts the pieces. */
  #taken: Promise<void> = Promise.resolve();
  #untaken = 0;
  /** Very many small pieces would take far more memory than their bytes. */
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(agent: UndiciAgent, request: HttpRequest, sendBy: number, { limits, choose }: ExchangeParts) {
    this.#limits = limits;
    this.#choose = choose;
    this.#sendBy = sendBy;
    this.#timer = setTimeout(() => this.#endUnsent(), Math.max(0, sendBy - performance.now()));
    const { url, method, body } = request;
    const headers = [...request.headers].flat();
    const path = `${url.pathname}${url.search}`;
    try {
      agent.dispatch({ origin: url.origin, path, method, headers, body } as Dispatcher.DispatchOptions, this);
    } catch (error) {
      this.#end(this.#faultOf(error as Error));
    }
  }

  get end(): Promise<HttpEnd> {
    return this.#ended.promise;
  }

  isSent(): boolean {
    return this.#sent;
  }

  stop(): void {
    this.#end({ kind: 'stopped', sent: this.#sent });
  }

  /** Called in the same turn of the event loop in which undici writes the first byte, and before it does. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // INVARIANT: a request that was given up is not sent, and none is sent a second time.
    if (this.#isOver || this.#sent || performance.now() > this.#sendBy) throw new NotSent('it waited too long');
    // INVARIANT: from here on it counts as sent, whatever the socket says later.
    this.#sent = true;
    this.#controller = controller;
    clearTimeout(this.#timer);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, given: IncomingHttpHeaders): void {
    if (status < 200) {
      if (++this.#earlyHeads > this.#limits.maxEarlyHeads) this.#end(malformed('no end of early heads'));
      return;
    }
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value].flat().join(', ')]));
    this.#head = { status, headers };
    this.#take = this.#choose(this.#head);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    // undici hands over nothing whenever it goes on within a chunk; to pause for that would be for ever.
    if (piece.length === 0) return;
    this.#size += piece.length;
    const limit = this.#take === null ? this.#limits.maxResponseBytes : this.#limits.maxStreamBytes;
    if (this.#size > limit) {
      const cause = `more than ${limit} bytes`;
      return this.#endTaken(this.#refusal() ?? { kind: 'lost', how: 'too_large', cause });
    }
    if (this.#take !== null) return this.#handOver(controller, this.#take, piece);
    this.#pieces.push(piece);
    if (this.#pieces.length >= maxPieces) this.#pieces = [Buffer.concat(this.#pieces)];
  }

  onResponseEnd(): void {
    if (this.#head === null) return this.#end(malformed('an answer without a head'));
    this.#endTaken({ kind: 'answered', ...this.#head, body: Buffer.concat(this.#pieces) });
  }

  onResponseError(_: unknown, error: Error): void {
    this.#endTaken(this.#refusal() ?? this.#faultOf(error));
  }

  /** Pieces may arrive in spite of the pause, when the server has closed the connection: they wait their turn. */
  #handOver(controller: Dispatcher.DispatchController, take: TakePiece, piece: Buffer): void {
    this.#untaken++;
    controller.pause();
    this.#taken = this.#taken
      .then(() => (this.#isOver ? undefined : take(piece)))
      .then(() => {
        if (--this.#untaken === 0 && !this.#isOver) controller.resume();
      });
  }

  /** INVARIANT: an answer ends after its last piece was taken. */
  #endTaken(end: HttpEnd): void {
    if (this.#untaken === 0) this.#end(end);
    else void this.#taken.then(() => this.#end(end));
  }

  /** Only the first end counts. */
  #end(end: HttpEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#pieces = [];
    if (end.kind !== 'answered' || end.body === null) this.#controller?.abort(new Error('the request was stopped'));
    this.#ended.resolve(end);
  }

  #endUnsent(): void {
    if (this.#sent) return;
    this.#end({ kind: 'unsent', reason: 'no connection was open in time', cause: 'the time to send was over' });
  }

  /** The status of a refusal says enough without its body. */
  #refusal(): HttpAnswer | null {
    return this.#head !== null && this.#head.status >= 300 ? { kind: 'answered', ...this.#head, body: null } : null;
  }

  #faultOf(error: Error & { readonly code?: string }): HttpEnd {
    const denied = denialIn(error);
    if (denied !== null && !this.#sent) return { kind: 'denied', host: denied.host, after: 'nothing' };
    const { code = '' } = error;
    const cause = `${error.name}${code === '' ? '' : ` ${code}`}: ${error.message}`.slice(
      0,
      this.#limits.maxCauseChars,
    );
    // INVARIANT: never sent is only what undici had not begun to write.
    if (!this.#sent) return { kind: 'unsent', reason: `it cannot be reached${code === '' ? '' : ` (${code})`}`, cause };
    if (/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(code)) return { kind: 'lost', how: 'timeout', cause };
    const isHttp = error.name !== 'HTTPParserError' && code !== 'UND_ERR_HEADERS_OVERFLOW';
    return { kind: 'lost', how: isHttp ? 'closed' : 'malformed', cause };
  }
}

const malformed = (cause: string): HttpEnd => ({ kind: 'lost', how: 'malformed', cause });
