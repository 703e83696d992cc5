/**
 * Reads an answer that comes as an event stream. A stream that ends before the answer is resumed after its last event,
 * by GET. The call itself is never sent again.
 */
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { TokenBucket } from '../token-bucket.ts';
import type { HttpAnswer } from './http-client.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { readEvents, type StreamReader } from './read-events.ts';
import { MessageTooLarge } from '../transport-faults.ts';

export interface Following {
  readonly limits: McpLimits;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Shared by all streams of a server, so that many streams, or one in many parts, are read no faster than one. */
  readonly pace: TokenBucket;
  /** Returns whether this was the answer. */
  readonly receive: (message: unknown) => boolean;
  /** Asks for what comes after this event, given as a header value. Null where a stream cannot be resumed. */
  readonly reopen: ((lastEventId: string) => Promise<HttpAnswer>) | null;
}

/**
 * Resolves when nothing more will come: the answer came, is lost, or nobody waits for it. Resolves to the fault if we
 * ended the stream because an event was too large. Never rejects.
 */
export async function followStream(
  first: Readable,
  { limits, signal, pace, receive, reopen }: Following,
): Promise<MessageTooLarge | undefined> {
  let answered = false;
  let lastId = '';
  let delayMs = limits.resumeDelayMs;

  const reader: StreamReader = {
    onId: (id) => void (lastId = canBeHeader(id, limits.maxEventIdChars) ? id : ''),
    onRetry: (ms) => void (delayMs = Math.min(Math.max(ms, limits.minResumeDelayMs), limits.maxResumeDelayMs)),
    onMessage(message) {
      if (!receive(message)) return;
      // The answer itself does not count as unasked-for traffic.
      pace.spend(-1);
      answered = true;
    },
  };

  /** An event that was too large once would be so again. */
  let tooLarge: MessageTooLarge | undefined;
  async function read(stream: Readable): Promise<void> {
    try {
      await readEvents(stream, limits, reader, pace);
    } catch (error) {
      if (error instanceof MessageTooLarge) tooLarge = error;
    }
  }

  await read(first);
  if (reopen === null) return tooLarge;
  let failures = 0;
  let empty = 0;
  while (failures < limits.maxResumeFailures && empty < limits.maxEmptyResumes) {
    if (answered || tooLarge !== undefined || lastId === '') return tooLarge;
    // Ignored: an abort ends the pause, and is looked at next.
    await pause(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    const before = lastId;
    // Ignored: a stream that cannot be opened again counts as a failure below.
    const answer = await reopen(Buffer.from(lastId).toString('latin1')).catch(() => null);
    const stream = answer === null ? 'failed' : resumedStream(answer);
    if (stream === 'refused') return undefined;
    if (stream === 'failed') failures++;
    else {
      failures = 0;
      await read(stream);
      empty = lastId === before ? empty + 1 : 0;
    }
  }
  return tooLarge;
}

/** The rest of the stream. `failed`: it is worth another try. `refused`: it is not. */
function resumedStream({ status, body }: HttpAnswer): Readable | 'failed' | 'refused' {
  if (!Buffer.isBuffer(body)) {
    if (status === 200) return body;
    body.destroy();
  }
  return isTransient(status) ? 'failed' : 'refused';
}

/** The server may answer otherwise in a while. 409: it did not notice yet that the other connection ended. */
function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Control characters cannot be sent in a header, and servers refuse very long ones. */
function canBeHeader(id: string, maxChars: number): boolean {
  return id.length <= maxChars && /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u.test(id);
}
