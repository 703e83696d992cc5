/**
 * Makes one transition durable, or says that it cannot. A store that is away is tried again on the schedule of
 * CONTRACT section 9; committing the same transition again is safe, because its token names the intention.
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
      // A conflict wrote nothing, so it says nothing about a disk that is full.
      if (answer.kind === 'committed') storeIsBack(shell);
      if (answer.kind === 'committed' && shell.workflows.size > 0) rememberWritten(transition, shell);
      if (answer.kind === 'conflict' && doubtful !== null) doubted.add(answer);
      return answer;
    }
    // INVARIANT: a try that may have been applied is not forgotten because a later one was refused for certain.
    if (mayBeApplied(answer.fault)) doubtful = answer.fault;
    const result = { ...answer, fault: doubtful ?? answer.fault };
    // A full queue is load, not absence: the caller hears `Busy` at once.
    if (answer.fault === 'overloaded') return result;
    // Once the whole schedule has failed for anybody, nobody waits until a commit has succeeded.
    const wait = live.storeDown || isLasting(answer.fault) ? undefined : limits.storeRetryMs[tries];
    storeFailed(answer, shell);
    if (wait === undefined) {
      storeIsAway(answer, shell);
      return result;
    }
    await pauseWhileUp(wait, shell);
  }
}

/** Trying again would meet the same. */
const isLasting = (fault: StoreFault): boolean => fault === 'closed' || fault === 'fenced' || fault === 'lost';

/** Shorter if the store is given up meanwhile, by whoever began to wait before, or is back. */
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

/** The other faults come before the disk is touched, or undo what they did to it. */
export function mayBeApplied(fault: StoreFault): boolean {
  return fault === 'io' || fault === 'owner_gone';
}

/** Nobody waits for the reply recorded here, or they have it: after a restart nobody needs to look for them. */
export function nobodyWaits(result: CommitResult, shell: Shell): void {
  if (result.kind === 'committed' && result.position !== null) shell.ports.store.answered(result.position);
}

/** Something that happened and could not be recorded: the sweeper tries again until it is, or has moved on. */
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

/** What /readyz tells, from the first commit that fails to the next that does not. */
export function storeFailed({ fault, message }: StoreTrouble, { live }: Shell): void {
  live.storeTrouble = { fault, message };
}

function storeIsAway({ fault, message }: StoreTrouble, shell: Shell): void {
  // What comes after the closing needs no operator.
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
