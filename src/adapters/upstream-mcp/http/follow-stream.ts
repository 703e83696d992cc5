/**
 * How does an answer that comes as a stream reach whoever waits? Over as many connections as the server makes of it: a stream
 * that ends before the answer came is taken up again behind the last event. It only reads: what was asked is never sent again.
 */
import type { FloodGate } from './flood-gate.ts';
import type { Line } from '../line.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { createNap } from '../nap.ts';
import type { Posted } from './carrier.ts';
import { toResponse } from './post.ts';
import { readEvents, type StreamEvent } from './read-events.ts';
import { MessageTooLarge } from '../transport-faults.ts';

export interface Following {
  readonly limits: McpLimits;
  readonly line: Line;
  /** The pace of the server, over all of its streams: an answer that is cut into many, or many at once, are read no faster. */
  readonly pace: FloodGate;
  /** Says whether this was the answer. */
  readonly hear: (message: unknown) => boolean;
  /** Asks for what comes behind this event, as a value of a header; null where a stream that ended is over. */
  readonly reopen: ((lastEventId: string) => Promise<Posted>) | null;
}

/**
 * Resolves when nothing more will come: the answer is here, it is lost, or nobody waits for it; to what it was broken off for on
 * this side, if it was. Never rejects.
 */
export async function followStream(
  first: Posted,
  { limits, line, pace, hear, reopen }: Following,
): Promise<MessageTooLarge | undefined> {
  let answered = false;
  let lastId = '';
  let delayMs = limits.resumeDelayMs;

  function note({ message, id, retryMs }: StreamEvent): void {
    if (id !== null) lastId = canBeHeader(id, limits.maxEventIdChars) ? id : '';
    if (retryMs !== null) delayMs = Math.min(Math.max(retryMs, limits.minResumeDelayMs), limits.maxResumeDelayMs);
    if (message === undefined || !hear(message)) return;
    // What was asked for is no flood, however much of it comes.
    pace.spend(-1);
    answered = true;
  }

  /** What was too large once would be so again. */
  let tooLarge: MessageTooLarge | undefined;
  async function read(stream: Posted): Promise<void> {
    try {
      await readEvents(toResponse(stream), limits, note, pace);
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
    await rest(line, delayMs);
    if (line.isHungUp()) return undefined;
    const before = lastId;
    const answer = await reopen(Buffer.from(lastId).toString('latin1')).catch(() => null);
    if (answer !== null && !Buffer.isBuffer(answer.body) && answer.status === 200) {
      failures = 0;
      await read(answer);
      empty = lastId === before ? empty + 1 : 0;
    } else {
      if (answer !== null && !Buffer.isBuffer(answer.body)) answer.body.destroy();
      if (answer !== null && !isPassing(answer.status)) return undefined;
      failures++;
    }
  }
  return tooLarge;
}

/** Until the time is over, or nobody waits any more. */
async function rest(line: Line, maxMs: number): Promise<void> {
  const nap = createNap();
  const resting = nap.sleep(maxMs);
  line.carriedBy(nap.wake);
  await resting;
}

/** The server may answer otherwise in a while; 409: it did not notice yet that the other connection ended. */
function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Control characters cannot be sent, and what is very long would be refused. */
function canBeHeader(id: string, maxChars: number): boolean {
  return id.length <= maxChars && /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u.test(id);
}
