/**
 * A wire: one connection to a server, shared by the SDK's client (handshake, subscriptions) and our own requests. Our
 * requests have ids of their own, so that arguments and results pass unchanged and it is certain whether one was
 * sent. Does not decide what an end means for a call.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { isTimeout } from '../../ports/upstream.ts';
import { createLateAnswers } from './late-answers.ts';
import type { McpLimits } from './mcp-limits.ts';
import { errorIn, type MessageId, readMessage, type RpcMessage } from './rpc-message.ts';
import { answerOfFault, type WireAnswer } from './wire-answer.ts';

export interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Receives the answer, once, if it comes after the signal was aborted. After a timeout the server is not told to
   * stop.
   */
  readonly late?: (answer: WireAnswer) => void;
}

/** Options of a send. `fault`: why we ended the answer's stream ourselves. */
export interface SendOptions extends TransportSendOptions {
  readonly onRequestStreamEnd?: (fault?: Error) => void;
}

/** Who asks. Revision 2026-07-28 wants it with every request. */
export interface Introduction {
  readonly protocolVersion: string;
  readonly client: { readonly name: string; readonly version: string };
}

export interface Wire {
  /** For the SDK's client only. */
  readonly transport: Transport;
  /** Sends a request. Never rejects, and resolves exactly once. */
  ask(question: Question): Promise<WireAnswer>;
  /** From now on every request carries it. */
  introduce(introduction: Introduction): void;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  isClosed(): boolean;
  /** Accepts no new requests, and closes when the last one has its answer, late ones included. */
  retire(): void;
  close(): Promise<void>;
}

/** Who hears of it. `hide` removes secrets from every message before anything else sees it. */
export interface WireListener {
  readonly toolsChanged: () => void;
  readonly ending: () => string;
  readonly hide?: <Value>(value: Value) => Value;
}

/** Far above the SDK's own ids, which count from zero. Numbers, because some servers accept no others. */
const firstId = 1_000_000_000;

