/**
 * How old is the store? As old as the time that it was open, counted by whoever owned it. What is kept for a while is kept by this
 * age and by no clock: one that is wrong makes nothing forgotten.
 */
export interface Age {
  now(): number;
  stop(): void;
}

const lookEveryMs = 1_000;
/** INVARIANT: between two looks no more than this is counted, whatever a clock says, even the monotonic one. */
const maxStepMs = 60_000;

export function countAge(fromMs: number, monotonicMs: () => number): Age {
  let ageMs = fromMs;
  let lookedAt = monotonicMs();
  const now = () => {
    const at = monotonicMs();
    ageMs += Math.min(Math.max(0, at - lookedAt), maxStepMs);
    lookedAt = at;
    return Math.floor(ageMs);
  };
  const timer = setInterval(now, lookEveryMs).unref();
  return { now, stop: () => clearInterval(timer) };
}
