/**
 * An SDK server that adds notices to `Method not found` errors. The SDK sends some of these itself, for methods of
 * another revision, so outgoing messages are checked.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  type JSONRPCMessage,
  METHOD_NOT_FOUND,
  type RequestId,
  Server,
  type Transport,
} from '@modelcontextprotocol/server';
import type { Notice } from '../../core/call/reply.ts';

/** The notices for the answer to a request of this method. */
export type BesideUnknown = (method: string) => Promise<readonly Notice[]>;

export class DoorServer extends Server {
  readonly #beside: BesideUnknown;

  constructor(info: ConstructorParameters<typeof Server>[0], options: ServerOptions, beside: BesideUnknown) {
    super(info, options);
    this.#beside = beside;
  }

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    // The transport is patched, not wrapped: the SDK tells transports apart by their class.
    const open = new Map<RequestId, string>();
    const receive = transport.onmessage?.bind(transport);
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => {
      if (isJSONRPCRequest(message) && message.method !== 'tools/call') remember(message.id, message.method, open);
      // A cancelled request is never answered.
      else if ('method' in message && message.method === 'notifications/cancelled')
        open.delete(message.params?.['requestId'] as RequestId);
      receive?.(message, extra);
    };
    transport.send = async (message, options) => {
      const answered = 'method' in message || message.id === undefined ? undefined : open.get(message.id);
      if (answered !== undefined && 'id' in message && message.id !== undefined) open.delete(message.id);
      return send(answered === undefined ? message : await this.#withNotices(message, answered), options);
    };
  }

  async #withNotices(message: JSONRPCMessage, method: string): Promise<JSONRPCMessage> {
    if (!isJSONRPCErrorResponse(message) || message.error.code !== METHOD_NOT_FOUND) return message;
    const notices = await this.#beside(method);
    return notices.length === 0 ? message : { ...message, error: { ...message.error, data: { notices } } };
  }
}

/** Unanswered requests of one client. An unknown method is answered at once, so it is never the oldest of so many. */
const maxOpen = 4_096;

function remember(id: RequestId, method: string, open: Map<RequestId, string>): void {
  const [oldest] = open.size >= maxOpen ? open.keys() : [];
  if (oldest !== undefined) open.delete(oldest);
  open.set(id, method);
}

type ServerOptions = NonNullable<ConstructorParameters<typeof Server>[1]>;
