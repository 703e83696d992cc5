/** How long does the caller of a call wait? As long as they said, from the moment it came: in line for its turn, too. */
import type { Asked } from './say-no.ts';
import type { Shell } from '../shell.ts';

/** A timer may fire a moment early; a deadline that it watches is over when it does. */
const timerSlackMs = 5;

/** What is left of the wait that the caller set; null if they set none. */
export function waitLeft({ request, arrivedAtMs }: Asked, { ports }: Shell): number | null {
  if (request.waitMs === null) return null;
  return Math.max(0, arrivedAtMs + request.waitMs - ports.clock.monotonicMs());
}

/**
 * How long a step stays in line for its turn. Nothing of it is on record there, so nobody could ask for it after a `pending`:
 * it goes when its caller does not wait any longer, and when its deadline has passed.
 */
export function waitInLine(asked: Asked, shell: Shell): number {
  // What the gateway runs by itself has nobody who could go.
  const caller = asked.only === undefined ? waitLeft(asked, shell) : null;
  const deadline = asked.call.deadlineAtMs - shell.ports.clock.nowMs() + timerSlackMs;
  return Math.max(0, Math.min(shell.limits.stepQueueMs, caller ?? Infinity, deadline));
}
