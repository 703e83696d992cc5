/**
 * What stands against an agent that says it is done? Never looks at all calls of a session: at those that are open, and one success
 * of each name. Only reads, but that an approval which the rules have made void is ended here.
 */
import { stateAt } from '../core/approval.ts';
import type { Principal } from '../core/call.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Against, Undone } from '../core/completion.ts';
import type { SessionFact } from '../core/facts.ts';
import type { JsonObject } from '../core/json.ts';
import type { CompletionCall } from '../core/policy/policy.ts';
import type { CallId, SessionId } from '../core/call.ts';
import { isUnderWay } from '../core/lifecycle.ts';
import { isBoundNow } from './bound-now.ts';
import { lapse } from './end-approval.ts';
import { policyOf, type Shell } from './shell.ts';

type Found = Extract<SessionFact, { found: true }>;

export interface Standing {
  readonly against: Against;
  /** The names that had to be done. */
  readonly required: readonly string[];
  /** `file:line` of the completion; null if the agent has none. */
  readonly ref: string | null;
}

/** Calls in doubt that one answer counts. */
const maxDoubts = 1_000;

export async function gatherStanding(session: Found, who: Principal, shell: Shell): Promise<Standing> {
  const open = await openCalls(session.id, shell);
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

/** Whatever is not finished has a timer, and those are few: a session's own are picked from them. */
async function openCalls(session: SessionId, shell: Shell): Promise<Pick<Against, 'pending' | 'granted' | 'underWay'>> {
  const { limits, ports } = shell;
  const { store, clock } = ports;
  const nowMs = clock.nowMs();
  const found = { pending: [] as string[], granted: [] as string[], underWay: [] as CallId[] };
  for (let after = ''; ;) {
    const page = await store.unfinished(after, limits.sweepBatch);
    for (const call of page) {
      if (call.session !== session) continue;
      if (isUnderWay(call.state)) found.underWay.push(call.id);
      if (call.state !== 'AWAITING_APPROVAL') continue;
      const approval = await store.approvalOfCall(call.id);
      const state = approval === null ? null : stateAt(approval, nowMs);
      if (approval === null || (state !== 'pending' && state !== 'granted')) continue;
      // What the rules have made void holds nobody up, and its call waits no longer.
      if (await isBoundNow(approval, shell)) found[state].push(approval.id);
      else await lapse(approval, shell);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < limits.sweepBatch) return found;
    after = last.id;
  }
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
