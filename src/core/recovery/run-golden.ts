/**
 * Runs a golden: the real dispatcher and the real lifecycle of a call, with a script in place of the upstream and a
 * clock that only moves by what the script says. Pure.
 */
import type { Call, CallId, IncarnationId } from '../call/call.ts';
import { advance, mayResend } from '../call/lifecycle.ts';
import { defaultLimits } from '../limits.ts';
import type { DispatchOutcome, Effect, Verdict } from '../taxonomy.ts';
import { invariant } from '../values/unreachable.ts';
import { classify, withCode } from './classify.ts';
import { type Dispatch, dispatchOf } from './dispatch.ts';
import { doubtTicket, type DispatchRecord, recordOfTicket, recordsOfDispatch } from './dispatch-records.ts';
import { type FailedItem, failedItem, planItems, worstOf } from '../partial/plan-items.ts';
import type { Golden, GoldenEvent, GoldenFailure, GoldenItems, GoldenResult, GoldenRun } from './golden.ts';
import {
  type History,
  nothingTried,
  plan,
  mayRefreshCredential,
  noToken,
  planAfterCredential,
  planAfterProof,
  planAfterRefresh,
  type Plan,
  type PlanFacts,
  type ReversalNow,
  remember,
  type Trouble,
} from './plan.ts';
import { overlay, type ToolRecovery } from './playbook.ts';

const owner = 'inc_golden' as IncarnationId;

/** What one golden is run with: the playbook of the tool, with the golden's own entries laid over it. */
export function recoveryForGolden(golden: Golden, effective: ToolRecovery): ToolRecovery {
  const playbook = overlay(effective.playbook, golden.playbook);
  return { ...effective, playbook, retry: golden.retry ?? effective.retry };
}

interface Standing {
  readonly call: Call;
  readonly history: History;
  readonly nowMs: number;
}

export function runGolden(golden: Golden, effective: ToolRecovery): GoldenRun {
  const recovery = recoveryForGolden(golden, effective);
  const events: GoldenEvent[] = [];
  let outcome: DispatchOutcome | null = null;
  let failures = 0;
  let standing: Standing = { call: firstSend(golden), history: nothingTried, nowMs: golden.clockMs };
  const tell = (records: readonly DispatchRecord[]) =>
    void events.push(...records.map(({ kind, body }) => ({ kind, fields: body })));
  const ended = (call: Call, isShort = false): GoldenRun => {
    // A doubt that a probe may still end needs nobody yet.
    const isOpen = call.state === 'IN_DOUBT' && golden.probe === null && !events.some(isTicket);
    if (isOpen) tell([recordOfTicket(call, doubtTicket)]);
    return { events, outcome, sends: call.attempt, state: call.state, effect: effectIn(call), isShort };
  };
  for (;;) {
    const { call, history } = standing;
    const result = golden.results[call.attempt - 1];
    if (result === undefined) return ended(call, true);
    const nowMs = standing.nowMs + result.tookMs;
    const failed = failedIn(result, call);
    const failure = result.failure ?? failureOfAll(failed, result.items, call);
    const chance = golden.chance[failures] ?? golden.chance.at(-1) ?? 0.5;
    if (failure === null) {
      const again = sendItemsAgain({ call, history, nowMs }, failed, chance, golden, recovery);
      if (again !== null) {
        failures += 1;
        tell(again.records);
        if (again.next.call.state !== 'DISPATCHED') return ended(again.next.call);
        standing = again.next;
        continue;
      }
      if (call.attempt > 1) {
        tell(recordsOfDispatch({ kind: 'recovered' }, call, null));
        outcome = { kind: 'succeeded_after_compensation', result: null };
      }
      return ended(advance(call, { kind: 'returned', attempt: call.attempt })[0]);
    }
    const trouble = troubleOf(call, failure);
    failures += 1;
    const { budgetLeft } = failure;
    const standingNow = { call, history, nowMs };
    const facts: PlanFacts = { ...factsOf(golden, recovery, standingNow, { budgetLeft, chance }), trouble };
    const { planned, dispatch } = dispatched(facts, golden);
    tell(recordsOfDispatch(dispatch, call, null));
    if (dispatch.ticket !== null) tell([recordOfTicket(call, dispatch.ticket)]);
    if (planned.kind !== 'retry') {
      outcome = dispatch.then.kind === 'settled' ? dispatch.then.outcome : null;
      return ended(
        advance(call, { kind: 'failed', attempt: call.attempt, effect: proven(planned, trouble, golden) })[0],
      );
    }
    const next = sendAgain(call, trouble.effect, planned.atMs, golden);
    if (next.state !== 'DISPATCHED') return ended(next);
    events.push({ kind: 'attempt_started', fields: { attempt: next.attempt } });
    standing = { call: next, history: remember(history, trouble, planned), nowMs: planned.atMs };
  }
}

const isTicket = ({ kind }: GoldenEvent): boolean => kind === 'ticket_opened';

function firstSend({ call: { tool, effect, deadlineMs }, clockMs }: Golden): Call {
  const asked: Call = {
    id: 'call_golden' as CallId,
    tenant: 'default',
    agent: 'agent',
    session: null,
    turn: null,
    tool,
    key: null,
    fingerprint: '',
    effectClass: effect,
    state: '(none)',
    attempt: 0,
    owner: null,
    tainted: false,
    createdAtMs: clockMs,
    deadlineAtMs: clockMs + deadlineMs,
    dueAtMs: null,
  };
  const [prepared] = advance(asked, { kind: 'admitted' });
  return claim(prepared);
}

