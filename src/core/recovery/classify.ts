/**
 * Classifies a failure: class, code, verdict, and what is known about its effect. One total table over kind × subject;
 * the effect class decides only what may have happened. Must not read message texts and must not choose a
 * compensation.
 */
import {
  type ClassOfError,
  type CodeOfError,
  codes,
  type Effect,
  type EffectClass,
  type ErrorCode,
  type ErrorKind,
  type ErrorSubject,
  type Verdict,
} from '../taxonomy.ts';

export interface Classification {
  readonly class: ClassOfError<'action_error'>;
  readonly code: CodeOfError<'action_error'>;
  readonly verdict: Verdict;
  /** A short stable word that tells failures of one verdict apart. */
  readonly detail: string;
  /** False: nobody knows this failure, so it is never retried and always escalated. */
  readonly recognised: boolean;
  readonly effect: Effect;
}

/** `refused`: the upstream, or the transport, says that nothing was done. `lost`: a write may have happened. */
interface Row {
  readonly code: Classification['code'];
  readonly verdict: Verdict;
  readonly detail: string;
  readonly recognised: boolean;
  readonly answer: 'refused' | 'lost';
}

function refused(code: Classification['code'], verdict: Verdict, detail: string): Row {
  return { code, verdict, detail, recognised: true, answer: 'refused' };
}

function lost(code: Classification['code'], verdict: Verdict, detail: string): Row {
  return { code, verdict, detail, recognised: true, answer: 'lost' };
}

function unrecognised(detail: string, answer: Row['answer']): Row {
  return { code: 'ExecutionFailed', verdict: 'server_error_5xx', detail, recognised: false, answer };
}

interface KindRows {
  /** Also for a subject that does not belong to the kind. */
  readonly withoutSubject: Row;
  readonly bySubject: Readonly<Partial<Record<ErrorSubject, Row>>>;
}

function only(row: Row): KindRows {
  return { withoutSubject: row, bySubject: {} };
}

const unreadableResponse = lost('OutputMalformed', 'schema_mismatch', 'response');

/** A part of the work was not allowed out; what was done before is not known. */
const stoppedOnTheWay = lost('EGRESS_DENIED', 'policy_denied', 'egress');

const rows: Readonly<Record<ErrorKind, KindRows>> = {
  timeout: only(lost('ExecutionTimeout', 'transient_timeout', 'no_answer')),
  never_sent: {
    withoutSubject: refused('ResourceBusy', 'transient_timeout', 'never_sent'),
    bySubject: {
      breaker_open: refused('ResourceBusy', 'transient_timeout', 'breaker_open'),
      not_connected: refused('ResourceBusy', 'transient_timeout', 'not_connected'),
      egress: refused('EGRESS_DENIED', 'policy_denied', 'egress'),
    },
  },
  '5xx': {
    withoutSubject: lost('Provider5xx', 'server_error_5xx', 'upstream_error'),
    bySubject: {
      // A part of the answer was relayed, so an effect is as likely as an answer.
      stream_broken: lost('Provider5xx', 'server_error_5xx', 'stream_broken'),
      overloaded: refused('Provider5xx', 'server_error_5xx', 'overloaded'),
    },
  },
  '429': {
    withoutSubject: refused('RateLimited', 'rate_limited', 'upstream_limit'),
    bySubject: { quota: refused('RateLimited', 'rate_limited', 'quota') },
  },
  '400_invalid': {
    withoutSubject: refused('InputInvalid', 'invalid_request', 'invalid_input'),
    bySubject: {
      context_window: refused('ContextWindowTooSmall', 'invalid_request', 'context_window'),
      content_refused: refused('InputInvalid', 'invalid_request', 'content_refused'),
    },
  },
  '401_unauthenticated': only(refused('Forbidden', 'auth_expired', 'unauthenticated')),
  '403_forbidden': only(refused('Forbidden', 'policy_denied', 'forbidden')),
  '404_not_found': only(refused('NotFound', 'invalid_request', 'not_found')),
  '409_conflict': {
    withoutSubject: unrecognised('conflict', 'refused'),
    bySubject: {
      in_flight: lost('ExecutionFailed', 'idempotency_conflict', 'in_flight'),
      completed: lost('ExecutionFailed', 'idempotency_conflict', 'completed'),
      mismatch: refused('ExecutionFailed', 'idempotency_conflict', 'mismatch'),
    },
  },
  '412_precondition': {
    withoutSubject: refused('ExecutionFailed', 'invalid_request', 'precondition'),
    bySubject: { evidence: refused('StaleEvidence', 'evidence_stale', 'evidence') },
  },
  schema_validation: {
    // If nobody says whose shape was wrong, assume the worse: an answer to something that was done.
    withoutSubject: unreadableResponse,
    bySubject: {
      request: refused('InputInvalid', 'schema_mismatch', 'request'),
      response: unreadableResponse,
    },
  },
  cancelled: only(lost('ToolCancelled', 'cancelled', 'cancelled')),
  threw: { withoutSubject: unrecognised('threw', 'lost'), bySubject: { egress: stoppedOnTheWay } },
  unknown: { withoutSubject: unrecognised('unknown', 'lost'), bySubject: { egress: stoppedOnTheWay } },
};

export function classify(kind: ErrorKind, subject: ErrorSubject | undefined, effectClass: EffectClass): Classification {
  const { withoutSubject, bySubject } = rows[kind];
  const row = (subject === undefined ? undefined : bySubject[subject]) ?? withoutSubject;
  // INVARIANT: a read has no effect, and a write without a clear answer is never claimed to have had none.
  const effect: Effect = effectClass === 'pure' || row.answer === 'refused' ? 'none' : 'unknown';
  return {
    class: codes[row.code].class,
    code: row.code,
    verdict: row.verdict,
    detail: row.detail,
    recognised: row.recognised,
    effect,
  };
}

/** The code an author gave by name speaks for itself; what is known of the effect stays the table's. */
export function withCode(found: Classification, code: ErrorCode | null): Classification {
  if (code === null) return found;
  return { ...found, class: codes[code].class, code, recognised: true } as Classification;
}
