/**
 * Speaks MCP over streamable HTTP, in both revisions, by the SDK's transport. Adds what that one keeps to itself: the
 * status and Retry-After of a refusal, the end of an answer that never came, and a bound on every body.
 */
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { boundBody, createPace, isEventStream } from './bounded-body.ts';
import type { FloodGate } from './flood-gate.ts';
import { type Following, followStream } from './follow-stream.ts';
import { type AskOptions, createLine, type Line } from '../line.ts';
import type { HttpConnection } from '../mcp-config.ts';
import type { McpLimits } from '../mcp-limits.ts';
import type { Posted, Target } from './carrier.ts';
import { fieldValue } from './param-headers.ts';
import { ask, get, headersFor, post, targetOf, toResponse } from './post.ts';
import { readRedirect } from './read-redirect.ts';
import { errorIn, type MessageId, readMessage, type RpcError } from '../rpc-message.ts';
import { parseAnswer } from '../parse-answer.ts';
import { HttpRefusal } from '../transport-faults.ts';

/** Ties an HTTP answer to its message inside this process; it is taken off before anything is sent. */
const markHeader = 'x-recourse-mark';

/** Beyond this many tools the headers are made anew. */
const maxRemembered = 256;

interface Head {
  status: number;
  retryAfterSeconds: number | null;
  streams: boolean;
}

