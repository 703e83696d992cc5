/**
 * Decides what follows an attempt: settle the call, or send it again later. Asks the pure dispatcher, and the read that
 * tells whether a key that the upstream knows stands for an effect.
 */
import type { Call } from '../../core/call/call.ts';
import type { ChangedEvidence } from '../../core/call/reply.ts';
import { type Dispatch, dispatchOf } from '../../core/recovery/dispatch.ts';
import { readHistory } from '../../core/recovery/read-history.ts';
import {
  type EvidenceNow,
  type History,
  isRefreshed,
  mayRefreshCredential,
  nothingTried,
  plan,
  noToken,
  planAfterCredential,
  planAfterProof,
  planAfterRefresh,
  type Plan,
  type PlanFacts,
  remember,
  type Trouble,
} from '../../core/recovery/plan.ts';
import { planItems } from '../../core/partial/plan-items.ts';
import { refreshCredentials } from '../call/fetch-credentials.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { readEvidenceAgain } from '../evidence/read-evidence.ts';
import { recoveryOf, type Shell } from '../shell.ts';
import { makeFailure } from '../../ports/upstream.ts';
import { type Interpreted, interpretFailure } from './interpret-result.ts';
import { probe } from './probe.ts';
import { hasRetryToken, noteAttempt, noteRetry } from './upstream-health.ts';
import type { Work } from './work.ts';

export type NextMove =
  | { readonly kind: 'settle'; readonly ended: Interpreted }
  | {
      readonly kind: 'retry';
      readonly ended: Interpreted;
      readonly atMs: number;
      readonly pauseMs: number;
      readonly history: History;
    };

/** `known`: what this process has tried before; null if it does not know. */
export async function nextMove(
  call: Call,
  ended: Interpreted,
  known: History | null,
  work: Work,
  shell: Shell,
): Promise<NextMove> {
  return leavesFor(call, ended, work, shell) ?? afterEnd(call, ended, known, work, shell);
}

async function afterEnd(
  call: Call,
  ended: Interpreted,
  known: History | null,
  work: Work,
  shell: Shell,
): Promise<NextMove> {
  const recovery = recoveryOf(work.tool, shell);
  const { trouble } = ended;
  if (trouble === undefined) {
    if (ended.result === undefined) return { kind: 'settle', ended };
    noteAttempt(recovery, null, shell);
    const again = await itemsAgain(call, ended, known, work, shell);
    if (again !== null) return again;
    return { kind: 'settle', ended: call.attempt > 1 ? { ...ended, dispatch: { kind: 'recovered' } } : ended };
  }
  noteAttempt(recovery, trouble, shell);
  if (isOwnWord(trouble, call, work)) return { kind: 'settle', ended };
  const history = known ?? (await historyOf(call, shell));
  const facts: PlanFacts = { ...factsFor(call, history, work, shell), trouble };
  const first = plan(facts);
  const { evidence, changes } = await evidenceNow(first, history, call, work, shell);
  const credential = mayRefreshCredential(facts) ? await refreshCredentials(ended.credentials ?? [], shell) : null;
  const refreshed = planAfterCredential(planAfterRefresh(first, facts, evidence), facts, credential);
  const proof = refreshed.kind === 'reverse' ? await proveEffect(call, trouble, work, shell) : null;
  const reversal = proof === null ? null : (proof.why ?? 'proven');
  const planned = planAfterProof(refreshed, reversal);
  const dispatch = dispatchOf(facts, planned, { evidence, credential, reversal });
  if (planned.kind === 'reversed')
    return { kind: 'settle', ended: undone({ ...ended, dispatch }, planned.reason, proof?.result, call) };
  if (planned.kind !== 'retry')
    return {
      kind: 'settle',
      ended: await proven({ ...telling(ended, changes), dispatch }, planned, call, work, shell),
    };
  noteRetry(recovery, trouble.classification.verdict === 'rate_limited', shell);
  const { atMs, pauseMs } = planned;
  return { kind: 'retry', ended: { ...ended, dispatch }, atMs, pauseMs, history: remember(history, trouble, planned) };
}

const interruptedMs = 1_000;

/**
 * INVARIANT: a stage that the closing gateway stops, or whose phase the store could not record, is in no doubt: it goes
 * on, at the next start or in a moment.
 */
function leavesFor(call: Call, ended: Interpreted, { tool }: Work, shell: Shell): NextMove | null {
  if (tool.isStage !== true) return null;
  const { draining } = shell.live;
  if (ended.stage?.leaves !== true && !(draining && ended.event.kind === 'cancelled')) return null;
  const failure = makeFailure('unknown', 'the stage was interrupted, and goes on', { effect: 'unknown' });
  const left = interpretFailure(call, failure, shell.limits);
  const pauseMs = draining ? 0 : interruptedMs;
  return { kind: 'retry', ended: left, atMs: shell.ports.clock.nowMs() + pauseMs, pauseMs, history: nothingTried };
}

/** Sends the failed items of a partial result again, if that is declared; the others are kept. */
async function itemsAgain(
  call: Call,
  ended: Interpreted,
  known: History | null,
  work: Work,
  shell: Shell,
): Promise<Extract<NextMove, { kind: 'retry' }> | null> {
  const { items } = ended;
  const { partial } = recoveryOf(work.tool, shell);
  // The result of a step moves its workflow, once: it is told as it came.
  if (items === undefined || partial === undefined || work.step !== null) return null;
  const history = known ?? (await historyOf(call, shell));
  const chosen = planItems(factsFor(call, history, work, shell), items.failed, partial);
  const kept = chosen === null ? null : items.keepFor(chosen.again);
  if (chosen === null || kept === null) return null;
  const { planned, trouble } = chosen;
  const facts = { ...factsFor(call, history, work, shell), trouble };
  const dispatch = dispatchOf(facts, planned, { evidence: null, credential: null, reversal: null });
  noteRetry(recoveryOf(work.tool, shell), trouble.classification.verdict === 'rate_limited', shell);
  const { atMs, pauseMs } = planned;
  return {
    kind: 'retry',
    ended: { ...ended, trouble, dispatch, kept },
    atMs,
    pauseMs,
    history: remember(history, trouble, planned),
  };
}

