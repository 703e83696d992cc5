/**
 * Asks a provider over HTTP by undici: one request, its JSON answer up to a limit, or why there is none. Follows no
 * redirect and never rejects. Says nothing that the provider wrote, and no address.
 */
import { createRequire } from 'node:module';
import type { Agent as UndiciAgent, Dispatcher } from 'undici';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { reasonOf } from '../../ports/secret-provider.ts';

export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type ProviderAnswer =
  /** `body`: empty if it is no JSON object. */
  | { readonly ok: true; readonly status: number; readonly body: JsonObject; readonly retryAfterMs: number | null }
  | { readonly ok: false; readonly reason: string };

export interface ProviderClient {
  ask(request: ProviderRequest, signal: AbortSignal): Promise<ProviderAnswer>;
  close(): void;
}

// The package's entry point replaces the dispatcher behind the global `fetch` of the whole process.
const load = createRequire(import.meta.url);
const Agent = load('undici/lib/dispatcher/agent.js') as typeof UndiciAgent;

const maxAnswerBytes = 256 << 10;
const maxRetryAfterMs = 3_600_000;

export function createProviderClient(): ProviderClient {
  const agent = new Agent({
    allowH2: false,
    connections: 4,
    pipelining: 1,
    maxHeaderSize: 16 << 10,
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 10_000,
    // Whoever asks sets the time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    ask: (request, signal) => ask(agent, request, signal),
    close: () => void agent.destroy(),
  };
}

function ask(agent: UndiciAgent, request: ProviderRequest, signal: AbortSignal): Promise<ProviderAnswer> {
  const { url, method, body = null } = request;
  if (signal.aborted) return Promise.resolve({ ok: false, reason: 'no answer in time' });
  return new Promise((resolve) => {
    const headers = { accept: 'application/json', 'user-agent': 'recourse', ...request.headers };
    const answer = new Answer(resolve, signal);
    const path = `${url.pathname}${url.search}`;
    agent.dispatch({ origin: url.origin, path, method, headers, body } as Dispatcher.DispatchOptions, answer);
  });
}

class Answer implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: ProviderAnswer) => void;
  readonly #signal: AbortSignal;
  readonly #stop = (): void => this.#end('no answer in time');
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly retryAfterMs: number | null } | null = null;
  #pieces: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(resolve: (answer: ProviderAnswer) => void, signal: AbortSignal) {
    this.#resolve = resolve;
    this.#signal = signal;
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('nobody waits'));
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (status < 200) return;
    this.#head = { status, retryAfterMs: retryAfterIn(headers['retry-after']) };
  }

  onResponseData(_: unknown, piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > maxAnswerBytes) return this.#end('an answer that is too long');
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    this.#signal.removeEventListener('abort', this.#stop);
    if (this.#isOver || this.#head === null) return;
    this.#isOver = true;
    this.#resolve({ ok: true, ...this.#head, body: objectIn(Buffer.concat(this.#pieces).toString('utf8')) });
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(reasonOf(error));
  }

  #end(reason: string): void {
    this.#signal.removeEventListener('abort', this.#stop);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces = [];
    this.#controller?.abort(new Error('nobody waits'));
    this.#resolve({ ok: false, reason });
  }
}

function retryAfterIn(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,9}$/.test(header)
    ? Math.min(Number(header) * 1_000, maxRetryAfterMs)
    : null;
}

function objectIn(text: string): JsonObject {
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? (read as JsonObject) : {};
  } catch {
    return {};
  }
}
