/**
 * How does a commit reach the worker and come back? Requests go to it in small parts as they come, and it takes all
 * that have arrived into one batch with one fsync: the slower the disk, the larger the batches, and nobody waits for a
 * timer. One that comes alone does not go there at all: see lone-writer.ts. If the worker dies, what it had is `unavailable`, and the next commit starts another, which goes on in the
 * same epoch: the lock is still ours.
 */
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult, StoreFault } from '../../../ports/store.ts';
import { countAge } from './age.ts';
import type { WriteRequest } from './batch.ts';
import { type BatchLimits, createCommitQueue, type Group, land, notPlain, type Waiting } from './commit-queue.ts';
import { drained } from '../file/epoch.ts';
import type { KnownSessions } from '../read/known-sessions.ts';
import { createLoneWriter, type LoneLimits, type Written } from './lone-writer.ts';
import type { Refused } from '../file/refusal.ts';
import type { UnansweredReplies } from '../unanswered-replies.ts';
import type { Part } from './worker.ts';
import { type Spawn, startWriterThread, type ThreadListener, type WriterThread } from './writer-thread.ts';

export interface WriterOptions {
  readonly file: string;
  readonly batch: BatchLimits;
  readonly lone: LoneLimits;
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
  /** Of the batches, those that the asking thread wrote itself. */
  readonly alone: number;
}

export interface Writer {
  /** `alone`: whoever asks knows of nobody else who could be waiting. */
  write(requests: readonly WriteRequest[], alone?: boolean): Promise<readonly CommitResult[]>;
  answered(position: Position): void;
  statistics(): Statistics;
  /** How old the store is. */
  age(): number;
  /** Takes nothing more and writes what waits. */
  drain(): Promise<void>;
  /** Ends the epoch and the worker; after drain. */
  close(): Promise<void>;
}

