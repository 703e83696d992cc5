/** Carries a request over plain HTTP, by connections of our own: node:http takes twice as much of the processor for the same. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import { type Carry, isEventStream, type Posted, type PostOrder, type Target } from './carrier.ts';
import { collect, endTooLarge } from './collect-body.ts';
import { type Exchange, type KeptConnection, takeConnection } from './kept-connections.ts';

const plainPort = 80;

export const carryPlain: Carry = (method, target, order, waiting) => {
  const text = writeRequest(method, target, order);
  const body = collect(order.maxBodyBytes);
  /** INVARIANT: null as soon as the exchange is over; then it serves somebody else. */
  let connection: KeptConnection | null = null;
  let stream: Readable | null = null;
  let head: Pick<Posted, 'status' | 'headers'> = { status: 0, headers: {} };

  function drop(): void {
    const dropped = connection;
    connection = null;
    dropped?.destroy();
  }

  const exchange: Exchange = {
    head(read) {
      head = read;
      if (!isEventStream(read.headers)) return;
      stream = new Readable({
        read: () => connection?.resume(),
        destroy(error, done) {
          drop();
          done(error);
        },
      });
      // It may break before anybody reads it; whoever reads it then hears that it ended.
      stream.on('error', () => undefined);
      waiting.done({ ...head, body: stream });
    },
    data(bytes) {
      if (stream !== null) {
        if (!stream.push(bytes)) connection?.pause();
      } else if (!body.add(bytes)) {
        drop();
        endTooLarge(head, body, order.maxBodyBytes, waiting);
      }
    },
    end() {
      connection = null;
      if (stream === null) waiting.done({ ...head, body: body.whole() });
      else stream.push(null);
    },
    fail(error) {
      connection = null;
      waiting.fail(error);
      stream?.destroy(error instanceof Error ? error : undefined);
    },
  };
  return {
    start() {
      connection = takeConnection(target.hostname, target.port ?? plainPort);
      connection.exchange(text, exchange);
    },
    hangUp() {
      drop();
      exchange.fail(new Error('the line was hung up'));
    },
  };
};

/** Headers that are the same list are the same text, and were found right once. */
const written = new WeakMap<readonly string[], string>();

function writeHeaders(headers: readonly string[]): string {
  const known = written.get(headers);
  if (known !== undefined) return known;
  let text = '';
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    validateHeaderName(name);
    validateHeaderValue(name, value);
    text += `${name}: ${value}\r\n`;
  }
  written.set(headers, text);
  return text;
}

/** Head and body leave in one write. */
function writeRequest(method: string, { path }: Target, { headers, body }: PostOrder): string | Buffer {
  const length = body === null ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\n${writeHeaders(headers)}${length}connection: keep-alive\r\n\r\n`;
  // Values of headers are bytes, the body is text: only where they differ are they put together as bytes.
  return isAscii(head) ? head + (body ?? '') : Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body ?? '')]);
}

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);
