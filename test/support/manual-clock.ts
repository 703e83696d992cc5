/** A clock that moves only when a test says so. */
import type { Clock } from '../../src/ports/clock.ts';

export interface ManualClock extends Clock {
  /** Calls back whoever is due by then, in order. */
  forward(ms: number): void;
  /** How many wait. */
  waiting(): number;
}

export function createManualClock(startMs = Date.UTC(2026, 4, 18)): ManualClock {
  let passedMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const schedule: Clock['schedule'] = (delayMs, callback) => {
    const timer = { atMs: passedMs + Math.max(0, delayMs), callback };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    schedule,
    background: schedule,
    waiting: () => timers.size,
    forward(ms) {
      passedMs += ms;
      const due = [...timers].filter(({ atMs }) => atMs <= passedMs).sort((one, other) => one.atMs - other.atMs);
      for (const timer of due) if (timers.delete(timer)) timer.callback();
    },
  };
}
