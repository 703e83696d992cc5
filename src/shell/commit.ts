/**
 * Makes one transition durable, or says that it cannot. A store that is away is tried again on the schedule of
 * CONTRACT section 9; committing the same transition again is safe, because its token names the intention.
 */
import type { CommitResult, StoreFault, Transition } from '../ports/store.ts';
import type { Clock } from '../ports/clock.ts';
import { invariant } from '../core/unreachable.ts';
import { rememberWritten } from './resumption.ts';
import { isAlone, type Shell, type Unrecorded } from './shell.ts';

export async function commit(transition: Transition, shell: Shell): Promise<CommitResult> {
  const { limits, live } = shell;
  // Once the whole schedule has failed, nobody waits twelve seconds again until the store has been seen alive.
  const waits = live.storeDown ? [] : limits.storeRetryMs;
  let doubtful: StoreFault | null = null;
  for (let tries = 0; ; tries++) {
    const [answer] = await shell.ports.store.commit([transition], isAlone(shell));
    invariant(answer !== undefined, 'the store answers every transition');
    if (answer.kind !== 'unavailable') {
      storeIsBack(shell);
      if (answer.kind === 'committed') rememberWritten(transition, shell);
      if (answer.kind === 'conflict' && doubtful !== null) doubted.add(answer);
      return answer;
    }
    // INVARIANT: a try that may have been applied is not forgotten because a later one was refused for certain.
    if (mayBeApplied(answer.fault)) doubtful = answer.fault;
    const result = { ...answer, fault: doubtful ?? answer.fault };
    const wait = waits[tries];
    if (wait === undefined || answer.fault === 'closed' || answer.fault === 'fenced') {
      storeIsAway(answer.fault, answer.message, shell);
      return result;
    }
    // A full queue is load, not absence: the caller hears `Busy` at once.
    if (result.fault === 'overloaded') return result;
    await pause(shell.ports.clock, wait);
  }
}

const doubted = new WeakSet<CommitResult>();

/** Whether an earlier try of the same transition may have been applied before this conflict was met. */
export const isDoubtful = (result: CommitResult): boolean => doubted.has(result);

/** The other faults come before the disk is touched, or undo what they did to it. */
export function mayBeApplied(fault: StoreFault): boolean {
  return fault === 'io' || fault === 'owner_gone';
}

/** Nobody waits for the reply recorded here, or they have it: after a restart nobody needs to look for them. */
export function nobodyWaits(result: CommitResult, shell: Shell): void {
  if (result.kind === 'committed' && result.position !== null) shell.ports.store.answered(result.position);
}

/** Something that happened and could not be recorded: the sweeper tries again until it is, or has moved on. */
export function keepForLater(transition: Transition, shell: Shell, ifMovedOn: Unrecorded['ifMovedOn'] = null): void {
  const { unrecorded } = shell.live;
  if (unrecorded.length < shell.limits.maxUnrecorded) unrecorded.push({ transition, ifMovedOn });
  else shell.ports.notify({ kind: 'suppressed', what: 'an outcome', reason: 'too many wait for the store already' });
}

export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(delayMs, resolve));
}

function storeIsAway(fault: string, message: string, shell: Shell): void {
  // What comes after the closing needs no operator.
  if (shell.live.storeDown || shell.live.closed) return;
  shell.live.storeDown = true;
  shell.ports.notify({ kind: 'store_unavailable', fault, message });
}

export function storeIsBack(shell: Shell): void {
  if (!shell.live.storeDown) return;
  shell.live.storeDown = false;
  shell.ports.notify({ kind: 'store_recovered' });
}
