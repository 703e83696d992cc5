/** Errors that the transports throw. Only wire-answer.ts and open-wire.ts read them. */
import type { RpcError } from './rpc-message.ts';

/** Nothing of the message left this process. */
export class NotSent extends Error {
  override name = 'NotSent';
}

/** The server sent a message above the limit. */
export class MessageTooLarge extends Error {
  override name = 'MessageTooLarge';

  constructor(maxBytes: number) {
    super(`the server sent a message above ${maxBytes} bytes`);
  }
}

/** The server answered the HTTP request by a status that is no success. */
export class HttpRefusal extends Error {
  override name = 'HttpRefusal';
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  /** The JSON-RPC error that came with it, for this very message. */
  readonly said: RpcError | null;
  /** Where it points, as it may be shown. */
  readonly redirectsTo: string | null;

  constructor(
    status: number,
    retryAfterSeconds: number | null,
    cause: unknown,
    more: { readonly said?: RpcError | null; readonly redirectsTo?: string | null } = {},
  ) {
    super(`the server answered with HTTP status ${status}`, { cause });
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.said = more.said ?? null;
    this.redirectsTo = more.redirectsTo ?? null;
  }
}