const claim = (call: Call): Call => advance(call, { kind: 'claimed', owner, leaseUntilMs: call.deadlineAtMs })[0];

/** INVARIANT: as in the shell: nothing is sent past the deadline, nor a write of unknown effect outside its window. */
function sendAgain(call: Call, effect: Effect, atMs: number, golden: Golden, keeps = false): Call {
  const { dedupeWindowMs } = golden.call;
  const kept = keeps ? ({ keeps: true } as const) : {};
  const [waiting] = advance(call, { kind: 'retry_planned', attempt: call.attempt, effect, atMs, ...kept });
  if (waiting.state !== 'RETRY_WAIT') return waiting;
  const isLate = atMs >= waiting.deadlineAtMs || (waiting.tainted && !mayResend(waiting, atMs, dedupeWindowMs));
  return isLate ? advance(waiting, { kind: 'expired' })[0] : claim(waiting);
}

function troubleOf({ effectClass }: Call, { error, effect, code }: GoldenFailure): Trouble {
  const classification = withCode(classify(error.kind, error.subject, effectClass), code);
  return { error, classification, effect: effect ?? classification.effect };
}

function factsOf(
  { call: { dedupeWindowMs } }: Golden,
  recovery: ToolRecovery,
  standing: Standing,
  luck: Pick<PlanFacts, 'budgetLeft' | 'chance'>,
): Omit<PlanFacts, 'trouble'> {
  const { maxRetryAfterMs } = defaultLimits;
  return { ...standing, recovery, dedupeWindowMs, maxRetryAfterMs, ...luck };
}

function dispatched(
  facts: PlanFacts,
  golden: Golden,
): { readonly planned: Plan; readonly dispatch: Dispatch & { kind: 'failed' } } {
  const first = plan(facts);
  const evidence = first.kind === 'refresh' ? golden.evidence : null;
  const credential = mayRefreshCredential(facts) ? golden.credential : null;
  const refreshed = planAfterCredential(planAfterRefresh(first, facts, evidence), facts, credential);
  const reversal = refreshed.kind === 'reverse' ? reversalIn(golden, facts.trouble) : null;
  const planned = planAfterProof(refreshed, reversal);
  const dispatch = dispatchOf(facts, planned, { evidence, credential, reversal });
  invariant(dispatch.kind === 'failed', 'a failure was planned');
  return { planned, dispatch };
}

const failedIn = ({ items }: GoldenResult, { effectClass }: Call): readonly FailedItem[] =>
  (items?.failed ?? []).map((item, at) => failedItem(item, at, item.item, effectClass));

/** As in the shell: if every item failed, the call did. */
function failureOfAll(failed: readonly FailedItem[], items: GoldenItems | undefined, call: Call): GoldenFailure | null {
  const worst = worstOf(failed);
  if (worst === undefined || call.kept === true || failed.length < (items?.of ?? Infinity)) return null;
  return { error: worst.trouble.error, effect: worst.trouble.effect, code: null, budgetLeft: true };
}

/** Null if no failed item is sent again. */
function sendItemsAgain(
  standing: Standing,
  failed: readonly FailedItem[],
  chance: number,
  golden: Golden,
  recovery: ToolRecovery,
): { readonly records: readonly DispatchRecord[]; readonly next: Standing } | null {
  const { call, history } = standing;
  const facts = factsOf(golden, recovery, standing, { budgetLeft: true, chance });
  const chosen = planItems(facts, failed, golden.items);
  if (chosen === null) return null;
  const { planned, trouble } = chosen;
  const dispatch = dispatchOf({ ...facts, trouble }, planned, { evidence: null, credential: null, reversal: null });
  const next = sendAgain(call, trouble.effect, planned.atMs, golden, true);
  const started: DispatchRecord = { kind: 'attempt_started', body: { attempt: next.attempt }, payloads: [] };
  const records = recordsOfDispatch(dispatch, call, null);
  return {
    records: next.state === 'DISPATCHED' ? [...records, started] : records,
    next: { call: next, history: remember(history, trouble, planned), nowMs: planned.atMs },
  };
}

/** A golden whose probe has an answer is of a tool that can be undone. */
function reversalIn({ probe }: Golden, { effect }: Trouble): ReversalNow {
  return probe === 'happened' || effect === 'applied' ? 'proven' : noToken;
}

/** Only the declared read proves that a key that the upstream knows stands for an effect. */
function proven(planned: Plan, trouble: Trouble, { probe }: Golden): Effect {
  if (planned.kind === 'reversed') return 'applied';
  return planned.kind === 'deprecated' && planned.probe && probe === 'happened' ? 'applied' : trouble.effect;
}

/** As replies tell it. */
function effectIn({ state }: Call): Effect {
  if (state === 'SUCCEEDED') return 'applied';
  return state === 'FAILED' || state === 'CANCELLED' || state === 'EXPIRED' ? 'none' : 'unknown';
}

/** The verdicts that come up in a run. */
export const verdictsIn = ({ events }: GoldenRun): readonly Verdict[] =>
  events.flatMap(({ kind, fields }) => (kind === 'failure_classified' ? [fields['verdict'] as Verdict] : []));
