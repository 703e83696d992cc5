/**
 * Commits one transition to the store, and tries again on the schedule of CONTRACT section 9 while the store is
 * unavailable. Committing the same transition twice is safe, because its token identifies it.
 */
import type { CommitResult, StoreFault, StoreTrouble, Transition } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { rememberWritten } from '../session/position.ts';
import type { Shell, Unrecorded } from '../shell.ts';

export async function commit(transition: Transition, shell: Shell): Promise<CommitResult> {
  const { limits, live } = shell;
  let doubtful: StoreFault | null = null;
  for (let tries = 0; ; tries++) {
    const [answer] = await shell.ports.store.commit([transition]);
    invariant(answer !== undefined, 'the store answers every transition');
    if (answer.kind !== 'unavailable') {
      // A conflict wrote nothing, so it does not show that the store can write again.
      if (answer.kind === 'committed') storeIsBack(shell);
      if (answer.kind === 'committed' && shell.workflows.size > 0) rememberWritten(transition, shell);
      if (answer.kind === 'conflict' && doubtful !== null) doubted.add(answer);
      return answer;
    }
    // INVARIANT: a try that may have been applied is still reported after a later try that certainly was not.
    if (mayBeApplied(answer.fault)) doubtful = answer.fault;
    const result = { ...answer, fault: doubtful ?? answer.fault };
    // A full queue is load, not an outage: the caller gets `Busy` at once.
    if (answer.fault === 'overloaded') return result;
    // Once the whole schedule has failed for one commit, no other waits until one has succeeded.
    const wait = live.storeDown || isLasting(answer.fault) ? undefined : limits.storeRetryMs[tries];
    storeFailed(answer, shell);
    if (wait === undefined) {
      storeIsAway(answer, shell);
      return result;
    }
    await pauseWhileUp(wait, shell);
  }
}

/** Faults that trying again does not change. */
const isLasting = (fault: StoreFault): boolean => fault === 'closed' || fault === 'fenced' || fault === 'lost';

/** Ends early if the store is given up by an earlier commit, or is back. */
function pauseWhileUp(waitMs: number, { ports, live }: Shell): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      takeBack();
      live.storeWaiters.delete(end);
      resolve();
    };
    const takeBack = ports.clock.schedule(waitMs, end);
    live.storeWaiters.add(end);
  });
}

const doubted = new WeakSet<CommitResult>();

/** Whether an earlier try of the same transition may have been applied before this conflict was met. */
export const isDoubtful = (result: CommitResult): boolean => doubted.has(result);

/** The other faults come before anything is written, or undo what was written. */
export function mayBeApplied(fault: StoreFault): boolean {
  return fault === 'io' || fault === 'owner_gone';
}

/** Marks the recorded reply as answered: its requester has it, or there is none. Recovery then leaves it alone. */
export function markAnswered(result: CommitResult, shell: Shell): void {
  if (result.kind === 'committed' && result.position !== null) shell.ports.store.answered(result.position);
}

/** Keeps an outcome that could not be recorded: the sweeper tries again until it is, or the call has moved on. */
export function keepForLater(
  transition: Transition,
  shell: Shell,
  ifMovedOn: Unrecorded['ifMovedOn'] = null,
  recorded?: () => void,
): void {
  const { unrecorded } = shell.live;
  if (unrecorded.length < shell.limits.maxUnrecorded) unrecorded.push({ transition, ifMovedOn, recorded });
  else shell.ports.notify({ kind: 'suppressed', what: 'an outcome', reason: 'too many wait for the store already' });
}

export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(delayMs, resolve));
}

/** Sets what /readyz reports, from the first commit that fails to the next that succeeds. */
export function storeFailed({ fault, message }: StoreTrouble, { live }: Shell): void {
  live.storeTrouble = { fault, message };
}

function storeIsAway({ fault, message }: StoreTrouble, shell: Shell): void {
  // After closing, the operator needs no notice.
  if (shell.live.storeDown || shell.live.closed) return;
  shell.live.storeDown = true;
  for (const end of shell.live.storeWaiters) end();
  shell.ports.notify({ kind: 'store_unavailable', fault, message });
}

export function storeIsBack(shell: Shell): void {
  if (shell.live.storeTrouble === null && !shell.live.storeDown) return;
  shell.live.storeTrouble = null;
  for (const end of shell.live.storeWaiters) end();
  if (!shell.live.storeDown) return;
  shell.live.storeDown = false;
  shell.ports.notify({ kind: 'store_recovered' });
}