export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #heads: Map<string, Head>;
  readonly #pace: FloodGate;
  readonly #server: HttpConnection;
  readonly #limits: McpLimits;
  readonly #target: Target;
  /** By the tool that is called: the same call has the same headers, as long as the connection is the same. */
  readonly #headers = new Map<string, readonly string[]>();
  #headersOf = '';
  #version: string | null = null;
  #marks = 0;

  constructor(server: HttpConnection, limits: McpLimits) {
    const heads = new Map<string, Head>();
    const pace = createPace(limits);
    super(new URL(server.url), {
      requestInit: { headers: { ...server.headers } },
      fetch: async (url, init) => {
        const headers = new Headers(init?.headers);
        const head = heads.get(headers.get(markHeader) ?? '');
        headers.delete(markHeader);
        const response = await send(url, { ...init, headers }, limits);
        // Calls go to one address. A connection that took another way would list tools that no call can reach.
        const redirectsTo = readRedirect(response.status, response.headers.get('location'), url);
        if (redirectsTo !== null && init?.method === 'POST') {
          await response.body?.cancel();
          throw new HttpRefusal(response.status, null, null, { redirectsTo });
        }
        if (head !== undefined) {
          head.status = response.status;
          head.retryAfterSeconds = retryAfter(response.headers.get('retry-after'));
          head.streams = isEventStream(response);
        }
        // What is no stream was read, and measured, as a whole.
        return isEventStream(response) || init?.method !== 'POST' ? boundBody(response, limits, pace) : response;
      },
    });
    this.#heads = heads;
    this.#pace = pace;
    this.#server = server;
    this.#limits = limits;
    this.#target = targetOf(new URL(server.url));
  }

  override setProtocolVersion(version: string): void {
    this.#version = version;
    super.setProtocolVersion(version);
  }

  /** A call of a tool, the common case, goes out and comes back without the SDK: it would read and check everything twice. */
  async #call(message: JSONRPCRequest, name: string, options: AskOptions): Promise<void> {
    const { onRequestStreamEnd, line = createLine() } = options;
    const headers = this.#headersFor(message, name, options.headers ?? {});
    const order = { headers, body: JSON.stringify(message), onLine: line.carriedBy };
    const answer = await post(this.#target, { ...order, maxBodyBytes: this.#limits.maxMessageBytes });
    const hear = (heard: unknown) => this.onmessage?.(heard as JSONRPCMessage);
    if (answer.status >= 300) throw refusalOf(answer, message.id, this.#server.url, this.#limits);
    if (!Buffer.isBuffer(answer.body)) {
      const hearAnswer = (heard: unknown) => {
        hear(heard);
        const read = readMessage(heard);
        return read?.kind === 'answer' && read.id === message.id;
      };
      const reopen = this.#reopening(message, line.carriedBy);
      // Broken off or at its end: who still waits hears that nothing more comes.
      const over = (fault?: Error) => onRequestStreamEnd?.(fault);
      void followStream(answer, { limits: this.#limits, line, pace: this.#pace, hear: hearAnswer, reopen }).then(
        over,
        over,
      );
      return;
    }
    if (answer.body.length > 0) for (const one of messagesIn(answer.body.toString('utf8'))) hear(one);
    onRequestStreamEnd?.();
  }

  /** How to ask for the rest of an answer's stream; null in the newer revision, where streams cannot be taken up again. */
  #reopening(message: JSONRPCRequest, onLine: Line['carriedBy']): Following['reopen'] {
    if (message.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined) return null;
    const known = {
      accept: 'text/event-stream',
      ...(this.sessionId === undefined ? {} : { 'mcp-session-id': this.sessionId }),
      ...(this.#version === null ? {} : { 'mcp-protocol-version': this.#version }),
    };
    return (lastEventId) => {
      const headers = headersFor(this.#target, this.#server.headers, { ...known, 'last-event-id': lastEventId });
      return get(this.#target, { headers, onLine, maxBodyBytes: this.#limits.maxMessageBytes });
    };
  }

  #headersFor(message: JSONRPCRequest, name: string, own: Readonly<Record<string, string>>): readonly string[] {
    const modern = message.params?._meta?.[PROTOCOL_VERSION_META_KEY];
    const version = typeof modern === 'string' ? modern : this.#version;
    const write = () =>
      headersFor(this.#target, this.#server.headers, own, {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(this.sessionId === undefined ? {} : { 'mcp-session-id': this.sessionId }),
        ...(version === null ? {} : { 'mcp-protocol-version': version }),
        ...(typeof modern === 'string' ? { 'mcp-method': message.method, 'mcp-name': fieldValue(name) } : {}),
      });
    for (const _ in own) return write();
    const connection = `${this.sessionId ?? ''} ${version ?? ''} ${typeof modern}`;
    if (connection !== this.#headersOf || this.#headers.size >= maxRemembered) this.#headers.clear();
    this.#headersOf = connection;
    const known = this.#headers.get(name);
    if (known !== undefined) return known;
    const written = write();
    this.#headers.set(name, written);
    return written;
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: AskOptions): Promise<void> {
    const name = options?.onRequestStreamEnd === undefined ? null : calledTool(message);
    if (name !== null && options !== undefined) return this.#call(message as JSONRPCRequest, name, options);
    const mark = String(this.#marks++);
    const head: Head = { status: 0, retryAfterSeconds: null, streams: false };
    this.#heads.set(mark, head);
    try {
      const headers = { ...options?.headers, [markHeader]: mark };
      const { line, ...given } = options ?? {};
      const requestSignal = given.requestSignal ?? line?.signal();
      await super.send(
        message as JSONRPCMessage,
        { ...given, requestSignal, headers } as Parameters<StreamableHTTPClientTransport['send']>[1],
      );
    } catch (error) {
      // The SDK's negotiation reads its own errors; only our questions, which name an end, get ours.
      if (head.status < 300 || options?.onRequestStreamEnd === undefined) throw error;
      throw new HttpRefusal(head.status, head.retryAfterSeconds, error);
    } finally {
      this.#heads.delete(mark);
    }
    // An answer that is no stream is over once it was read.
    if (!head.streams) options?.onRequestStreamEnd?.();
  }
}

/** The name of the tool that the message calls. */
function calledTool(message: JSONRPCMessage | JSONRPCMessage[]): string | null {
  if (Array.isArray(message) || !('method' in message) || message.method !== 'tools/call') return null;
  const name = message.params?.['name'];
  return typeof name === 'string' ? name : null;
}

/** An answer that is not JSON is none: whoever waits hears that it ended. A mark of the byte order before it is no part of it. */
function messagesIn(text: string): readonly unknown[] {
  try {
    const value = parseAnswer(text.startsWith('\ufeff') ? text.slice(1) : text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [];
  }
}

type Fetched = RequestInit & { readonly headers: Headers };

/** What the SDK asks for, its stream and its goodbye too, goes out as calls do: fetch refuses logins and headers that they carry. */
async function send(url: string | URL, init: Fetched, { maxMessageBytes }: McpLimits): Promise<Response> {
  const { method = 'GET', body, headers, signal } = init;
  signal?.throwIfAborted();
  const target = targetOf(new URL(url));
  let unfollow = (): void => undefined;
  const onLine = (hangUp: (reason: unknown) => void) => {
    const hangUpNow = () => hangUp(signal?.reason);
    signal?.addEventListener('abort', hangUpNow, { once: true });
    unfollow = () => signal?.removeEventListener('abort', hangUpNow);
  };
  const order = {
    headers: headersFor(target, Object.fromEntries(headers)),
    body: typeof body === 'string' ? body : null,
    onLine,
    maxBodyBytes: maxMessageBytes,
  };
  const answer = await ask(method, target, order);
  // What was read as a whole has no line any more.
  if (Buffer.isBuffer(answer.body)) unfollow();
  return toResponse(answer);
}

/** The revisions carry errors of JSON-RPC under these; of the others the status itself says more. */
const statusesOfErrors: readonly number[] = [400, 404];

function refusalOf(answer: Posted, id: MessageId, url: string, limits: McpLimits): HttpRefusal {
  const { status, headers } = answer;
  const words = wordsOf(answer);
  const said = statusesOfErrors.includes(status) ? errorFor(id, words) : null;
  const redirectsTo = readRedirect(status, headers.location ?? null, url);
  const cause = new Error(words.slice(0, limits.maxCauseChars));
  return new HttpRefusal(status, retryAfter(headers['retry-after'] ?? null), cause, { said, redirectsTo });
}

function errorFor(id: MessageId, words: string): RpcError | null {
  for (const message of messagesIn(words)) {
    const read = readMessage(message);
    if (read?.kind === 'answer' && read.id === id) return errorIn(read.body);
  }
  return null;
}

/** Of a refusal, even one that comes as a stream. */
function wordsOf(answer: Posted): string {
  if (Buffer.isBuffer(answer.body)) return answer.body.toString('utf8');
  answer.body.destroy();
  return '';
}

/** Seconds, or a date. */
function retryAfter(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
