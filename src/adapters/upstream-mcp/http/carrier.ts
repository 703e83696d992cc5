/** What carries one request over a connection, and what comes back. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** An address, taken apart once for all that is sent there. */
export interface Target {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number | undefined;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PostOrder {
  /** As made by headersFor. */
  readonly headers: readonly string[];
  /** Null: there is none. */
  readonly body: string | null;
  /** Gets the function that hangs up, for as long as there is a line. */
  readonly onLine: (hangUp: (reason: unknown) => void) => void;
  readonly maxBodyBytes: number;
}

export interface Posted {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole body; a stream of events as it comes. */
  readonly body: Buffer | Readable;
}

/** What waits for the answer. */
export interface Waiting {
  done(posted: Posted): void;
  fail(error: unknown): void;
}

export interface Carrier {
  start(): void;
  /** Whoever waits hears that it failed; so does whoever reads a stream. */
  hangUp(): void;
}

export type Carry = (method: string, target: Target, order: PostOrder, waiting: Waiting) => Carrier;

export function isEventStream({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && type !== 'application/json' && type.split(';')[0]?.trim().toLowerCase() === eventStream;
}

const eventStream = 'text/event-stream';
