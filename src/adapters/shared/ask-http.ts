/**
 * Sends one HTTP request by undici and reads its whole answer, within limits of time and bytes, or says why there is
 * none. Follows no redirect and never rejects. Says nothing that the server wrote, and no address.
 */
import { createRequire } from 'node:module';
import type { Agent as UndiciAgent, Dispatcher } from 'undici';
import { anyPublicHost, type EgressList } from '../../core/egress/egress-list.ts';
import type { Resolver } from '../../ports/resolver.ts';
import { reasonOf } from '../../ports/secret-provider.ts';
import { createEgressConnector, denialIn } from './egress-connector.ts';
import { systemResolver } from './node-resolver.ts';

export interface HttpAsk {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly maxBytes: number;
  /** The connection holds to it; null: any public address. Absent: it goes where the address says. */
  readonly egress?: EgressList | null | undefined;
}

export type HttpAnswered =
  | {
      readonly ok: true;
      readonly status: number;
      /** Names in lower case; of a name that comes several times, the values with a comma between them. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | {
      readonly ok: false;
      readonly why: 'denied' | 'unreachable' | 'stopped' | 'too_long';
      /** False: no byte of the request was sent. */
      readonly sent: boolean;
      readonly reason: string;
    };

export interface HttpAsker {
  ask(request: HttpAsk, signal: AbortSignal): Promise<HttpAnswered>;
  close(): void;
}

// The package's entry point replaces the dispatcher behind the global `fetch` of the whole process.
const load = createRequire(import.meta.url);
const Agent = load('undici/lib/dispatcher/agent.js') as typeof UndiciAgent;

/** Clients under different egress lists; of more, the oldest is closed. */
const maxAgents = 32;
const connectTimeoutMs = 10_000;

export function createHttpAsker(resolver: Resolver = systemResolver): HttpAsker {
  const agents = new Map<string, UndiciAgent>();

  function agentFor({ egress }: HttpAsk): UndiciAgent {
    const list = egress === undefined ? null : (egress ?? anyPublicHost);
    const key = list?.text ?? '';
    const known = agents.get(key);
    if (known !== undefined) return known;
    const [oldest] = agents;
    if (oldest !== undefined && agents.size >= maxAgents) {
      agents.delete(oldest[0]);
      // Ignored: requests under way end as its requesters hear.
      oldest[1].close().catch(() => undefined);
    }
    const made = new Agent({
      allowH2: false,
      connections: 4,
      pipelining: 1,
      maxHeaderSize: 16 << 10,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: 10_000,
      // Whoever asks sets the time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(list === null ? {} : { connect: createEgressConnector({ list, resolver, timeoutMs: connectTimeoutMs }) }),
    });
    agents.set(key, made);
    return made;
  }

  return {
    ask(request, signal) {
      const { url, method, headers, body } = request;
      if (signal.aborted) return Promise.resolve(stopped(false));
      return new Promise((resolve) => {
        const answer = new Answer(resolve, signal, request.maxBytes);
        const options = { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body };
        try {
          agentFor(request).dispatch(options as Dispatcher.DispatchOptions, answer);
        } catch {
          // Ignored: a header or a method that HTTP does not allow; nothing was sent.
          answer.refuse();
        }
      });
    },
    close() {
      for (const agent of agents.values()) void agent.destroy();
      agents.clear();
    },
  };
}

const stopped = (sent: boolean): HttpAnswered => ({ ok: false, why: 'stopped', sent, reason: 'no answer in time' });

class Answer implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: HttpAnswered) => void;
  readonly #signal: AbortSignal;
  readonly #maxBytes: number;
  readonly #stop = (): void => this.#end(stopped(this.#controller !== null));
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | null = null;
  #pieces: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(resolve: (answer: HttpAnswered) => void, signal: AbortSignal, maxBytes: number) {
    this.#resolve = resolve;
    this.#signal = signal;
    this.#maxBytes = maxBytes;
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // INVARIANT: a request that was stopped before it was sent is not sent.
    if (this.#isOver) controller.abort(new Error('nobody waits'));
    else this.#controller = controller;
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (status < 200) return;
    const flat = Object.entries(headers).map(([name, value = '']) => [name.toLowerCase(), String(value)] as const);
    this.#head = { status, headers: Object.fromEntries(flat) };
  }

  onResponseData(_: unknown, piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > this.#maxBytes)
      return this.#end({ ok: false, why: 'too_long', sent: true, reason: 'an answer that is too long' });
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    if (this.#head !== null) this.#end({ ok: true, ...this.#head, body: Buffer.concat(this.#pieces).toString('utf8') });
  }

  onResponseError(_: unknown, error: Error): void {
    const why = denialIn(error) === null ? 'unreachable' : 'denied';
    const reason = why === 'denied' ? 'its host is not in the egress allow list' : reasonOf(error);
    this.#end({ ok: false, why, sent: this.#controller !== null, reason });
  }

  refuse(): void {
    this.#end({ ok: false, why: 'unreachable', sent: false, reason: 'a request that HTTP does not allow' });
  }

  #end(answer: HttpAnswered): void {
    this.#signal.removeEventListener('abort', this.#stop);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces = [];
    if (!answer.ok) this.#controller?.abort(new Error('nobody waits'));
    this.#resolve(answer);
  }
}
