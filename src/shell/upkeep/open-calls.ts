/**
 * What of a session is not finished: calls under way, and approvals that it waits for, whosever call they were opened with? Only
 * reads, but that an approval which the rules have made void is ended here.
 */
import { type Approval, stateAt } from '../../core/approval/approval.ts';
import type { CallId, Principal } from '../../core/call/call.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import type { Json } from '../../core/values/json.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { StoredCall } from '../../ports/store.ts';
import { isBoundNow } from '../approval/bound-now.ts';
import { lapse } from '../approval/end-approval.ts';
import { isMasked } from '../mask.ts';
import type { Shell } from '../shell.ts';
import { recordedWaiters } from '../approval/waiting-sessions.ts';

type Found = Extract<SessionFact, { found: true }>;

export interface OpenCalls {
  readonly pending: readonly string[];
  /** Approved calls that nobody has run. */
  readonly granted: readonly string[];
  readonly underWay: readonly CallId[];
  /** Granted to steps of the session that cannot be taken from where it stands. */
  readonly outOfReach: readonly Approval[];
}

/** Whatever is not finished has a timer, and those are few: what a session waits for is picked from them. */
export async function openCalls(session: Found, who: Principal, shell: Shell): Promise<OpenCalls> {
  const { limits, ports } = shell;
  const found = {
    pending: [] as string[],
    granted: [] as string[],
    underWay: [] as CallId[],
    outOfReach: [] as Approval[],
  };
  for (let after = ''; ;) {
    const page = await ports.store.unfinished(after, limits.sweepBatch);
    for (const call of page) {
      if (call.session === session.id && isUnderWay(call.state)) found.underWay.push(call.id);
      const open = await awaitedApproval(call, session, who, shell);
      if (open === null) continue;
      if (open.isInReach) found[open.state].push(open.approval.id);
      // What another session could still use is not this one's to end.
      else if (call.session === session.id) found.outOfReach.push(open.approval);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < limits.sweepBatch) return found;
    after = last.id;
  }
}

interface Awaited {
  readonly approval: Approval;
  readonly state: 'pending' | 'granted';
  readonly isInReach: boolean;
}

/** Null if the session waits for nothing that waits with this call. */
async function awaitedApproval(
  call: StoredCall,
  { id, step }: Found,
  { tenant, agent }: Principal,
  shell: Shell,
): Promise<Awaited | null> {
  if (call.state !== 'AWAITING_APPROVAL' || call.tenant !== tenant || call.agent !== agent) return null;
  const isOwn = call.session === id;
  const waiters = isOwn ? [] : (await recordedWaiters(call, shell)).filter(({ session }) => session === id);
  if (!isOwn && waiters.length === 0) return null;
  const approval = await shell.ports.store.approvalOfCall(call.id);
  const state = approval === null ? null : stateAt(approval, shell.ports.clock.nowMs());
  if (approval === null || (state !== 'pending' && state !== 'granted')) return null;
  // What the rules have made void holds nobody up, and its call waits no longer.
  if (!(await isBoundNow(approval, shell))) {
    await lapse(approval, shell);
    return null;
  }
  // While a person is asked it counts, wherever the session stands: whichever way they decide, it clears then.
  if (step === null || state === 'pending') return { approval, state, isInReach: true };
  const isInReach = isOwn
    ? await isStepInReach(call, approval, step, shell)
    : waiters.some(({ through }) => through === null || mayReach(through, step));
  return { approval, state, isInReach };
}

const mayReach = (action: string, { workflow, snapshot }: StepFact): boolean =>
  workflow.machine.reach(snapshot, action).kind !== 'no';

/** As the gates would judge it. Where a guard looks at inputs that nobody can know here, it is. */
async function isStepInReach(
  { id, tool }: StoredCall,
  { edit }: Approval,
  { workflow, snapshot }: StepFact,
  { ports }: Shell,
): Promise<boolean> {
  const reach = workflow.machine.reach(snapshot, tool);
  if (reach.kind !== 'depends') return reach.kind !== 'no';
  const args = await ports.store.args(id);
  // Validators have not seen what an approver wrote instead.
  if (args.kind !== 'text' || isMasked(args.text) || edit !== null) return true;
  return workflow.machine.reachWith(snapshot, tool, JSON.parse(args.text) as Json).kind !== 'no';
}
