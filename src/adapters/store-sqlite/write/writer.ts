/**
 * Sends commits to the writer's thread and hands the results back. What is asked within a turn of the event loop goes
 * as one message; the thread takes all that has arrived into one batch with one fsync. If the thread dies, what it had
 * is `unavailable`, and the next commit starts another in the same epoch: the lock is still ours.
 */
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult, StoreFault } from '../../../ports/store.ts';
import type { WriteRequest } from './batch.ts';
import { type BatchLimits, createCommitQueue, land, notPlain, type Waiting } from './commit-queue.ts';
import { drained } from '../file/epoch.ts';
import type { KnownSessions } from '../read/known-sessions.ts';
import type { Refused } from '../file/refusal.ts';
import type { UnansweredReplies } from '../unanswered-replies.ts';
import type { Outcome } from './wire.ts';
import { type Spawn, startWriterThread, type ThreadListener, type WriterThread } from './writer-thread.ts';

export interface WriterOptions {
  readonly file: string;
  readonly batch: BatchLimits;
  readonly maxPages: number | null;
  readonly markEveryMs: number;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly spawn: Spawn;
}

export interface Statistics {
  /** Batches that came back: one COMMIT each. */
  readonly batches: number;
  readonly requests: number;
}

export interface Writer {
  write(requests: readonly WriteRequest[]): Promise<readonly CommitResult[]>;
  answered(position: Position): void;
  statistics(): Statistics;
  /** How old the store is. */
  age(): number;
  /** Takes nothing more and writes what waits. */
  drain(): Promise<void>;
  /** Ends the epoch and the thread; after drain. */
  close(): Promise<void>;
}

/** This many requests are posted before the turn ends: the thread starts on them while others come. */
const partRequests = 16;
/** One batch that the thread writes, and one that waits there for its turn. */
const batchesPosted = 2;

export function startThread(options: WriterOptions, resume: number | null): Promise<WriterThread | Refused> {
  const { file, batch, maxPages, nowMs, spawn } = options;
  return startWriterThread({ file, batch, maxPages, resume, nowMs: nowMs() }, spawn);
}

export function createWriter(
  options: WriterOptions,
  first: WriterThread,
  replies: UnansweredReplies,
  sessions: Pick<KnownSessions, 'committed'>,
): Writer {
  const { file, batch: limits, nowMs } = options;
  const queue = createCommitQueue(limits, file);
  const age = countAge(first.age, options.monotonicMs);
  const statistics = { batches: 0, requests: 0 };
  let thread: WriterThread | null = first;
  let scheduled = false;
  let starting = false;
  let closed = false;
  let closing = false;
  let whenIdle: (() => void) | null = null;
  const mark = createMark(replies, options.markEveryMs, (answered) => {
    if (thread === null) replies.putBack();
    else thread.post({ requests: [], bytes: 0, answered, age: age.now() });
  });
  const posted = createPosted(limits, (part, bytes) => {
    const requests = part.map(({ flat }) => flat);
    thread?.post({ requests, bytes, answered: mark.takeIfDue(), age: age.now() });
  });

  const post = () => {
    scheduled = false;
    if (queue.isEmpty()) return settleIdle();
    if (thread === null) return void restart();
    if (posted.isEmpty()) thread.hold(true);
    while (!queue.isEmpty() && posted.hasRoom()) posted.add(queue.take());
  };

  /** At the end of this turn of the event loop: whoever is heard in the same turn shares the message. */
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(post);
  };

  const settleIdle = () => {
    if (!posted.isEmpty() || starting) return;
    // A mark that comes back while the thread is being closed must not let the process end before it is.
    if (!closing) thread?.hold(false);
    whenIdle?.();
  };

  const landAll = (lost: readonly Waiting[], result: CommitResult) => {
    for (const waiting of lost) land(waiting, result);
  };

  const listener: ThreadListener = {
    results({ results, sessions: changed }: Outcome) {
      const written = posted.take(results.length);
      sessions.committed(changed);
      if (results.length > 0) statistics.batches += 1;
      statistics.requests += results.length;
      for (const [index, waiting] of written.entries()) landResult(waiting, results[index] as CommitResult, replies);
      schedule();
    },
    died(cause) {
      thread = null;
      sessions.committed(null);
      replies.putBack();
      const message = `the writer of '${file}' stopped (${cause}): it starts again with the next commit`;
      landAll(posted.takeAll(), unavailable('io', message));
      schedule();
    },
  };

  const restart = async (): Promise<void> => {
    if (starting) return;
    starting = true;
    const started = await startThread(options, first.epoch);
    starting = false;
    if ('kind' in started) {
      // The lock is still ours, so the next commit tries again.
      const fault = started.reason === 'locked' ? 'fenced' : 'io';
      while (!queue.isEmpty()) landAll(queue.take(), unavailable(fault, started.message));
    } else {
      thread = started;
      thread.listen(listener);
    }
    post();
  };

  first.listen(listener);
  first.hold(false);
  return {
    write(requests) {
      if (requests.length === 0) return Promise.resolve([]);
      if (closed) return Promise.resolve(requests.map(() => unavailable('closed', `the store '${file}' is closed`)));
      const results = queue.add(requests);
      if (queue.length() >= partRequests && thread !== null) post();
      else schedule();
      return results;
    },
    answered(position) {
      replies.answered(position);
      if (!closed) mark.writeSoon();
    },
    statistics: () => ({ ...statistics }),
    age: age.now,
    drain() {
      closed = true;
      mark.stop();
      return new Promise((resolve) => {
        whenIdle = resolve;
        schedule();
      });
    },
    async close() {
      closing = true;
      // INVARIANT: only when every reply arrived does the epoch say that nobody waits.
      const answered = replies.allAnswered() ? drained : replies.take();
      age.stop();
      await thread?.close({ answered, nowMs: nowMs(), age: age.now() });
    },
  };
}

