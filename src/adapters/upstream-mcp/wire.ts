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
import { errorIn, type MessageId, readMessage } from './rpc-message.ts';
import { answerOfFault, type WireAnswer } from './wire-answer.ts';

export interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hears the answer, once, if it comes after the signal was aborted. After a timeout the server is not told to stop. */
  readonly late?: (answer: WireAnswer) => void;
}

/** Options of a send, with the fault if we ended the answer's stream ourselves. */
export interface SendOptions extends TransportSendOptions {
  readonly onRequestStreamEnd?: (fault?: Error) => void;
}

/** Who asks, as the revision without a handshake wants it said with every request. */
export interface Introduction {
  readonly protocolVersion: string;
  readonly client: { readonly name: string; readonly version: string };
}

export interface Wire {
  /** For the SDK's client alone. */
  readonly transport: Transport;
  /** Never rejects, and answers exactly once. */
  ask(question: Question): Promise<WireAnswer>;
  /** From now on every question carries it. */
  introduce(introduction: Introduction): void;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  isClosed(): boolean;
  /** Nothing new is asked; closes when the last question has its answer, late ones included. */
  retire(): void;
  close(): Promise<void>;
}

/** Far above the SDK's own ids, which count from zero. Numbers, because some servers know no others. */
const firstId = 1_000_000_000;

/** What the SDK's client handles itself; everything else that a server tells unasked is dropped. */
const forTheClient = ['notifications/subscriptions/acknowledged', 'notifications/cancelled'];

export function createWire(
  inner: Transport,
  limits: McpLimits,
  on: { readonly toolsChanged: () => void; readonly ending: () => string },
): Wire {
  const pending = new Map<number, (answer: WireAnswer) => void>();
  const askedByClient = new Set<MessageId>();
  const lingering = new Map<number, AbortController>();
  const late = createLateAnswers(limits, closeIfRetired);
  const over = Promise.withResolvers<void>();
  let envelope: JsonObject | null = null;
  let nextId = firstId;
  let closed = false;
  let retired = false;
  let answering = 0;

  inner.onmessage = hear;
  inner.onclose = () => {
    closed = true;
    for (const settle of pending.values()) settle({ kind: 'lost', reason: on.ending(), cause: on.ending() });
    for (const request of lingering.values()) request.abort();
    late.close();
    transport.onclose?.();
    over.resolve();
  };
  // Not every error is an end; those that are reach the question they belong to.
  inner.onerror = (error) => transport.onerror?.(error);

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

  function hear(message: JSONRPCMessage): void {
    const read = readMessage(message);
    if (read?.kind === 'answer') {
      const settle = typeof read.id === 'number' ? pending.get(read.id) : undefined;
      if (settle !== undefined) return settle(answerIn(read.body));
      if (typeof read.id === 'number' && late.answer(read.id, answerIn(read.body))) return;
      if (!askedByClient.delete(read.id)) return;
    }
    if (read?.kind === 'notification') {
      if (read.method === 'notifications/tools/list_changed') return on.toolsChanged();
      if (!forTheClient.includes(read.method)) return;
    }
    if (read !== null) transport.onmessage?.(message);
  }

  /** Over HTTP an answer is a request, and a stranger may leave any number of those open: it gets so many, for a while. */
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

  function ask({ method, params, timeoutMs, signal, headers = {}, late: hear }: Question): Promise<WireAnswer> {
    if (signal?.aborted) return Promise.resolve({ kind: 'aborted', sent: false });
    if (closed || retired)
      return Promise.resolve({ kind: 'unsent', reason: 'the server is not connected', cause: on.ending() });
    const id = nextId++;
    const request = new AbortController();
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    const message = { jsonrpc: '2.0' as const, id, method, params: { ...params, _meta: { ...envelope, ...meta } } };
    return new Promise((resolve) => {
      const settle = (answer: WireAnswer) => {
        // What comes second has nobody to go to.
        if (!pending.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        linger(id, request);
        resolve(answer);
        closeIfRetired();
      };
      const abort = () => {
        if (hear === undefined) withdraw(id, request);
        else listenOn(id, request, hear, isTimeout(signal?.reason));
        settle({ kind: 'aborted', sent: true });
      };
      const timer = setTimeout(() => {
        withdraw(id, request);
        settle({ kind: 'timed_out' });
      }, timeoutMs);
      pending.set(id, settle);
      signal?.addEventListener('abort', abort, { once: true });
      const ended = (fault?: Error) => {
        lingering.delete(id);
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

  /** Where hanging up is the only way to say that somebody cancelled, there is nothing to listen on. */
  function listenOn(
    id: number,
    request: AbortController,
    hear: (answer: WireAnswer) => void,
    isTimedOut: boolean,
  ): void {
    const hangsUp = envelope !== null && inner.hasPerRequestStream === true;
    if (hangsUp && !isTimedOut) return withdraw(id, request);
    if (!isTimedOut) tellCancelled(id);
    late.listen(id, hear, () => (isTimedOut ? withdraw(id, request) : request.abort()));
  }

  /** The answer is here; its stream may have a last word, and gets a while to say it, but not for ever. */
  function linger(id: number, request: AbortController): void {
    if (inner.hasPerRequestStream !== true || request.signal.aborted || late.has(id)) return;
    lingering.set(id, request);
    for (const [oldest, left] of lingering) {
      if (lingering.size <= limits.maxLingeringStreams) return;
      lingering.delete(oldest);
      left.abort();
    }
  }

  /** Tells the server that nobody waits: by a message, and by hanging up where the question has a line of its own. */
  function withdraw(id: number, request: AbortController): void {
    if (envelope === null || inner.hasPerRequestStream !== true) tellCancelled(id);
    request.abort();
  }

  function tellCancelled(id: number): void {
    const params = { requestId: id, reason: 'nobody waits for it any more' };
    const requestSignal = AbortSignal.timeout(limits.courtesyTimeoutMs);
    inner.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, { requestSignal }).catch(() => undefined);
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

const endedEarly: WireAnswer = {
  kind: 'lost',
  reason: 'the server ended its answer without a result',
  cause: 'the stream ended',
};

function answerIn(body: Readonly<Record<string, unknown>>): WireAnswer {
  const error = errorIn(body);
  return error === null ? { kind: 'result', result: body['result'] } : { kind: 'error', ...error };
}
