/**
 * Speaks MCP over streamable HTTP, in both revisions. Extends the SDK's transport by the status and Retry-After of a
 * refusal, by a report when an answer ended without a result, and by limits on every body.
 */
import type { Readable } from 'node:stream';
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { boundEvents, createPace } from './bound-events.ts';
import type { TokenBucket } from '../token-bucket.ts';
import { type Following, followStream } from './follow-stream.ts';
import { agentFor, type HttpAnswer, isEventStream, send } from './http-client.ts';
import type { Resolver } from '../../../ports/resolver.ts';
import { systemResolver } from '../../shared/node-resolver.ts';
import { headersFor, type Target, targetOf } from './http-target.ts';
import { fieldValue } from './param-headers.ts';
import { readRedirect, readRefusal, readRetryAfter } from './read-refusal.ts';
import type { HttpConnection } from '../mcp-config.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { messagesIn, readMessage } from '../rpc-message.ts';
import { HttpRefusal } from '../transport-faults.ts';
import type { SendOptions } from '../wire.ts';

/** Ties an HTTP answer to its message inside this process. Removed before a request is sent. */
const markHeader = 'x-recourse-mark';

/** Headers are kept for so many tools. */
const maxRemembered = 256;

interface Head {
  status: number;
  retryAfterSeconds: number | null;
  streams: boolean;
}

