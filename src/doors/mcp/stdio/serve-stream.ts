/**
 * Serves one client over one connection: standard input and output, or any transport of the SDK. The SDK negotiates
 * the revision.
 */
import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio';
import { createLineTransport, type LineStreams } from './line-transport.ts';
import type { McpDoor } from '../mcp-door.ts';

export interface ServedStream {
  /** Resolves when the client is gone, or after `close`. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface StreamOptions {
  readonly maxLineBytes?: number;
  /** Until it resolves only the handshake is answered; other requests wait. */
  readonly opened?: Promise<unknown>;
}

const defaultMaxLineBytes = 8 << 20;

/** Standard output carries messages and nothing else. */
export function serveStdio(
  door: McpDoor,
  streams: LineStreams = { input: process.stdin, output: process.stdout },
  { maxLineBytes = defaultMaxLineBytes, opened }: StreamOptions = {},
): ServedStream {
  return serveConnection(door, createLineTransport(streams, maxLineBytes, opened));
}

export function serveConnection(door: McpDoor, transport: Transport): ServedStream {
  const connection = door.connect();
  const gone = Promise.withResolvers<void>();
  const served = serveTransport(() => door.createServer(connection), {
    transport,
    onerror: (error) =>
      door.notify({ kind: 'suppressed', what: 'an error on an MCP connection', reason: error.message }),
  });
  // The SDK has set its own listeners on the transport by now.
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    door.gaps.look(message, connection.who);
    // The SDK never answers what the client cancelled.
    if ('method' in message && message.method === 'notifications/cancelled')
      connection.writes.written(message.params?.['requestId'], false);
    onmessage?.(message, extra);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = 'method' in message ? undefined : message.id;
    try {
      await send(message, options);
      // A broken pipe is reported a moment later.
      if (id !== undefined) setImmediate(() => connection.writes.written(id, true));
    } catch (error) {
      connection.writes.written(id, false);
      throw error;
    }
  };
  const onClose = transport.onclose;
  transport.onclose = () => {
    onClose?.();
    door.release(connection);
    gone.resolve();
  };
  return { closed: gone.promise, close: () => served.close() };
}
