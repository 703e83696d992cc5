/**
 * Finds what would come out otherwise under a proposed change: of the calls that feedback is about, of the last calls
 * that failed, of the goldens, and of what the rules said. Reads the store, and sends nothing.
 */
import {
  brokenGoldens,
  type ComparedCall,
  type ComparedGolden,
  compareCall,
  isChanged,
} from '../../core/improvement/compare.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { type CaseTool, type PolicyCase, testPolicy } from '../../core/policy/test-policy.ts';
import type { Golden } from '../../core/recovery/golden.ts';
import type { ToolRecovery } from '../../core/recovery/playbook.ts';
import { recordGolden } from '../../core/recovery/record-golden.ts';
import type { Json } from '../../core/values/json.ts';
import type { StoredCall, StoreReader } from '../../ports/store.ts';
import { playbooksIn } from '../look/playbooks-in.ts';

/** What the gateway would work with. */
export interface Candidate {
  /** The canonical text of the playbook, by which releases know it. */
  readonly playbook: string;
  readonly recoveryNow: (tool: string) => ToolRecovery;
  readonly recoveryThen: (tool: string) => ToolRecovery;
  readonly goldens: readonly Golden[];
  /** Null if the change says nothing about policy. */
  readonly policy: {
    readonly text: string;
    readonly now: Policy | null;
    readonly then: Policy;
    readonly toolNamed: (name: string) => CaseTool;
  } | null;
}

export interface JudgedCall {
  readonly call_id: string;
  readonly agent: string;
  readonly tool: string;
  readonly was: string;
  readonly then: string;
  /** `file:line` of what would decide. */
  readonly by: string;
}

export interface ChangeReport {
  /** The calls that feedback is about, whether or not something changes. */
  readonly about: readonly ComparedCall[];
  /** Other calls that would come out otherwise, and how many were replayed. */
  readonly changed: readonly ComparedCall[];
  readonly replayed: number;
  /** Calls that cannot be replayed, each with the reason. */
  readonly skipped: readonly { readonly call_id: string; readonly reason: string }[];
  /** Goldens that hold today and would not then, of how many. */
  readonly broken: readonly ComparedGolden[];
  readonly goldens: number;
  /** Calls about which the rules would say otherwise, of how many; null if policy stays. */
  readonly judged: { readonly calls: number; readonly changed: readonly JudgedCall[] } | null;
}

/** How many calls are looked at, the newest first, and how many failures of them are replayed. */
const maxLookedAt = 2_000;
const maxReplayed = 200;

type Store = Pick<StoreReader, 'call' | 'args' | 'recordsOf' | 'blob' | 'listCalls'>;

export async function replayChange(
  { tenant, feedback }: { readonly tenant: string; readonly feedback: readonly StoredCall[] },
  candidate: Candidate,
  store: Store,
): Promise<ChangeReport> {
  const newest = await store.listCalls({ tenant, limit: maxLookedAt });
  const ids = new Set(feedback.map(({ id }) => id));
  const others = newest.filter((call) => hasFailed(call) && !ids.has(call.id)).slice(0, maxReplayed);
  const about: ComparedCall[] = [];
  const changed: ComparedCall[] = [];
  const skipped: { call_id: string; reason: string }[] = [];
  for (const call of [...feedback, ...others]) {
    const compared = await replayOne(call, candidate, store);
    if (typeof compared === 'string') skipped.push({ call_id: call.id, reason: compared });
    else if (ids.has(call.id)) about.push(compared);
    else if (isChanged(compared)) changed.push(compared);
  }
  const { goldens, recoveryNow, recoveryThen } = candidate;
  return {
    about,
    changed,
    replayed: feedback.length + others.length - skipped.length,
    skipped: skipped.slice(0, maxReplayed),
    broken: brokenGoldens(goldens, recoveryNow, recoveryThen),
    goldens: goldens.length,
    judged: await judgeCalls(
      [...feedback, ...newest.filter(({ id }) => !ids.has(id)).slice(0, maxReplayed)],
      candidate,
      store,
    ),
  };
}

/** Only calls that have ended are replayed. */
const hasFailed = ({ state, attempt }: StoredCall): boolean =>
  state === 'FAILED' || state === 'IN_DOUBT' || state === 'CLOSED_UNKNOWN' || (state === 'SUCCEEDED' && attempt > 1);

async function replayOne(call: StoredCall, candidate: Candidate, store: Store): Promise<ComparedCall | string> {
  const records = await store.recordsOf(call.id);
  const playbooks = await playbooksIn(records, (hash) => store.blob(hash));
  const recorded = recordGolden(call, await argsOf(call, store), records, playbooks);
  return recorded.ok ? compareCall(recorded, call.id, candidate.recoveryThen(call.tool)) : recorded.problem;
}

async function judgeCalls(
  calls: readonly StoredCall[],
  { policy }: Candidate,
  store: Store,
): Promise<ChangeReport['judged']> {
  if (policy === null) return null;
  const { now, then, toolNamed } = policy;
  const cases = await Promise.all(calls.map(async (call) => caseOf(call, await argsOf(call, store))));
  const decisions = testPolicy(then, cases, toolNamed).results;
  const before = now === null ? null : testPolicy(now, cases, toolNamed).results;
  const changed = decisions.flatMap(({ decision }, at): readonly JudgedCall[] => {
    const call = calls[at];
    // Without a policy everything was permitted.
    const was = before === null ? 'permit' : before[at]?.decision.effect;
    if (call === undefined || was === undefined || was === decision.effect) return [];
    const { id, agent, tool } = call;
    return [{ call_id: id, agent, tool, was, then: decision.effect, by: decision.ref }];
  });
  return { calls: calls.length, changed };
}

/** As it is on record: outside a workflow, with what was masked still masked. */
const caseOf = ({ id, agent, tool, createdAtMs }: StoredCall, args: Json): PolicyCase => ({
  name: id,
  ref: id,
  agent,
  tool,
  args,
  model: null,
  session: { seq: 0, workflow: null },
  state: null,
  nowMs: createdAtMs,
  expect: 'permit',
  code: null,
  rule: null,
});

async function argsOf({ id }: StoredCall, store: Store): Promise<Json> {
  const stored = await store.args(id);
  return stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : {};
}
