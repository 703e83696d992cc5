/** A token bucket: how long a reader must wait so that a flood costs no more than its share. Drops nothing itself. */
export interface TokenBucket {
  /** Milliseconds to wait before reading on; 0 within the burst. Negative units are given back. */
  spend(units: number): number;
}

export function createTokenBucket(
  burst: number,
  perSecond: number,
  nowMs: () => number = () => performance.now(),
): TokenBucket {
  let left = burst;
  let since = nowMs();
  return {
    spend(units) {
      const now = nowMs();
      left = Math.min(burst, left + ((now - since) / 1_000) * perSecond) - units;
      since = now;
      return left >= 0 ? 0 : Math.ceil((-left / perSecond) * 1_000);
    },
  };
}
