/**
 * What stands against an agent that says it is done? Never looks at all calls of a session: at those that are open, and one success
 * of each name. What is open is gathered by open-calls.ts.
 */
import type { Approval } from '../../core/approval/approval.ts';
import type { CallId, Principal } from '../../core/call/call.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import type { Against, Undone } from '../../core/call/completion.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { CompletionCall } from '../../core/policy/policy.ts';
import { openCalls } from '../upkeep/open-calls.ts';
import { policyOf, type Shell } from '../shell.ts';

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