const historyOf = async ({ id, attempt }: Call, { ports }: Shell): Promise<History> =>
  attempt > 1 ? readHistory(await ports.store.recordsOf(id)) : nothingTried;

/**
 * What is told to the agent and not dispatched. The body of a step ends as its author wrote it, and its action stays
 * legal; a timed-out one may still run beside a second. A tool's own words (a throw, an error answer) that prove that
 * nothing happened need nobody either, unless they end a row of retries.
 */
const isOwnWord = ({ error, effect }: Trouble, { attempt }: Call, { step, tool }: Work): boolean =>
  step?.workflow.actions.get(tool.name)?.boundTool === null ||
  (error.kind === 'threw' && effect === 'none' && attempt === 1);

function factsFor(call: Call, history: History, work: Work, shell: Shell): Omit<PlanFacts, 'trouble'> {
  const recovery = recoveryOf(work.tool, shell);
  return {
    call,
    history,
    recovery,
    dedupeWindowMs: work.tool.dedupeWindowMs,
    nowMs: shell.ports.clock.nowMs(),
    chance: shell.ports.ids.chance(),
    maxRetryAfterMs: shell.limits.maxRetryAfterMs,
    budgetLeft: hasRetryToken(recovery, shell),
  };
}

/** To be undone: settled as applied, with the order to undo it in the same commit. */
function undone(ended: Interpreted, reason: string, result: Json | undefined, { attempt }: Call): Interpreted {
  return {
    ...ended,
    event: { kind: 'failed', attempt, effect: 'applied' },
    reverse: { by: 'playbook', reason },
    payloads: [...ended.payloads, { part: 'result', text: canonicalText(result ?? null) }],
  };
}

interface Proof {
  /** Null if it is proven that the call took effect. */
  readonly why: string | null;
  readonly result?: Json;
}

/** INVARIANT: only a call that is proven to have taken effect is undone, and only by the token that it was issued. */
async function proveEffect(call: Call, { effect }: Trouble, work: Work, shell: Shell): Promise<Proof> {
  if (work.undoing?.token === undefined) return { why: noToken };
  if (work.step !== null) return { why: 'a step of a workflow is undone by rolling its session back' };
  if (effect === 'applied') return { why: null };
  if (effect === 'none' && !call.tainted) return { why: 'the call took no effect, so there is nothing to undo' };
  const found = await probe(call, work.args, recoveryOf(work.tool, shell), shell);
  if (found.kind === 'happened') return { why: null, result: found.result };
  return { why: `it is not proven that the call took effect: ${found.kind === 'unclear' ? found.reason : notFound}` };
}

const notFound = 'the read does not find it';

/** Reads stale evidence again, once for a call. */
async function evidenceNow(
  planned: Plan,
  history: History,
  { session }: Call,
  { evidence }: Work,
  shell: Shell,
): Promise<Refreshed> {
  if (planned.kind !== 'refresh' || planned.then === 'abort' || isRefreshed(history))
    return { evidence: null, changes: [] };
  if (!mayRefresh(session, shell)) return { evidence: 'limit', changes: [] };
  const now = evidence === undefined ? null : await readEvidenceAgain(evidence, shell);
  const changes = now?.kind === 'read' ? now.changes : [];
  return { evidence: now?.kind === 'read' && now.hash === evidence?.hash ? 'same' : 'changed', changes };
}

interface Refreshed {
  readonly evidence: EvidenceNow;
  readonly changes: readonly ChangedEvidence[];
}

/** Sessions whose refreshes are counted; beyond, counting begins anew. */
const maxCounted = 10_000;

/** Counts the refreshes of a session in this process: a tool that always calls its evidence stale is not read for ever. */
function mayRefresh(session: Call['session'], { live, limits }: Shell): boolean {
  if (session === null) return true;
  if (live.refreshes.size >= maxCounted && !live.refreshes.has(session)) live.refreshes.clear();
  const count = live.refreshes.get(session) ?? 0;
  if (count >= limits.maxEvidenceRefreshes) return false;
  live.refreshes.set(session, count + 1);
  return true;
}

/** The agent hears what its evidence says now, so that it can plan anew. */
function telling(ended: Interpreted, changes: readonly ChangedEvidence[]): Interpreted {
  if (changes.length === 0) return ended;
  const say: Interpreted['say'] = (envelope, effect) => {
    const told = ended.say(envelope, effect);
    return 'error' in told && told.error === 'action_error' ? { ...told, evidence: changes } : told;
  };
  return { ...ended, say };
}

/**
 * INVARIANT: outside workflows only; a step that took effect unseen is put in doubt, so that the next equal step adopts
 * its result instead of doing it again.
 */
async function proven(
  ended: Interpreted & { readonly dispatch: Dispatch },
  planned: Plan,
  call: Call,
  work: Work,
  shell: Shell,
): Promise<Interpreted> {
  if (planned.kind !== 'deprecated' || !planned.probe || work.step !== null) return ended;
  const found = await probe(call, work.args, recoveryOf(work.tool, shell), shell);
  if (found.kind !== 'happened') return ended;
  return { ...ended, event: { kind: 'failed', attempt: call.attempt, effect: 'applied' } };
}
