/** The machine's clock with wall time that a test can move forward. Monotonic time stays what it is. */
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import type { Clock } from '../../src/ports/clock.ts';

export interface ShiftedClock extends Clock {
  forward(ms: number): void;
}

export function createShiftedClock(): ShiftedClock {
  let shiftMs = 0;
  return {
    ...nodeClock,
    nowMs: () => nodeClock.nowMs() + shiftMs,
    forward: (ms) => {
      shiftMs += ms;
    },
  };
}
