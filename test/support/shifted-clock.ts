/** The machine's clock, of which a test can move wall time alone, or let time pass by every clock. */
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import type { Clock } from '../../src/ports/clock.ts';

export interface ShiftedClock extends Clock {
  /** Wall time alone: the clock was wrong, or was corrected. */
  forward(ms: number): void;
  /** By every clock. What is counted between two looks is at most a minute: see age.ts. */
  pass(ms: number): void;
}

export function createShiftedClock(): ShiftedClock {
  let shiftMs = 0;
  let passedMs = 0;
  return {
    ...nodeClock,
    nowMs: () => nodeClock.nowMs() + shiftMs + passedMs,
    monotonicMs: () => nodeClock.monotonicMs() + passedMs,
    forward: (ms) => {
      shiftMs += ms;
    },
    pass: (ms) => {
      passedMs += ms;
    },
  };
}
