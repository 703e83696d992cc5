/**
 * What stands against an agent that says it is done? Never looks at all calls of a session: at those that are open, and one success
 * of each name.
 */
import { type Approval, stateAt } from '../../core/approval/approval.ts';
import type { CallId, Principal, Call, Request } from '../../core/call/call.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
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

export interface Standing {
  readonly against: Against;
  /** What stands against nothing, and could never be used once the session is closed. */
  readonly outOfReach: readonly Approval[];
  /** The names that had to be done. */
  readonly required: readonly string[];
  /** `file:line` of the completion; null if the agent has none. */
  readonly ref: string | null;
}

/** Calls in doubt that one answer counts. */
const maxDoubts = 1_000;

export async function gatherStanding(session: Found, who: Principal, shell: Shell): Promise<Standing> {
  const { outOfReach, ...open } = await openCalls(session, who, shell);
  const inDoubt = await callsInDoubt(session, who, shell);
  const rule = policyOf(who.agent, shell)?.agent?.completion ?? null;
  const asked = completionCall(session, who, shell);
  const required = rule?.required(asked) ?? [];
  return {
    against: {
      ...open,
      inDoubt,
      undone: await undoneOf(required, session, who, shell),
      conditionHolds: rule?.holds(asked) ?? true,
    },
    outOfReach,
    required,
    ref: rule?.written.ref ?? null,
  };
}

/** For the record: what was seen, by number and name. */
export function factsOfStanding({ against, required }: Standing): JsonObject {
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

/** INVARIANT: a session that goes on from another one has its doubts, too. */
async function callsInDoubt(
  { id, step }: Found,
  { tenant, agent }: Principal,
  shell: Shell,
): Promise<readonly CallId[]> {
  const filter = { tenant, agent, session: id, state: 'IN_DOUBT', limit: maxDoubts } as const;
  const own = (await shell.ports.store.listCalls(filter)).map((call) => call.id).toReversed();
  const fenced = (step?.fences ?? []).filter(({ inDoubt }) => inDoubt).map(({ callId }) => callId);
  return [...new Set([...fenced, ...own])];
}

async function undoneOf(
  required: readonly string[],
  session: Found,
  who: Principal,
  shell: Shell,
): Promise<readonly Undone[]> {
  if (required.length === 0) return [];
  const names = namesIn(session.step?.workflow.catalogue ?? shell.catalogue());
  const undone: Undone[] = [];
  for (const name of required) {
    const tools = [...new Set([name, ...(names.get(name) ?? [])])];
    if (!(await isDone(tools, session, who, shell))) undone.push({ name, tools });
  }
  return undone;
}

/** By which names an agent calls what policy knows by one. */
function namesIn(catalogue: Catalogue): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { name, policyName } of catalogue.values()) {
    const known = names.get(policyName);
    if (known === undefined) names.set(policyName, [name]);
    else known.push(name);
  }
  return names;
}

async function isDone(tools: readonly string[], session: Found, who: Principal, shell: Shell): Promise<boolean> {
  // Without a workflow the sequence counts successes: where there is none, nobody needs to look.
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
  if (!(await hasCurrentRules(approval, shell))) {
    await expireOrVoid(approval, shell);
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

/** Null if it is ready. What sends nothing needs no place among the calls under way. */
export function notReady(call: Call, shell: Shell): ErrorReply | null {
  const facts = { ...firstFacts(call, shell), inFlight: { now: 0, max: 1 } };
  const answer = ready.check({ tool: call.tool } as Request, facts, []);
  if (answer.kind !== 'refuse') return null;
  return refused({ requested: call.tool, callId: call.id, session: null, nextActions: [] }, answer.refusal);
}
