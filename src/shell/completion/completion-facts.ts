/**
 * Gathers what blocks the completion of a session: open and doubtful calls, approvals, required calls that have not
 * succeeded. Never reads all calls of a session. Also refuses completions and task reports while the gateway is not
 * ready.
 */
import { type Approval, stateAt } from '../../core/approval/approval.ts';
import type { CallId, Principal, Call, Request } from '../../core/call/call.ts';
import type { Against, Undone } from '../../core/call/completion.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import type { JsonObject, Json } from '../../core/values/json.ts';
import type { CompletionCall } from '../../core/policy/policy.ts';
import { policyOf, type Shell, firstFacts } from '../shell.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { StoredCall } from '../../ports/store.ts';
import { hasCurrentRules, expireOrVoid } from '../approval/end-approval.ts';
import { isMasked } from '../mask.ts';
import { recordedWaiters } from '../approval/hold-call.ts';
import { refused } from '../../core/call/answer.ts';
import { ready } from '../../core/gates/ready.ts';
import type { ErrorReply } from '../../core/call/reply.ts';

type Found = Extract<SessionFact, { found: true }>;

export interface CompletionFacts {
  readonly against: Against;
  /** Approvals that block nothing, and could never be used once the session is closed. */
  readonly outOfReach: readonly Approval[];
  /** The policy names of the calls that must have succeeded. */
  readonly required: readonly string[];
  /** `file:line` of the completion rule; null if the agent has none. */
  readonly ref: string | null;
}

/** The most calls in doubt that one reply lists. */
const maxInDoubt = 1_000;

export async function gatherCompletionFacts(session: Found, who: Principal, shell: Shell): Promise<CompletionFacts> {
  const { outOfReach, ...open } = await findOpenCalls(session, who, shell);
  const inDoubt = await callsInDoubt(session, who, shell);
  const rule = policyOf(who.agent, shell)?.agent?.completion ?? null;
  const asked = completionCall(session, who, shell);
  const required = rule?.required(asked) ?? [];
  return {
    against: {
      ...open,
      inDoubt,
      undone: await findUndone(required, session, who, shell),
      conditionHolds: rule?.holds(asked) ?? true,
    },
    outOfReach,
    required,
    ref: rule?.written.ref ?? null,
  };
}

/** The facts as the record of the completion keeps them, by id and name. */
export function factsForRecord({ against, required }: CompletionFacts): JsonObject {
  const { pending, granted, inDoubt, underWay, undone, conditionHolds } = against;
  return {
    approvals_pending: [...pending],
    approvals_granted: [...granted],
    in_doubt: [...inDoubt],
    under_way: [...underWay],
    required: [...required],
    not_done: undone.map(({ name }) => name),
    condition_holds: conditionHolds,
  };
}

/** INVARIANT: a session that continues another one is blocked by the doubtful calls of that one, too. */
async function callsInDoubt(
  { id, step }: Found,
  { tenant, agent }: Principal,
  shell: Shell,
): Promise<readonly CallId[]> {
  const filter = { tenant, agent, session: id, state: 'IN_DOUBT', limit: maxInDoubt } as const;
  const own = (await shell.ports.store.listCalls(filter)).map((call) => call.id).toReversed();
  const fenced = (step?.fences ?? []).filter(({ inDoubt }) => inDoubt).map(({ callId }) => callId);
  return [...new Set([...fenced, ...own])];
}

async function findUndone(
  required: readonly string[],
  session: Found,
  who: Principal,
  shell: Shell,
): Promise<readonly Undone[]> {
  if (required.length === 0) return [];
  const catalogue = session.step?.workflow.catalogue ?? shell.catalogue();
  // One policy name may stand for several tools.
  const entries = Map.groupBy(catalogue.values(), ({ policyName }) => policyName);
  const undone: Undone[] = [];
  for (const name of required) {
    const tools = [...new Set([name, ...(entries.get(name) ?? []).map((entry) => entry.name)])];
    if (!(await isDone(tools, session, who, shell))) undone.push({ name, tools });
  }
  return undone;
}

async function isDone(tools: readonly string[], session: Found, who: Principal, shell: Shell): Promise<boolean> {
  // Without a workflow the sequence counts successes: at 0 there is nothing to look up.
  if (session.step === null && session.seq === 0) return false;
  for (const tool of tools) {
    const filter = { ...who, session: session.id, tool, state: 'SUCCEEDED', limit: 1 } as const;
    if ((await shell.ports.store.listCalls(filter)).length > 0) return true;
  }
  return false;
}

function completionCall({ id, seq, step }: Found, who: Principal, shell: Shell): CompletionCall {
  return {
    agent: { name: who.agent },
    principal: { tenant: who.tenant, agent: who.agent },
    session: { id, seq, workflow: step?.workflow.name ?? null },
    state: step === null ? null : { value: step.snapshot.value, context: step.snapshot.context },
    nowMs: shell.ports.clock.nowMs(),
  };
}

interface OpenCalls {
  readonly pending: readonly string[];
  /** Approved calls that nobody has run. */
  readonly granted: readonly string[];
  readonly underWay: readonly CallId[];
  /** Granted approvals of steps that cannot be reached from the current state of the session. */
  readonly outOfReach: readonly Approval[];
}

/** Pages through all unfinished calls, which are few, and picks those that the session waits for. */
async function findOpenCalls(session: Found, who: Principal, shell: Shell): Promise<OpenCalls> {
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
      const open = await findAwaitedApproval(call, session, who, shell);
      if (open === null) continue;
      if (open.isInReach) found[open.state].push(open.approval.id);
      // An approval of another session's call may still be used there.
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

/** The approval of this call, if the session waits for it: by the call itself, or as a recorded waiter. */
async function findAwaitedApproval(
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
  // An approval under outdated rules blocks nothing: end it, and its call with it.
  if (!(await hasCurrentRules(approval, shell))) {
    await expireOrVoid(approval, shell);
    return null;
  }
  // A pending approval always blocks, whatever the state of the session: the person's decision will resolve it.
  if (step === null || state === 'pending') return { approval, state, isInReach: true };
  const isInReach = isOwn
    ? await isStepInReach(call, approval, step, shell)
    : waiters.some(({ through }) => through === null || mayReach(through, step));
  return { approval, state, isInReach };
}

const mayReach = (action: string, { workflow, snapshot }: StepFact): boolean =>
  workflow.machine.reach(snapshot, action).kind !== 'no';

/** As the gates would judge it. True where a guard depends on inputs that are not known here. */
async function isStepInReach(
  { id, tool }: StoredCall,
  { edit }: Approval,
  { workflow, snapshot }: StepFact,
  { ports }: Shell,
): Promise<boolean> {
  const reach = workflow.machine.reach(snapshot, tool);
  if (reach.kind !== 'depends') return reach.kind !== 'no';
  const args = await ports.store.args(id);
  // Masked arguments are unknown here, and validators have not seen edited ones.
  if (args.kind !== 'text' || isMasked(args.text) || edit !== null) return true;
  return workflow.machine.reachWith(snapshot, tool, JSON.parse(args.text) as Json).kind !== 'no';
}

/** Null if the gateway is ready. Nothing is sent, so the limit of calls in flight does not apply. */
export function refuseUnready(call: Call, shell: Shell): ErrorReply | null {
  const facts = { ...firstFacts(call, shell), inFlight: { now: 0, max: 1 } };
  const answer = ready.check({ tool: call.tool } as Request, facts, []);
  if (answer.kind !== 'refuse') return null;
  return refused({ requested: call.tool, callId: call.id, session: null, nextActions: [] }, answer.refusal);
}
