/**
 * What does a server answer over HTTP/1.1? Bytes in, in whatever pieces they come; the head, the body and the end of one answer
 * out. Strict about where it ends: what were read wrongly here would be the answer to another question. Must not touch a connection.
 */
export interface AnswerHead {
  readonly status: number;
  /** By names in small letters; what came twice is joined. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface AnswerParts {
  head(head: AnswerHead): void;
  data(bytes: Buffer): void;
  /** `mayGoOn`: another question may be asked over the same connection. */
  end(mayGoOn: boolean): void;
}

export interface AnswerReader {
  push(bytes: Buffer): void;
  /** Nothing more will come. */
  close(): void;
}

/** Thrown by the reader; it is of no use after that. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

const maxHeadBytes = 16 << 10;
const maxSizeLineBytes = 1 << 10;
const noBytes: Buffer = Buffer.alloc(0);

export function createAnswerReader(parts: AnswerParts): AnswerReader {
  let read = readHead;
  let kept = noBytes;
  let headBytes = 0;
  let left = 0;
  let mayGoOn = true;

  /** What is left of the bytes. What cannot be understood without more of them is kept. */
  function keep(bytes: Buffer, maxBytes: number): Buffer {
    if (bytes.length > maxBytes) throw new NoAnswer(`a line or a head is longer than ${maxBytes} bytes`);
    kept = bytes;
    return noBytes;
  }

  function readHead(bytes: Buffer): Buffer {
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) return keep(bytes, maxHeadBytes);
    headBytes += end;
    if (headBytes > maxHeadBytes) throw new NoAnswer(`the head is longer than ${maxHeadBytes} bytes`);
    const head = parseHead(bytes.toString('latin1', 0, end));
    const rest = bytes.subarray(end + 4);
    if (head.status === 101) throw new NoAnswer('it changes the protocol, which nobody asked for');
    // What it says beforehand is no answer yet.
    if (head.status < 200) return rest;
    const framing = framingOf(head);
    mayGoOn = head.mayGoOn && framing !== 'until the end';
    parts.head(head);
    if (framing === 'chunks') read = readSize;
    else if (framing === 'until the end') read = readAll;
    else if (framing === 0) return finish(rest);
    else {
      left = framing;
      read = readLength;
    }
    return rest;
  }

  function readAll(bytes: Buffer): Buffer {
    parts.data(bytes);
    return noBytes;
  }

  /** As many bytes as are left, and what comes after them. */
  function take(bytes: Buffer): Buffer {
    const taken = bytes.length <= left ? bytes : bytes.subarray(0, left);
    left -= taken.length;
    parts.data(taken);
    return bytes.subarray(taken.length);
  }

  function readLength(bytes: Buffer): Buffer {
    const rest = take(bytes);
    return left === 0 ? finish(rest) : rest;
  }

  function readSize(bytes: Buffer): Buffer {
    const end = bytes.indexOf('\r\n');
    if (end === -1 || end > maxSizeLineBytes) return keep(bytes, maxSizeLineBytes);
    const digits = /^([0-9a-f]{1,12})[ \t]*(?:;|$)/i.exec(bytes.toString('latin1', 0, end))?.[1];
    if (digits === undefined) throw new NoAnswer('a chunk does not say its size');
    left = Number.parseInt(digits, 16);
    read = left === 0 ? readTrailer : readChunk;
    headBytes = 0;
    return bytes.subarray(end + 2);
  }

  function readChunk(bytes: Buffer): Buffer {
    const rest = take(bytes);
    if (left === 0) read = readChunkEnd;
    return rest;
  }

  function readChunkEnd(bytes: Buffer): Buffer {
    if (bytes.length < 2) return keep(bytes, 2);
    if (bytes[0] !== 13 || bytes[1] !== 10) throw new NoAnswer('a chunk is longer than it says');
    read = readSize;
    return bytes.subarray(2);
  }

  /** Trailers are read over. */
  function readTrailer(bytes: Buffer): Buffer {
    const end = bytes.indexOf('\r\n');
    if (end === -1) return keep(bytes, maxHeadBytes);
    headBytes += end;
    if (headBytes > maxHeadBytes) throw new NoAnswer(`the trailers are longer than ${maxHeadBytes} bytes`);
    const rest = bytes.subarray(end + 2);
    return end === 0 ? finish(rest) : rest;
  }

  function finish(rest: Buffer): Buffer {
    read = readNothing;
    parts.end(mayGoOn && rest.length === 0);
    return noBytes;
  }

  return {
    push(bytes) {
      let rest = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
      kept = noBytes;
      while (rest.length > 0) rest = read(rest);
    },
    close() {
      if (read === readAll) finish(noBytes);
      else if (read === readHead && headBytes === 0 && kept.length === 0) throw hungUp();
      else if (read !== readNothing) throw new NoAnswer('the connection was closed in the middle of the answer');
    },
  };
}

const readNothing = (): Buffer => noBytes;

/** In the words of the network: nothing of an answer came. */
export function hungUp(): Error {
  return Object.assign(new Error('the server hung up'), { code: 'ECONNRESET' });
}

interface ReadHead extends AnswerHead {
  readonly mayGoOn: boolean;
}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\0\r\n]*)?$/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\0\r\n]*?)[ \t]*$/;

function parseHead(text: string): ReadHead {
  const lines = text.split('\r\n');
  const [, minor, status] = statusLine.exec(lines[0] ?? '') ?? [];
  if (status === undefined) throw new NoAnswer('it does not begin with a status of HTTP/1.1');
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let at = 1; at < lines.length; at++) {
    const [, name, value] = headerLine.exec(lines[at] ?? '') ?? [];
    if (name === undefined || value === undefined) throw new NoAnswer('a header is not one');
    const small = name.toLowerCase();
    const before = headers[small];
    headers[small] = before === undefined ? value : `${before}, ${value}`;
  }
  const isClosing = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(headers['connection'] ?? '');
  return { status: Number(status), headers, mayGoOn: minor === '1' && !isClosing };
}

/** How its end is known; a number is the length. Two ways at once, or two lengths, are the beginning of a confusion. */
function framingOf({ status, headers }: ReadHead): number | 'chunks' | 'until the end' {
  const { 'transfer-encoding': encoding, 'content-length': length } = headers;
  if (encoding !== undefined && (length !== undefined || encoding.toLowerCase() !== 'chunked'))
    throw new NoAnswer('it does not say clearly where it ends');
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new NoAnswer('its length is no number');
  if (status === 204 || status === 304) return 0;
  if (encoding !== undefined) return 'chunks';
  return length === undefined ? 'until the end' : Number(length);
}
