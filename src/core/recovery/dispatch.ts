/**
 * What the dispatcher made of one attempt: what it found, what it chose, and what comes next. Records and replies are
 * made of it. Pure data, with the pure functions that write it.
 */
import type { DispatchView } from '../call/answer.ts';
import type { Compensation, DispatchOutcome, Verdict } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';
import {
  type CredentialNow,
  type EvidenceNow,
  noToken,
  type Plan,
  type PlanFacts,
  type ReversalNow,
  type Trouble,
} from './plan.ts';
import { ticketIdOf, type TicketReason } from './ticket.ts';

export type Dispatch =
  /** An attempt failed. */
  | {
      readonly kind: 'failed';
      readonly trouble: Trouble;
      /** The verdict of the attempt before, if it was another. */
      readonly changedFrom: Verdict | null;
      readonly action: Compensation;
      readonly facts: FactsOnRecord;
      readonly then: Scheduled | Settled;
      /** What a person must look at; null if nobody must. */
      readonly ticket: OpenedTicket | null;
    }
  /** An attempt succeeded after others had failed. */
  | { readonly kind: 'recovered' };

export interface Scheduled {
  readonly kind: 'scheduled';
  readonly atMs: number;
  readonly pauseMs: number;
  /** What made it possible, where it is no retry of the playbook. */
  readonly why?: string;
}

export interface Settled {
  readonly kind: 'settled';
  readonly outcome: DispatchOutcome;
  /** Why it ended like this, where the outcome does not tell. */
  readonly why: string | null;
}

export interface OpenedTicket {
  readonly reason: TicketReason;
  readonly queue: string;
}

/** What the plan was made of beside the failure and the playbook. Recorded, so that it can be made again. */
export interface FactsOnRecord {
  readonly now_ms: number;
  readonly chance: number;
  readonly budget_left: boolean;
  readonly max_retry_after_ms: number;
  readonly dedupe_window_ms: number | null;
  /** An earlier attempt may have taken effect. */
  readonly tainted: boolean;
  readonly evidence: EvidenceNow;
  /** Absent if no secret was refreshed. */
  readonly credential?: CredentialNow;
  /** Absent if nothing was to be undone. */
  readonly reversal?: ReversalNow;
}

/** What was found out for the plan, after the failure. */
export interface Refreshed {
  readonly evidence: EvidenceNow;
  readonly credential: CredentialNow;
  readonly reversal: ReversalNow;
}

function factsOnRecord(facts: PlanFacts, { evidence, credential, reversal }: Refreshed): FactsOnRecord {
  return {
    ...(reversal === null ? {} : { reversal }),
    ...(credential === null ? {} : { credential }),
    now_ms: facts.nowMs,
    chance: facts.chance,
    budget_left: facts.budgetLeft,
    max_retry_after_ms: facts.maxRetryAfterMs,
    dedupe_window_ms: facts.dedupeWindowMs,
    tainted: facts.call.tainted,
    evidence,
  };
}

/** Tickets about shapes and refused reversals, which no compensation names. */
const adapterQueue = 'adapters';
const reversalQueue = 'reversals';

/** Writes down what follows from a plan. */
export function dispatchOf(planning: PlanFacts, planned: Plan, refreshed: Refreshed): Dispatch {
  const { call, trouble, history } = planning;
  const { verdict } = trouble.classification;
  const changedFrom = history.last === null || history.last === verdict ? null : history.last;
  const found = {
    kind: 'failed',
    trouble,
    changedFrom,
    action: planned.action,
    facts: factsOnRecord(planning, refreshed),
  } as const;
  const settled = (outcome: DispatchOutcome, why: string | null = null): Settled => ({ kind: 'settled', outcome, why });
  const exhausted: DispatchOutcome = {
    kind: 'exhausted',
    final_error: trouble.error,
    first_error: history.first ?? trouble.error,
    attempts: call.attempt,
  };
  switch (planned.kind) {
    case 'retry':
      return { ...found, then: scheduledBy(planned), ticket: null };
    case 'exhausted':
      return { ...found, then: settled(exhausted, planned.why), ticket: null };
    case 'deprecated': {
      const ticket =
        verdict === 'schema_mismatch' ? ({ reason: 'schema_mismatch', queue: adapterQueue } as const) : null;
      return { ...found, then: settled({ kind: 'deprecated', reason: planned.reason, replan: true }), ticket };
    }
    case 'escalated': {
      const reason = reasonFor(trouble);
      const { queue } = planned;
      const outcome = { kind: 'escalated', queue, ticket_id: ticketIdOf(call.id, reason) } as const;
      return { ...found, then: settled(outcome), ticket: { reason, queue } };
    }
    case 'refresh': {
      const reason = whyStale(planned.then, refreshed.evidence);
      return { ...found, then: settled({ kind: 'deprecated', reason, replan: true }), ticket: null };
    }
    case 'reversed':
      return { ...found, then: settled({ kind: 'reversed', reason: planned.reason }), ticket: null };
    // Nobody has looked whether it took effect: then nothing is undone.
    case 'reverse':
    case 'reversal_refused': {
      const ticket = { reason: 'reversal_refused', queue: reversalQueue } as const;
      const why = planned.kind === 'reverse' ? noToken : planned.why;
      return { ...found, then: settled(exhausted, why), ticket };
    }
    default:
      return unreachable(planned);
  }
}

function scheduledBy({ atMs, pauseMs, why }: Extract<Plan, { kind: 'retry' }>): Scheduled {
  return { kind: 'scheduled', atMs, pauseMs, ...(why === undefined ? {} : { why }) };
}

const refreshAborts = 'refresh_evidence requested abort';
const refreshesUsedUp = 'the session has used up its refreshes of evidence: read it again yourself';
const evidenceChanged = 'the evidence has changed: read it again';

function whyStale(then: 'retry' | 'abort', evidence: EvidenceNow): string {
  if (then === 'abort') return refreshAborts;
  return evidence === 'limit' ? refreshesUsedUp : evidenceChanged;
}

function reasonFor({ classification: { verdict, recognised, detail } }: Trouble): TicketReason {
  if (!recognised) return 'unrecognised_failure';
  if (detail === 'mismatch') return 'idempotency_mismatch';
  if (verdict === 'policy_denied' || verdict === 'auth_expired' || verdict === 'schema_mismatch') return verdict;
  return 'playbook';
}

/** What the reply tells; null without a failure. */
export function viewOf(dispatch: Dispatch | undefined, attempts: number): DispatchView | null {
  if (dispatch === undefined) return null;
  if (dispatch.kind === 'recovered') return { attempts, compensation: null, outcome: null };
  const outcome = dispatch.then.kind === 'settled' ? dispatch.then.outcome : null;
  return { attempts, compensation: dispatch.action, outcome };
}
