/**
 * A transport for newline-delimited messages over standard input and output. Unlike the SDK's, it answers malformed
 * input with a JSON-RPC error, and a line beyond the limit costs that line, not the connection.
 */
import type { Readable, Writable } from 'node:stream';
import {
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  PARSE_ERROR,
  type Transport,
} from '@modelcontextprotocol/server';
import { isObject } from '../../../core/values/json.ts';
import { parseMessage } from '../call/read-tool-call.ts';

export interface LineStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Reading pauses while more than this is buffered for a client that does not read. */
const maxUnreadBytes = 16 << 20;
/** After the end of the input, open calls are answered for so long: a script may only pipe them in. */
const lastAnswersMs = 1_000;
const newline = 0x0a;
/** The handshake, which the SDK answers itself. */
const greetings: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized', 'server/discover', 'ping']);

/** Until `opened` resolves only the handshake passes. The rest waits, mostly unread. */
export function createLineTransport(
  { input, output }: LineStreams,
  maxLineBytes: number,
  opened: Promise<unknown> | null = null,
): Transport {
  let closed = false;
  let waiting: JSONRPCMessage[] | null = opened === null ? null : [];
  let chunks: Buffer[] = [];
  let held = 0;
  /** Inside a line beyond the limit: everything up to its end is dropped. */
  let skipping = false;
  /** Requests that are not answered yet. */
  const unanswered = new Set<unknown>();
  let ending: NodeJS.Timeout | null = null;

  const write = (message: object): Promise<void> => {
    if (closed) return Promise.reject(new Error('the client has closed its end'));
    return new Promise((resolve, reject) => {
      output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      if (output.writableLength > maxUnreadBytes && !input.isPaused()) {
        input.pause();
        output.once('drain', () => input.resume());
      }
    });
  };
  const refuse = (code: number, message: string, id: unknown = null) => {
    const readable = typeof id === 'string' || Number.isSafeInteger(id) ? id : null;
    // Ignored: a client that closed its end reads no refusal.
    void write({ jsonrpc: '2.0', id: readable, error: { code, message } }).catch(() => undefined);
  };
  const deliver = (message: JSONRPCMessage) => {
    if (waiting === null || ('method' in message && greetings.has(message.method)))
      return transport.onmessage?.(message);
    waiting.push(message);
    input.pause();
  };
  const open = () => {
    const held = waiting ?? [];
    waiting = null;
    for (const message of held) transport.onmessage?.(message);
    if (!closed) input.resume();
  };
  const receive = (line: string) => {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = parseMessage(line);
    } catch {
      return refuse(PARSE_ERROR, 'the line is not JSON');
    }
    if (isMessage(value)) {
      if ('method' in value && 'id' in value) unanswered.add(value.id);
      // A cancelled request is never answered.
      else if ('method' in value && value.method === 'notifications/cancelled')
        unanswered.delete(value.params?.['requestId']);
      deliver(value);
    } else refuse(INVALID_REQUEST, 'the line is not a message of JSON-RPC 2.0', isObject(value) ? value['id'] : null);
  };
  const onData = (data: Buffer | string) => {
    let rest = typeof data === 'string' ? Buffer.from(data) : data;
    for (let end = rest.indexOf(newline); end >= 0 && !closed; end = rest.indexOf(newline)) {
      take(rest.subarray(0, end));
      if (!skipping) receive(Buffer.concat(chunks).toString('utf8'));
      skipping = false;
      drop();
      rest = rest.subarray(end + 1);
    }
    take(rest);
  };
  const take = (part: Buffer) => {
    if (skipping || part.length === 0) return;
    chunks.push(part);
    held += part.length;
    if (held <= maxLineBytes) return;
    skipping = true;
    drop();
    refuse(INVALID_REQUEST, `the line is longer than ${maxLineBytes} bytes`);
  };
  const drop = () => {
    chunks = [];
    held = 0;
  };
  const onError = (error: Error) => transport.onerror?.(error);
  const onEnd = () => void transport.close();
  const onInputEnd = () => {
    if (unanswered.size === 0) onEnd();
    else ending ??= setTimeout(onEnd, lastAnswersMs);
  };
  const send = async (message: JSONRPCMessage): Promise<void> => {
    await write(message);
    if (!('method' in message)) unanswered.delete(message.id);
    if (ending !== null && unanswered.size === 0) onEnd();
  };
  const onOutputError = (error: Error) => {
    if (!closed) transport.onerror?.(error);
    onEnd();
  };

  const transport: Transport = {
    async start() {
      input.on('data', onData).on('error', onError).on('end', onInputEnd).on('close', onInputEnd);
      // Stays after closing: a late error of a broken pipe must not end the process.
      output.on('error', onOutputError);
      if (input.readableEnded || input.destroyed) setImmediate(onInputEnd);
      // A failure is reported, and the transport closed, by whoever opens the gateway.
      void opened?.then(open, () => undefined);
    },
    send,
    async close() {
      if (closed) return;
      closed = true;
      if (ending !== null) clearTimeout(ending);
      input.off('data', onData).off('error', onError).off('end', onInputEnd).off('close', onInputEnd);
      input.pause();
      drop();
      transport.onclose?.();
    },
  };
  return transport;
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}
