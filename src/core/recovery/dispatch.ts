/**
 * What the dispatcher made of one attempt: what it found, what it chose, and what comes next. Records and replies are
 * made of it. Pure data, with the pure functions that write it.
 */
import type { DispatchView } from '../call/answer.ts';
import type { CallId } from '../call/call.ts';
import type { Compensation, DispatchOutcome, Verdict } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';
import type { History, Plan, Trouble } from './plan.ts';
import { ticketIdOf, type TicketReason } from './ticket.ts';

export type Dispatch =
  /** An attempt failed. */
  | {
      readonly kind: 'failed';
      readonly trouble: Trouble;
      /** The verdict of the attempt before, if it was another. */
      readonly changedFrom: Verdict | null;
      readonly action: Compensation;
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

/** Tickets about shapes and refused reversals, which no compensation names. */
const adapterQueue = 'adapters';
const reversalQueue = 'reversals';

/** Writes down what follows from a plan. */
export function dispatchOf(
  call: CallId,
  attempts: number,
  trouble: Trouble,
  history: History,
  planned: Plan,
): Dispatch {
  const { verdict } = trouble.classification;
  const changedFrom = history.last === null || history.last === verdict ? null : history.last;
  const found = { kind: 'failed', trouble, changedFrom, action: planned.action } as const;
  const settled = (outcome: DispatchOutcome, why: string | null = null): Settled => ({ kind: 'settled', outcome, why });
  const exhausted: DispatchOutcome = {
    kind: 'exhausted',
    final_error: trouble.error,
    first_error: history.first ?? trouble.error,
    attempts,
  };
  switch (planned.kind) {
    case 'retry':
      return { ...found, then: { kind: 'scheduled', atMs: planned.atMs, pauseMs: planned.pauseMs }, ticket: null };
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
      const outcome = { kind: 'escalated', queue, ticket_id: ticketIdOf(call, reason) } as const;
      return { ...found, then: settled(outcome), ticket: { reason, queue } };
    }
    case 'refresh':
      // It was read again, and says something else.
      return { ...found, then: settled({ kind: 'deprecated', reason: evidenceChanged, replan: true }), ticket: null };
    case 'reversal_refused': {
      const ticket = { reason: 'reversal_refused', queue: reversalQueue } as const;
      return { ...found, then: settled(exhausted, planned.why), ticket };
    }
    default:
      return unreachable(planned);
  }
}

const evidenceChanged = 'the evidence has changed: read it again';

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
