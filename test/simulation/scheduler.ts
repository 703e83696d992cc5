/**
 * Virtual time. One heap of events; a step takes one out, runs it and lets every promise that it settled run on. What
 * belongs to a dead process never runs; what belongs to a paused one runs when it wakes.
 */
import { createEventHeap } from './event-heap.ts';

/** One run of a process: what it left behind in the heap dies with it. */
export interface Life {
  readonly node: string;
  readonly bornAtMs: number;
  alive: boolean;
  pausedUntilMs: number;
}

interface Event {
  timeMs: number;
  readonly order: number;
  readonly life: Life | null;
  readonly what: string;
  readonly run: () => void;
  cancelled: boolean;
}

export interface Scheduler {
  nowMs(): number;
  /** Calls back once, unless taken back, or unless the process it belongs to is gone. */
  after(delayMs: number, life: Life | null, what: string, run: () => void): () => void;
  /** False when nothing is left to happen. */
  step(): Promise<boolean>;
  steps(): number;
  /** Adds a line to the story, which only a traced run tells. */
  say(line: () => string): void;
  story(): readonly string[];
}

/** A tick comes when no promise is left to run: nothing in the world waits for real time. */
const settlePromises = () => new Promise<void>((resolve) => process.nextTick(resolve));

const linesKept = 400;

export function createScheduler(traced: boolean): Scheduler {
  const heap = createEventHeap<Event>();
  const story: string[] = [];
  let now = 0;
  let order = 0;
  let steps = 0;
  const say = (line: () => string) => {
    if (!traced) return;
    story.push(`${(now / 1_000).toFixed(3).padStart(9)} s  ${line()}`);
    if (story.length > linesKept) story.shift();
  };
  return {
    nowMs: () => now,
    after(delayMs, life, what, run) {
      const event: Event = { timeMs: now + Math.max(0, delayMs), order: order++, life, what, run, cancelled: false };
      heap.push(event);
      return () => {
        event.cancelled = true;
      };
    },
    async step() {
      for (;;) {
        const event = heap.pop();
        if (event === undefined) return false;
        const { life } = event;
        if (event.cancelled || (life !== null && !life.alive)) continue;
        if (life !== null && life.pausedUntilMs > event.timeMs) {
          // The order stays: a process that wakes finds its events as they were put in.
          event.timeMs = life.pausedUntilMs;
          heap.push(event);
          continue;
        }
        now = Math.max(now, event.timeMs);
        if (event.what !== '') say(() => (life === null ? event.what : `${life.node}: ${event.what}`));
        steps += 1;
        event.run();
        await settlePromises();
        return true;
      }
    },
    steps: () => steps,
    say,
    story: () => story,
  };
}
