/**
 * Speaks MCP over streamable HTTP, in both revisions, by the SDK's transport. Adds what that one keeps to itself: the
 * status and Retry-After of a refusal, the end of an answer that never came, and a bound on every body.
 */
import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { boundBody, isEventStream } from './bounded-body.ts';
import type { HttpConnection } from './mcp-config.ts';
import type { McpLimits } from './mcp-limits.ts';
import { post } from './post.ts';
import { HttpRefusal } from './transport-faults.ts';

/** Ties an HTTP answer to its message inside this process; it is taken off before anything is sent. */
const markHeader = 'x-recourse-mark';

interface Head {
  status: number;
  retryAfterSeconds: number | null;
  streams: boolean;
}

export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #heads: Map<string, Head>;
  #marks = 0;

  constructor(server: HttpConnection, limits: McpLimits) {
    const heads = new Map<string, Head>();
    super(new URL(server.url), {
      requestInit: { headers: { ...server.headers } },
      fetch: async (url, init) => {
        const headers = new Headers(init?.headers);
        const head = heads.get(headers.get(markHeader) ?? '');
        headers.delete(markHeader);
        const response = await send(url, { ...init, headers }, limits);
        if (head !== undefined) {
          head.status = response.status;
          head.retryAfterSeconds = retryAfter(response.headers.get('retry-after'));
          head.streams = isEventStream(response);
        }
        // What is no stream was read, and measured, as a whole.
        return isEventStream(response) || init?.method !== 'POST' ? boundBody(response, limits) : response;
      },
    });
    this.#heads = heads;
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
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

type Fetched = RequestInit & { readonly headers: Headers };

/** Questions go out by the short way; whatever else the SDK asks for (its stream, its goodbye) by fetch. */
function send(url: string | URL, init: Fetched, { maxMessageBytes }: McpLimits): Promise<Response> {
  const { method, body, headers, signal } = init;
  if (method !== 'POST' || typeof body !== 'string') return fetch(url, init);
  return post(new URL(url), { headers, body, signal: signal ?? null, maxBodyBytes: maxMessageBytes });
}

/** Seconds, or a date. */
function retryAfter(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
