/**
 * Reads from the journal how often each rule of the policy in force has decided. What was read once is kept in memory,
 * so that a later look reads only what came since. Must not write.
 */
import type { CallId } from '../../core/call/call.ts';
import type { Position } from '../../core/journal/record.ts';
import { type Coverage, type CoverageView, countDecision, emptyCoverage } from '../../core/policy/look/coverage.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { StoredDecision } from '../../ports/store.ts';
import { heard } from '../call/requester.ts';
import type { Live, Shell } from '../shell.ts';
import { policyHash } from '../upkeep/record-runtime.ts';
import { readBody } from './history.ts';

/** How many decisions a first look goes back at most, and how many it reads at once. */
const maxDecisions = 50_000;
const pageSize = 500;
/** Refusals whose later repeats are counted. The oldest is forgotten first. */
const maxRepeated = 10_000;

interface Kept {
  readonly policy: Policy;
  readonly tenants: Map<string, Coverage>;
  readonly repeated: Map<CallId, Counted>;
  newest: Position | null;
  oldestMs: number | null;
  newestMs: number | null;
  complete: boolean;
  turn: Promise<void>;
}

/** A refusal that was counted so many times. */
interface Counted {
  readonly decision: StoredDecision;
  times: number;
}

/** Lost with the process: then it is read again. */
const keptOf = new WeakMap<Live, Kept>();

export async function policyCoverage(tenant: string, shell: Shell): Promise<CoverageView> {
  const policy = shell.policy();
  if (policy === null) return noPolicy;
  const known = keptOf.get(shell.live);
  // Rules may have moved to other lines without being another policy.
  const kept = known?.policy === policy ? known : startAgain(policy);
  keptOf.set(shell.live, kept);
  const mine = kept.turn.then(() => readOn(kept, shell));
  // What was counted in part is forgotten. Whoever asked hears the error; the next one reads everything again.
  kept.turn = mine.catch(() => void keptOf.delete(shell.live));
  await mine;
  const { rules, other, elsewhere } = kept.tenants.get(tenant) ?? emptyCoverage(policy.written);
  const decided = rules.reduce(
    (sum, { ran, denied, deferred, softened }) => sum + ran + denied + deferred + softened,
    0,
  );
  return {
    policy: policyHash(policy, shell),
    since: time(kept.oldestMs),
    until: time(kept.newestMs),
    decisions: decided + other + elsewhere,
    complete: kept.complete,
    other,
    elsewhere,
    rules: rules.map(({ lastAtMs, ...rule }) => ({ ...rule, last_at: time(lastAtMs) })),
  };
}

const noPolicy: CoverageView = {
  policy: null,
  since: null,
  until: null,
  decisions: 0,
  complete: true,
  other: 0,
  elsewhere: 0,
  rules: [],
};

const startAgain = (policy: Policy): Kept => ({
  policy,
  tenants: new Map(),
  repeated: new Map(),
  newest: null,
  oldestMs: null,
  newestMs: null,
  complete: true,
  turn: Promise.resolve(),
});

/** From the newest back to what is known, or as far as a first look goes. */
async function readOn(kept: Kept, shell: Shell): Promise<void> {
  const known = kept.newest;
  let before: Position | null = null;
  for (let read = 0; ;) {
    const page = await shell.ports.store.decisions(before, pageSize);
    const fresh = known === null ? page : page.filter((each) => isLater(each, known));
    for (const decision of fresh) count(kept, decision, shell);
    read += page.length;
    before = page.at(-1) ?? null;
    if (page.length < pageSize || fresh.length < page.length) return;
    if (read >= maxDecisions) {
      kept.complete = false;
      return;
    }
    // Others get their turn between two pages.
    await heard();
  }
}

function count(kept: Kept, decision: StoredDecision, shell: Shell): void {
  const { kind, call, timeMs } = decision;
  if (kept.newest === null || isLater(decision, kept.newest)) kept.newest = decision;
  kept.newestMs = Math.max(kept.newestMs ?? timeMs, timeMs);
  kept.oldestMs = Math.min(kept.oldestMs ?? timeMs, timeMs);
  const earlier = kept.repeated.get(call);
  if (kind === 'refusals_repeated') {
    // One whose refusal is still to be read is counted there, with all its repeats.
    if (earlier === undefined) return;
    add(kept, earlier.decision, decision.repeats + 1 - earlier.times, shell);
    earlier.times = decision.repeats + 1;
    return;
  }
  const times = kind === 'refused' ? decision.repeats + 1 : 1;
  add(kept, decision, times, shell);
  if (kind === 'refused') remember(kept, { decision, times });
}

function remember({ repeated }: Kept, counted: Counted): void {
  const [oldest] = repeated.size < maxRepeated ? [] : repeated.keys();
  if (oldest !== undefined) repeated.delete(oldest);
  repeated.set(counted.decision.call, counted);
}

function add({ policy, tenants }: Kept, decision: StoredDecision, times: number, shell: Shell): void {
  const { kind, tenant, agent, timeMs, body } = decision;
  if (kind === 'refusals_repeated' || times <= 0) return;
  const coverage = tenants.get(tenant) ?? emptyCoverage(policy.written);
  tenants.set(tenant, coverage);
  countDecision(coverage, { kind, agent, atMs: timeMs, times, body: readBody(body) }, policyHash(policy, shell));
}

const isLater = (one: Position, other: Position): boolean =>
  one.epoch > other.epoch || (one.epoch === other.epoch && one.seq > other.seq);

const time = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString());