const unavailable = (fault: StoreFault, message: string): CommitResult => ({ kind: 'unavailable', fault, message });

function landResult(waiting: Waiting, result: CommitResult, replies: UnansweredReplies): void {
  if (result.kind === 'unavailable') replies.putBack();
  else if (!('erase' in waiting.request)) replies.committed(waiting.request, result);
  land(waiting, result);
}

/** The requests that the thread has, in the order in which their results will come. */
function createPosted(limits: BatchLimits, post: (part: readonly Waiting[], bytes: number) => void) {
  let waiting: Waiting[] = [];
  let bytesWaiting = 0;

  const addPart = (part: readonly Waiting[]) => {
    let bytes = 0;
    for (const one of part) bytes += one.bytes;
    post(part, bytes);
    bytesWaiting += bytes;
    for (const one of part) waiting.push(one);
  };

  return {
    isEmpty: () => waiting.length === 0,
    hasRoom: () =>
      waiting.length < limits.maxTransitions * batchesPosted && bytesWaiting < limits.maxBytes * batchesPosted,
    add(part: readonly Waiting[]): void {
      try {
        addPart(part);
      } catch {
        // One of them cannot be cloned; each is posted by itself, so that only that one is refused.
        for (const one of part) {
          try {
            addPart([one]);
          } catch (error) {
            land(one, notPlain(error));
          }
        }
      }
    },
    take(count: number): readonly Waiting[] {
      const taken = waiting.splice(0, count);
      for (const { bytes } of taken) bytesWaiting -= bytes;
      return taken;
    },
    takeAll(): readonly Waiting[] {
      const taken = waiting;
      waiting = [];
      bytesWaiting = 0;
      return taken;
    },
  };
}

/**
 * Says when the mark of answered replies is written. It costs a page of its own, so a batch carries it ten times as
 * often as it is written by itself: replies beyond it are told twice after a crash.
 */
function createMark(replies: UnansweredReplies, everyMs: number, write: (mark: number) => void) {
  let markedAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const takeIfDue = (waitMs = everyMs / 10): number | null => {
    const now = performance.now();
    if (now - markedAt < waitMs) return null;
    markedAt = now;
    return replies.take();
  };

  /** A commit that has just carried the mark puts this off. */
  const writeSoon = (waitMs = everyMs) => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      const sinceMark = performance.now() - markedAt;
      if (sinceMark < everyMs) return writeSoon(everyMs - sinceMark);
      const mark = takeIfDue(everyMs);
      if (mark !== null) write(mark);
    }, waitMs).unref();
  };

  return {
    takeIfDue,
    writeSoon,
    stop: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

const countEveryMs = 1_000;
/** INVARIANT: between two looks at the clock no more than this is counted, whatever it says, even the monotonic one. */
const maxStepMs = 60_000;

/**
 * Counts the age of the store: the time that it was open, under all its owners. What is kept for a while is kept by
 * this age, so a wrong clock makes nothing forgotten.
 */
function countAge(fromMs: number, monotonicMs: () => number) {
  let ageMs = fromMs;
  let lookedAt = monotonicMs();
  const now = () => {
    const at = monotonicMs();
    ageMs += Math.min(Math.max(0, at - lookedAt), maxStepMs);
    lookedAt = at;
    return Math.floor(ageMs);
  };
  const timer = setInterval(now, countEveryMs).unref();
  return { now, stop: () => clearInterval(timer) };
}