/** This many requests are posted without waiting for more of the same moment: the worker starts while others come. */
const partRequests = 16;
/** One batch that the worker writes, and one that waits there for its turn. */
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
  const { file, batch: limits, markEveryMs, nowMs } = options;
  const queue = createCommitQueue(limits, file);
  /** In the worker's hands, in the order of their results. */
  const posted: Waiting[] = [];
  let postedBytes = 0;
  /** Parts that the worker has not answered yet, those with nothing but a mark among them. */
  let partsOut = 0;
  const room = () =>
    posted.length < limits.maxTransitions * batchesPosted && postedBytes < limits.maxBytes * batchesPosted;
  const lone = createLoneWriter(file, options.maxPages, first.epoch, options.lone);
  const age = countAge(first.age, options.monotonicMs);
  /** What the worker remembers of the file does not hold: something was written beside it. */
  let isStale = false;
  const statistics = { batches: 0, requests: 0, alone: 0 };
  let thread: WriterThread | null = first;
  let scheduled = false;
  let starting = false;
  let closed = false;
  let closing = false;
  let whenIdle: (() => void) | null = null;
  let flushTimer: NodeJS.Timeout | null = null;
  let markedAt = 0;

  const unavailable = (fault: StoreFault, message: string): CommitResult => ({ kind: 'unavailable', fault, message });
  const closedResult = unavailable('closed', `the store '${file}' is closed`);

  const post = () => {
    scheduled = false;
    if (queue.isEmpty()) return settleIdle();
    if (thread === null) return void restart();
    while (!queue.isEmpty() && room()) postEach(queue.take(), thread);
  };

  const postEach = (part: readonly Waiting[], to: WriterThread) => {
    if (posted.length === 0) to.hold(true);
    try {
      postPart(part, to);
    } catch {
      // One of them cannot be cloned; each is tried by itself, so that only that one is refused.
      for (const waiting of part) {
        try {
          postPart([waiting], to);
        } catch (error) {
          land(waiting, notPlain(error));
        }
      }
    }
  };

  const postPart = (part: readonly Waiting[], to: WriterThread) => {
    let bytes = 0;
    for (const waiting of part) bytes += waiting.bytes;
    postTo(to, { requests: part.map(({ flat }) => flat), bytes, answered: markIfDue() });
    postedBytes += bytes;
    for (const waiting of part) posted.push(waiting);
  };

  const postTo = (to: WriterThread, part: Omit<Part, 'isStale' | 'age'>) => {
    to.post({ ...part, isStale, age: age.now() });
    isStale = false;
    partsOut += 1;
    lone.workerWrites();
  };

  /** After a turn of the loop: whoever was there already and could not be heard has asked by now, and they go together. */
  const postAlone = (asked: number) => {
    if (queue.length() !== asked) lone.isNotAlone();
    if (queue.length() !== asked || partsOut > 0 || thread === null) return post();
    const part = queue.take();
    const requests = part.map(({ request }) => request);
    const written = lone.write({ requests, more: () => false, answered: markIfDue, age: age.now() });
    if (written === null) return postEach(part, thread);
    isStale = true;
    statistics.alone += 1;
    landWritten(part, written);
  };

  /** The mark costs a page of its own. A batch carries it ten times as often as it is written by itself: what it lacks after a crash is told twice. */
  const markIfDue = (everyMs = markEveryMs / 10): number | null => {
    const now = performance.now();
    if (now - markedAt < everyMs) return null;
    markedAt = now;
    return replies.take();
  };

  const settleIdle = () => {
    if (posted.length > 0 || starting) return;
    // A mark that comes back while the worker is being closed must not let the process end before it is.
    if (!closing) thread?.hold(false);
    whenIdle?.();
  };

  const landAll = (lost: readonly Waiting[], result: CommitResult) => {
    for (const waiting of lost) land(waiting, result);
  };

  const landWritten = (written: readonly Waiting[], { results, sessions: changed }: Written) => {
    sessions.committed(changed);
    if (results.length > 0) statistics.batches += 1;
    statistics.requests += results.length;
    for (const [index, waiting] of written.entries()) {
      const result = results[index] as CommitResult;
      if (result.kind === 'unavailable') replies.putBack();
      else if (!('erase' in waiting.request)) replies.committed(waiting.request, result);
      land(waiting, result);
    }
  };

  const listener: ThreadListener = {
    results(outcome) {
      partsOut -= outcome.parts;
      const written = posted.splice(0, outcome.results.length);
      for (const { bytes } of written) postedBytes -= bytes;
      landWritten(written, outcome);
      schedule();
    },
    died(cause) {
      thread = null;
      sessions.committed(null);
      replies.putBack();
      postedBytes = 0;
      partsOut = 0;
      const message = `the writer of '${file}' stopped (${cause}): it starts again with the next commit`;
      landAll(posted.splice(0), unavailable('io', message));
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

  /** After those who were just answered had their turn: what they commit next goes together. */
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(post);
  };

  /** While nobody commits it is written by itself; a commit that has just carried it did that already. */
  const flushSoon = (waitMs = markEveryMs) => {
    if (flushTimer !== null || closed) return;
    flushTimer = setTimeout(() => {
      flushTimer = null;
      if (thread === null || closed) return;
      const sinceMark = performance.now() - markedAt;
      if (sinceMark < markEveryMs) return flushSoon(markEveryMs - sinceMark);
      const answered = markIfDue(markEveryMs);
      if (answered !== null) postTo(thread, { requests: [], bytes: 0, answered });
    }, waitMs).unref();
  };

  first.listen(listener);
  first.hold(false);
  return {
    write(requests, alone = false) {
      if (requests.length === 0) return Promise.resolve([]);
      if (!alone) lone.isNotAlone();
      return new Promise((resolve) => {
        const group: Group = { results: [], missing: requests.length, resolve };
        for (const [index, request] of requests.entries()) {
          const refused = closed ? closedResult : queue.add(request, group, index);
          if (refused !== null) land({ group, index }, refused);
        }
        if (alone && !scheduled && queue.length() === requests.length && lone.takes(queue.bytes()))
          setImmediate(postAlone, requests.length);
        else if (queue.length() >= partRequests && thread !== null) post();
        else schedule();
      });
    },
    answered(position) {
      replies.answered(position);
      flushSoon();
    },
    statistics: () => ({ ...statistics }),
    age: age.now,
    drain() {
      closed = true;
      if (flushTimer !== null) clearTimeout(flushTimer);
      return new Promise((resolve) => {
        whenIdle = resolve;
        schedule();
      });
    },
    async close() {
      closing = true;
      // INVARIANT: only when every reply arrived does the epoch say that nobody waits.
      const answered = replies.allAnswered() ? drained : replies.take();
      lone.close();
      age.stop();
      await thread?.close({ answered, nowMs: nowMs(), isStale, age: age.now() });
    },
  };
}
