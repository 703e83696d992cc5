/** The clock of a scripted transport. It jumps to the end of every wait, unless the test moves it (`manual`). */
import type { Pause } from '../transport/transport.ts';

export interface ScriptedClock {
  /** Seconds since the start of the test, as the client lived them. */
  readonly seconds: number;
  /** How long each wait was, in order. */
  readonly waits: readonly number[];
  /** Waits that are not over yet; always 0 unless the clock is manual. */
  readonly waiting: number;
  /** Ends every wait that is due by then, earliest first. */
  advance(seconds: number): void;
}

export function scriptedClock(isManual: boolean): { readonly clock: ScriptedClock; readonly pause: Pause } {
  const waits: number[] = [];
  let now = 0;
  let open: { readonly at: number; readonly end: () => void }[] = [];
  const clock: ScriptedClock = {
    get seconds() {
      return now;
    },
    get waits() {
      return [...waits];
    },
    get waiting() {
      return open.length;
    },
    advance(seconds) {
      now += seconds;
      const due = open.filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at);
      for (const { end } of due) end();
    },
  };
  const pause: Pause = (seconds, signal) => {
    waits.push(seconds);
    if (signal?.aborted === true) return Promise.resolve();
    if (!isManual) {
      now += seconds;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = () => {
        open = open.filter((each) => each !== entry);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const entry = { at: now + seconds, end };
      open.push(entry);
      signal?.addEventListener('abort', end);
    });
  };
  return { clock, pause };
}
