/** A wall clock that never goes back: the highest time seen, in this process or in the journal, is the minimum. */
import type { Clock } from '../../ports/clock.ts';

/** Smaller corrections are not reported. */
const noticedMs = 1_000;

export function steadyClock(clock: Clock, floorMs: number, onHeld: (behindMs: number) => void): Clock {
  let highest = floorMs;
  let held = false;
  return {
    ...clock,
    nowMs() {
      const now = clock.nowMs();
      if (now >= highest) {
        highest = now;
        held = false;
        return now;
      }
      if (!held && highest - now > noticedMs) {
        held = true;
        onHeld(highest - now);
      }
      return highest;
    },
  };
}