export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #heads: Map<string, Head>;
  readonly #pace: TokenBucket;
  readonly #server: HttpConnection;
  readonly #limits: McpLimits;
  readonly #target: Target;
  readonly #agent: ReturnType<typeof agentFor>;
  /** By the tool that is called. Calls of one tool have the same headers while session and version stay the same. */
  readonly #headers = new Map<string, readonly string[]>();
  #headersOf = '';
  #version: string | null = null;
  #marks = 0;

  /** `secrets`: headers of requests that are no calls; a call brings its own. */
  constructor(
    server: HttpConnection,
    limits: McpLimits,
    secrets: () => Readonly<Record<string, string>> = () => ({}),
    resolver: Resolver = systemResolver,
  ) {
    const agent = agentFor(new URL(server.url).origin, resolver);
    const heads = new Map<string, Head>();
    const pace = createPace(limits);
    super(new URL(server.url), {
      requestInit: { headers: { ...server.headers } },
      fetch: async (url, init) => {
        const headers = new Headers(init?.headers);
        const head = heads.get(headers.get(markHeader) ?? '');
        headers.delete(markHeader);
        for (const [name, value] of Object.entries(secrets())) headers.set(name, value);
        const answer = await sendForSdk(agent, url, { ...init, headers }, limits);
        const redirectsTo = readRedirect(answer.status, answer.headers['location'] ?? null, url);
        // Calls go to one address. A connection that followed a redirect would list tools that no call can reach.
        if (redirectsTo !== null && init?.method === 'POST') {
          if (!Buffer.isBuffer(answer.body)) answer.body.destroy();
          throw new HttpRefusal(answer.status, null, null, { redirectsTo });
        }
        if (head !== undefined) {
          head.status = answer.status;
          head.retryAfterSeconds = readRetryAfter(answer.headers['retry-after'] ?? null);
          head.streams = isEventStream(answer.headers['content-type']);
        }
        return toResponse(answer, limits, pace);
      },
    });
    this.#heads = heads;
    this.#pace = pace;
    this.#server = server;
    this.#limits = limits;
    this.#agent = agent;
    this.#target = targetOf(new URL(server.url));
  }

  override setProtocolVersion(version: string): void {
    this.#version = version;
    super.setProtocolVersion(version);
  }

  /** Tool calls do not pass through the SDK, which would parse and check everything a second time. */
  async #call(message: JSONRPCRequest, name: string, options: SendOptions): Promise<void> {
    const { onRequestStreamEnd, requestSignal: signal = new AbortController().signal } = options;
    const headers = this.#headersFor(message, name, options.headers ?? {});
    const maxBodyBytes = this.#limits.maxMessageBytes;
    const body = JSON.stringify(message);
    const answer = await send(this.#target, { method: 'POST', headers, body, signal, maxBodyBytes }, this.#agent);
    const receive = (received: unknown) => this.onmessage?.(received as JSONRPCMessage);
    if (answer.status >= 300) throw readRefusal(answer, message.id, this.#server.url, this.#limits);
    if (!Buffer.isBuffer(answer.body)) {
      const receiveAnswer = (received: unknown) => {
        receive(received);
        const read = readMessage(received);
        return read?.kind === 'answer' && read.id === message.id;
      };
      const reopen = this.#reopening(message, signal, options.headers ?? {});
      // Whoever still waits is told that nothing more comes.
      const onEnd = (fault?: Error) => onRequestStreamEnd?.(fault);
      const following = { limits: this.#limits, signal, pace: this.#pace, receive: receiveAnswer, reopen };
      void followStream(answer.body, following).then(onEnd, onEnd);
      return;
    }
    if (answer.body.length > 0) for (const one of messagesIn(answer.body.toString('utf8'))) receive(one);
    onRequestStreamEnd?.();
  }

  /** Asks for the rest of an answer's stream. Null in revision 2026-07-28, where a stream cannot be resumed. */
  #reopening(message: JSONRPCRequest, signal: AbortSignal, own: Readonly<Record<string, string>>): Following['reopen'] {
    if (message.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined) return null;
    const known = {
      accept: 'text/event-stream',
      ...(this.sessionId === undefined ? {} : { 'mcp-session-id': this.sessionId }),
      ...(this.#version === null ? {} : { 'mcp-protocol-version': this.#version }),
    };
    return (lastEventId) => {
      const headers = headersFor(this.#target, this.#server.headers, own, { ...known, 'last-event-id': lastEventId });
      const maxBodyBytes = this.#limits.maxMessageBytes;
      return send(this.#target, { method: 'GET', headers, body: null, signal, maxBodyBytes }, this.#agent);
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

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const name = options?.onRequestStreamEnd === undefined ? null : calledTool(message);
    if (name !== null && options !== undefined) return this.#call(message as JSONRPCRequest, name, options);
    const mark = String(this.#marks++);
    const head: Head = { status: 0, retryAfterSeconds: null, streams: false };
    this.#heads.set(mark, head);
    try {
      const headers = { ...options?.headers, [markHeader]: mark };
      await super.send(
        message as JSONRPCMessage,
        { ...options, headers } as Parameters<StreamableHTTPClientTransport['send']>[1],
      );
    } catch (error) {
      // The SDK's negotiation reads its own errors. Only our own requests, which give onRequestStreamEnd, get ours.
      if (head.status < 300 || options?.onRequestStreamEnd === undefined) throw error;
      throw new HttpRefusal(head.status, head.retryAfterSeconds, error);
    } finally {
      this.#heads.delete(mark);
    }
    // An answer that is no stream was read whole.
    if (!head.streams) options?.onRequestStreamEnd?.();
  }
}

/** The name of the tool that the message calls. */
function calledTool(message: JSONRPCMessage | JSONRPCMessage[]): string | null {
  if (Array.isArray(message) || !('method' in message) || message.method !== 'tools/call') return null;
  const name = message.params?.['name'];
  return typeof name === 'string' ? name : null;
}

type SdkRequest = RequestInit & { readonly headers: Headers };

/** The SDK's requests use the same client as calls: `fetch` refuses logins in addresses and some configured headers. */
function sendForSdk(
  agent: ReturnType<typeof agentFor>,
  url: string | URL,
  init: SdkRequest,
  { maxMessageBytes }: McpLimits,
): Promise<HttpAnswer> {
  const { method = 'GET', signal } = init;
  const target = targetOf(new URL(url));
  const headers = headersFor(target, Object.fromEntries(init.headers));
  const body = typeof init.body === 'string' ? init.body : null;
  return send(target, { method, headers, body, signal, maxBodyBytes: maxMessageBytes }, agent);
}

/** What `fetch` would return. */
function toResponse({ status, headers, body }: HttpAnswer, limits: McpLimits, pace: TokenBucket): Response {
  const init = { status, headers: new Headers(headers) };
  if (!Buffer.isBuffer(body)) return new Response(streamOf(body, limits, pace), init);
  return new Response(body.length === 0 ? null : new Uint8Array(body), init);
}

function streamOf(body: Readable, limits: McpLimits, pace: TokenBucket): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = boundEvents(body, limits, pace);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: () => void body.destroy(),
  });
}