export function createWire(inner: Transport, limits: McpLimits, on: WireListener): Wire {
  const pending = new Map<number, (answer: WireAnswer) => void>();
  const lingering = createLingering(limits);
  const late = createLateAnswers(limits, closeIfRetired);
  const over = Promise.withResolvers<void>();
  const { transport, pass } = shareTransport(inner, limits);
  let envelope: JsonObject | null = null;
  let nextId = firstId;
  let closed = false;
  let retired = false;

  inner.onmessage = (received) => {
    const { message, read } = readHidden(received, on);
    if (read?.kind === 'answer' && typeof read.id === 'number') {
      const settle = pending.get(read.id);
      if (settle !== undefined) return settle(answerIn(read.body));
      if (late.answer(read.id, answerIn(read.body))) return;
    }
    if (read?.kind === 'notification' && read.method === 'notifications/tools/list_changed') return on.toolsChanged();
    if (read !== null) pass(message, read);
  };
  inner.onclose = () => {
    closed = true;
    for (const settle of pending.values()) settle({ kind: 'lost', reason: on.ending(), cause: on.ending() });
    lingering.abort();
    late.close();
    transport.onclose?.();
    over.resolve();
  };
  // Not every error is an end; those that are reach the request they belong to.
  inner.onerror = (error) => transport.onerror?.(error);

  function ask({ method, params, timeoutMs, signal, headers = {}, late: receiveLate }: Question): Promise<WireAnswer> {
    if (signal?.aborted) return Promise.resolve({ kind: 'aborted', sent: false });
    if (closed || retired)
      return Promise.resolve({ kind: 'unsent', reason: 'the server is not connected', cause: on.ending() });
    const id = nextId++;
    const request = new AbortController();
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    const message = { jsonrpc: '2.0' as const, id, method, params: { ...params, _meta: { ...envelope, ...meta } } };
    return new Promise((resolve) => {
      const settle = (answer: WireAnswer) => {
        // Only the first end counts.
        if (!pending.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        if (inner.hasPerRequestStream === true && !late.has(id)) lingering.add(id, request);
        resolve(answer);
        closeIfRetired();
      };
      const abort = () => {
        if (receiveLate === undefined) withdraw(id, request);
        else listenOn(id, request, receiveLate, isTimeout(signal?.reason));
        settle({ kind: 'aborted', sent: true });
      };
      const timer = setTimeout(() => {
        withdraw(id, request);
        settle({ kind: 'timed_out' });
      }, timeoutMs);
      pending.set(id, settle);
      signal?.addEventListener('abort', abort, { once: true });
      const ended = (fault?: Error) => {
        lingering.remove(id);
        late.forget(id);
        settle(fault === undefined ? endedEarly : answerOfFault(fault, limits.maxCauseChars));
      };
      const options: SendOptions = { onRequestStreamEnd: ended, headers, requestSignal: request.signal };
      inner.send(message, options).catch((error: unknown) => {
        const answer = answerOfFault(error, limits.maxCauseChars);
        late.answer(id, answer);
        settle(answer);
      });
    });
  }

  /** Where closing the request's stream is the only way to cancel it, no late answer can come. */
  function listenOn(
    id: number,
    request: AbortController,
    receive: (answer: WireAnswer) => void,
    isTimedOut: boolean,
  ): void {
    if (cancelsByClosing() && !isTimedOut) return withdraw(id, request);
    if (!isTimedOut) sendCancelled(inner, id, limits);
    late.listen(id, receive, () => (isTimedOut ? withdraw(id, request) : request.abort()));
  }

  /**
   * Tells the server that nobody waits: by a message, or by closing the request's own stream in revision 2026-07-28.
   */
  function withdraw(id: number, request: AbortController): void {
    if (!cancelsByClosing()) sendCancelled(inner, id, limits);
    request.abort();
  }

  function cancelsByClosing(): boolean {
    return envelope !== null && inner.hasPerRequestStream === true;
  }

  function closeIfRetired(): void {
    if (retired && pending.size === 0 && late.isEmpty()) void close();
  }

  async function close(): Promise<void> {
    if (!closed) await inner.close();
  }

  return {
    transport,
    ask,
    introduce: ({ protocolVersion, client }) => {
      envelope = {
        [PROTOCOL_VERSION_META_KEY]: protocolVersion,
        [CLIENT_INFO_META_KEY]: { ...client },
        [CLIENT_CAPABILITIES_META_KEY]: {},
      };
    },
    closed: over.promise,
    isClosed: () => closed,
    retire: () => {
      retired = true;
      closeIfRetired();
    },
    close,
  };
}

/** INVARIANT: what a server repeats of a secret gets no further, not even into its list of tools. */
function readHidden(received: JSONRPCMessage, { hide }: WireListener) {
  const message = hide === undefined ? received : hide(received);
  return { message, read: readMessage(message) };
}

/** Notifications that the SDK's client handles itself; all others are dropped. */
const forTheClient = ['notifications/subscriptions/acknowledged', 'notifications/cancelled'];

/**
 * The SDK client's view of the connection: it receives the answers to its own requests, and what servers ask of
 * clients.
 */
function shareTransport(inner: Transport, limits: McpLimits) {
  const askedByClient = new Set<MessageId>();
  let answering = 0;
  const transport: Transport = {
    start: () => inner.start(),
    async send(message, options) {
      if (!('method' in message)) return answer(message);
      if ('id' in message) askedByClient.add(message.id);
      await inner.send(message, options);
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    ...(inner.hasPerRequestStream === undefined ? {} : { hasPerRequestStream: inner.hasPerRequestStream }),
    get sessionId() {
      return inner.sessionId;
    },
  };

  /** Over HTTP an answer is a request, which a server may leave open: their number and their time are limited. */
  async function answer(message: JSONRPCMessage): Promise<void> {
    if (inner.hasPerRequestStream !== true) return inner.send(message);
    if (answering >= limits.maxAnswersUnderWay) return;
    answering++;
    try {
      await inner.send(message, { requestSignal: AbortSignal.timeout(limits.courtesyTimeoutMs) });
    } finally {
      answering--;
    }
  }

  function pass(message: JSONRPCMessage, read: RpcMessage): void {
    if (read.kind === 'answer' && !askedByClient.delete(read.id)) return;
    if (read.kind === 'notification' && !forTheClient.includes(read.method)) return;
    transport.onmessage?.(message);
  }

  return { transport, pass };
}

/** Streams whose answer came are read on for their end. Beyond the limit the oldest is closed. */
function createLingering({ maxLingeringStreams }: McpLimits) {
  const requests = new Map<number, AbortController>();
  return {
    add(id: number, request: AbortController): void {
      if (request.signal.aborted) return;
      requests.set(id, request);
      const [oldest] = requests.size > maxLingeringStreams ? requests : [];
      if (oldest === undefined) return;
      requests.delete(oldest[0]);
      oldest[1].abort();
    },
    remove: (id: number) => void requests.delete(id),
    abort(): void {
      for (const request of requests.values()) request.abort();
    },
  };
}

function sendCancelled(inner: Transport, id: number, { courtesyTimeoutMs }: McpLimits): void {
  const params = { requestId: id, reason: 'nobody waits for it any more' };
  const requestSignal = AbortSignal.timeout(courtesyTimeoutMs);
  // Ignored: the message is a courtesy; nobody waits for the answer.
  inner.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, { requestSignal }).catch(() => undefined);
}

const endedEarly: WireAnswer = {
  kind: 'lost',
  reason: 'the server ended its answer without a result',
  cause: 'the stream ended',
};

function answerIn(body: Readonly<Record<string, unknown>>): WireAnswer {
  const error = errorIn(body);
  return error === null ? { kind: 'result', result: body['result'] } : { kind: 'error', ...error };
}
