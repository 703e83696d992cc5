/**
 * Receives the answers to requests that nobody waits for any more: the result of a write may come after its timeout.
 * Each answer is handed on once. The number and the time are limited; after that the server is told to stop.
 */
import type { McpLimits } from './mcp-limits.ts';
import type { WireAnswer } from './wire-answer.ts';

export interface LateAnswers {
  /** `giveUp` is called if no answer came in time, or too many others are listened for. */
  listen(id: number, receive: (answer: WireAnswer) => void, giveUp: () => void): void;
  has(id: number): boolean;
  /** False if nobody listens for it. */
  answer(id: number, answer: WireAnswer): boolean;
  /** No answer will come. */
  forget(id: number): void;
  isEmpty(): boolean;
  /** Gives up on all of them. */
  close(): void;
}

interface Listening {
  readonly receive: (answer: WireAnswer) => void;
  readonly giveUp: () => void;
  readonly timer: NodeJS.Timeout;
}

/** `onEmpty`: nothing is listened for any more. */
export function createLateAnswers(limits: McpLimits, onEmpty: () => void): LateAnswers {
  const open = new Map<number, Listening>();

  function take(id: number): Listening | null {
    const found = open.get(id) ?? null;
    if (found === null) return null;
    open.delete(id);
    clearTimeout(found.timer);
    if (open.size === 0) queueMicrotask(onEmpty);
    return found;
  }

  return {
    listen(id, receive, giveUp) {
      const timer = setTimeout(() => take(id)?.giveUp(), limits.lateAnswerMs);
      timer.unref();
      open.set(id, { receive, giveUp, timer });
      const [oldest] = open.size > limits.maxLateAnswers ? open.keys() : [];
      if (oldest !== undefined) take(oldest)?.giveUp();
    },
    has: (id) => open.has(id),
    answer(id, answer) {
      const found = take(id);
      // A connection that broke says nothing new.
      if (answer.kind !== 'lost') found?.receive(answer);
      return found !== null;
    },
    forget: (id) => void take(id),
    isEmpty: () => open.size === 0,
    close() {
      for (const id of open.keys()) take(id)?.giveUp();
    },
  };
}
