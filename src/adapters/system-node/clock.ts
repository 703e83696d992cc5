/** The clocks of the machine: wall time for people and records, monotonic time for measuring. */
import type { Clock } from '../../ports/clock.ts';

/** Longer timers fire at once in Node; a wait beyond this is cut into pieces by whoever needs it. */
const longestTimerMs = 2 ** 31 - 1;

const inRange = (delayMs: number) => Math.min(Math.max(0, delayMs), longestTimerMs);

export const nodeClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, inRange(delayMs));
    return () => clearTimeout(timer);
  },
  background(delayMs, callback) {
    const timer = setTimeout(callback, inRange(delayMs)).unref();
    return () => clearTimeout(timer);
  },
};
