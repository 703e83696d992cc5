/**
 * Makes one transition durable, or says that it cannot. A store that is away is tried again on the schedule of
 * CONTRACT section 9; committing the same transition again is safe, because its token names the intention.
 */
import type { CommitResult, Transition } from '../ports/store.ts';
import type { Clock } from '../ports/clock.ts';
import { invariant } from '../core/unreachable.ts';
import type { Shell } from './shell.ts';

export async function commit(transition: Transition, shell: Shell): Promise<CommitResult> {
  const { limits, live } = shell;
  // Once the whole schedule has failed, nobody waits twelve seconds again until the store has been seen alive.
  const waits = live.storeDown ? [] : limits.storeRetryMs;
  for (let tries = 0; ; tries++) {
    const [result] = await shell.ports.store.commit([transition]);
    invariant(result !== undefined, 'the store answers every transition');
    if (result.kind !== 'unavailable') {
      storeIsBack(shell);
      return result;
    }
    const wait = waits[tries];
    if (wait === undefined || result.fault === 'closed' || result.fault === 'fenced') {
      storeIsAway(result.fault, result.message, shell);
      return result;
    }
    // A full queue is load, not absence: the caller hears `Busy` at once.
    if (result.fault === 'overloaded') return result;
    await pause(shell.ports.clock, wait);
  }
}

/** Nobody waits for the reply recorded here, or they have it: after a restart nobody needs to look for them. */
export function nobodyWaits(result: CommitResult, shell: Shell): void {
  if (result.kind === 'committed' && result.position !== null) shell.ports.store.answered(result.position);
}

/** Something that happened and could not be recorded: the sweeper tries again until it is. */
export function keepForLater(transition: Transition, shell: Shell): void {
  if (shell.live.unrecorded.length < shell.limits.maxUnrecorded) shell.live.unrecorded.push(transition);
  else shell.ports.notify({ kind: 'suppressed', what: 'an outcome', reason: 'too many wait for the store already' });
}

export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(delayMs, resolve));
}

function storeIsAway(fault: string, message: string, shell: Shell): void {
  if (shell.live.storeDown) return;
  shell.live.storeDown = true;
  shell.ports.notify({ kind: 'store_unavailable', fault, message });
}

function storeIsBack(shell: Shell): void {
  if (!shell.live.storeDown) return;
  shell.live.storeDown = false;
  shell.ports.notify({ kind: 'store_recovered' });
}
