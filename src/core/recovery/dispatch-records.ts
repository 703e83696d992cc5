/**
 * The records of the dispatcher: what the journal says about a failed attempt and what follows. The shell writes them,
 * replay and goldens make them again. Pure.
 */
import type { Call } from '../call/call.ts';
import type { Payload, RecordKind } from '../journal/record.ts';
import type { DispatchOutcome } from '../taxonomy.ts';
import { canonicalText } from '../values/canonical.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { unreachable } from '../values/unreachable.ts';
import { classify } from './classify.ts';
import type { Dispatch, OpenedTicket } from './dispatch.ts';
import type { Trouble } from './plan.ts';
import { ticketIdOf } from './ticket.ts';

export interface DispatchRecord {
  readonly kind: RecordKind;
  readonly body: JsonObject;
  readonly payloads: readonly Payload[];
}

type Written = Pick<Call, 'id' | 'tool' | 'attempt' | 'effectClass'>;

/** In the order in which they are written. `playbook`: the hash of the one that decided; null if it has none. */
export function recordsOfDispatch(
  dispatch: Dispatch,
  call: Written,
  playbook: string | null,
): readonly DispatchRecord[] {
  const { attempt } = call;
  if (dispatch.kind === 'recovered')
    return [record('dispatch_settled', { outcome: 'succeeded_after_compensation', attempts: attempt })];
  const { trouble, changedFrom, action, then } = dispatch;
  const { kind, subject = null, retry_after: retryAfter = null } = trouble.error;
  const { verdict, recognised, detail, code, class: errorClass } = trouble.classification;
  const { effect } = trouble;
  const named = namedCode(trouble, call);
  const finished = { attempt, kind, subject, retry_after: retryAfter, effect, named };
  const facts = dispatch.facts as unknown as Json;
  return [
    record('attempt_finished', finished, [{ part: 'error', text: canonicalText(trouble.error) }]),
    record('failure_classified', { attempt, verdict, recognised, detail, class: errorClass, code, effect }),
    ...(changedFrom === null ? [] : [record('verdict_changed', { attempt, from: changedFrom, to: verdict })]),
    record('compensation_selected', { attempt, verdict, compensation: action as unknown as Json, facts, playbook }),
    then.kind === 'scheduled'
      ? record('attempt_scheduled', {
          attempt: attempt + 1,
          at_ms: then.atMs,
          pause_ms: then.pauseMs,
          ...(then.why === undefined ? {} : { why: then.why }),
        })
      : record('dispatch_settled', { ...outcomeOnRecord(then.outcome), attempts: attempt, why: then.why }),
    ...(action.kind === 'issue_reversal' ? [ofReversal(then)] : []),
  ];
}

/** That it was refused, or that its reversal is ordered with the commit that settles the call. */
function ofReversal(then: Extract<Dispatch, { kind: 'failed' }>['then']): DispatchRecord {
  if (then.kind === 'settled' && then.outcome.kind === 'reversed')
    return record('reversal_ordered', { reason: then.outcome.reason });
  return record('reversal_refused', { reason: then.kind === 'settled' ? then.why : null });
}

const record = (kind: RecordKind, body: JsonObject, payloads: readonly Payload[] = []): DispatchRecord => ({
  kind,
  body,
  payloads,
});

/** For a doubt that no probe can end. */
export const doubtTicket: OpenedTicket = { reason: 'in_doubt', queue: 'in_doubt' };

export function recordOfTicket(
  { id, tool }: Pick<Call, 'id' | 'tool'>,
  { reason, queue }: OpenedTicket,
): DispatchRecord {
  return record('ticket_opened', { ticket: ticketIdOf(id, reason), queue, reason, tool });
}

/** The code that the author gave the failure; null if it is the table's. */
function namedCode({ error, classification }: Trouble, { effectClass }: Written): string | null {
  const table = classify(error.kind, error.subject, effectClass);
  const isTables = table.code === classification.code && table.recognised === classification.recognised;
  return isTables ? null : classification.code;
}

/** Without the messages of errors, which are kept apart as payloads. */
function outcomeOnRecord(outcome: DispatchOutcome): JsonObject {
  switch (outcome.kind) {
    case 'deprecated':
    case 'reversed':
      return { outcome: outcome.kind, reason: outcome.reason };
    case 'escalated':
      return { outcome: outcome.kind, queue: outcome.queue, ticket: outcome.ticket_id };
    case 'exhausted':
    case 'succeeded_after_compensation':
      return { outcome: outcome.kind };
    default:
      return unreachable(outcome);
  }
}
