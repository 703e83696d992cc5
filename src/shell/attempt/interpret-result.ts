/** Interprets how an attempt ended: the event that moves the call, and the reply. */
import { cancelled, failed, succeeded, timedOut } from '../../core/call/answer.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import type { Call } from '../../core/call/call.ts';
import { canonicalise } from '../../core/values/canonical.ts';
import { type Json, type JsonObject, utf8Length } from '../../core/values/json.ts';
import type { Payload } from '../../core/journal/record.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { Limits } from '../../core/limits.ts';
import { type Classification, classify, withCode } from '../../core/recovery/classify.ts';
import { renderForAudit } from '../../core/recovery/render-error.ts';
import { safeText } from '../../core/values/redact.ts';
import type { ErrorSubject, ToolError } from '../../core/taxonomy.ts';
import type { Kept } from '../../core/partial/kept-parts.ts';
import type { Dispatch } from '../../core/recovery/dispatch.ts';
import type { Trouble } from '../../core/recovery/plan.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { StageEnd } from '../../ports/stage.ts';
import type { ReversalOrder } from '../../ports/store.ts';
import { type Failure, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import { interpretItems, type ItemsFound, type SentItems } from './interpret-items.ts';
import type { Say } from '../ending/ending.ts';
import type { AttemptUse } from '../ending/held-amounts.ts';
import type { AttemptEnd } from './send-attempt.ts';

/** How an attempt ended: what moves the call, what the caller hears, what the record says. */
export interface Interpreted {
  readonly event: CallEvent;
  readonly say: Say;
  /** The failure, for the dispatcher; absent unless this very attempt failed. */
  readonly trouble?: Trouble;
  /** What the dispatcher made of it. */
  readonly dispatch?: Dispatch;
  /** It took effect and is undone at once: who wants that, and why. */
  readonly reverse?: ReversalOrder;
  /** What it was sent with. */
  readonly credentials?: readonly CredentialHandle[];
  /** What the tool returned, as JSON; absent unless it did. */
  readonly result?: Json;
  /** Of a stage: what its end does to the workflow. */
  readonly stage?: StageEnd;
  /** Its items, if some of them failed. */
  readonly items?: Extract<ItemsFound, { kind: 'found' }>;
  /** What is kept while the failed items are sent again. */
  readonly kept?: Kept;
  /** What it used although it gave no result. */
  readonly use?: AttemptUse;
  /** Goes into the record: small facts, no personal data. */
  readonly facts: JsonObject;
  /** For the audit alone. */
  readonly payloads: readonly Payload[];
}

const unknownUse: AttemptUse = { kind: 'unknown' };

/** Nothing is declared about its items. */
const noItems: SentItems = { rule: null, args: null, kept: null };

export function interpretResult(
  call: Call,
  end: AttemptEnd,
  timeoutMs: number,
  limits: Limits,
  sent: SentItems = noItems,
): Interpreted {
  switch (end.kind) {
    case 'came_back':
      return end.result.kind === 'returned'
        ? { ...interpretOutput(call, end.result, sent, limits), ...stageOf(end.result) }
        : { ...interpretFailure(call, end.result.failure, limits), ...stageOf(end.result.failure) };
    case 'timed_out':
      return {
        event: { kind: 'failed', attempt: call.attempt, effect: 'unknown' },
        say: (envelope, effect) => timedOut(envelope, timeoutMs, effect),
        trouble: timeoutOf(call, timeoutMs),
        use: unknownUse,
        facts: { kind: 'timeout', timeout_ms: timeoutMs },
        payloads: [],
      };
    case 'cancelled':
      return {
        event: { kind: 'cancelled' },
        say: (envelope, effect) => cancelled(envelope, end.scope, effect),
        use: unknownUse,
        facts: { kind: 'cancelled', scope: end.scope },
        payloads: [],
      };
    default:
      return unreachable(end);
  }
}

const stageOf = ({ stage }: { readonly stage?: StageEnd }): Pick<Interpreted, 'stage'> =>
  stage === undefined ? {} : { stage };

type Returned = Extract<UpstreamResult, { kind: 'returned' }>;

function interpretOutput(call: Call, returned: Returned, sent: SentItems, limits: Limits): Interpreted {
  const { output } = returned;
  const written = canonicalise(output === undefined ? null : output, { maxDepth: limits.maxDepth });
  if (!written.ok)
    return interpretFailure(call, malformed(`the result is not JSON at '${written.path}': ${written.problem}`), limits);
  const bytes = utf8Length(written.text);
  if (bytes > limits.maxResultBytes)
    return interpretFailure(
      call,
      malformed(`the result has ${bytes} bytes; the limit is ${limits.maxResultBytes}`),
      limits,
    );
  // The stored form, so that a replayed reply is the very same.
  const found = interpretItems(call, returned, JSON.parse(written.text) as Json, sent);
  if (found.kind === 'failed') return interpretFailure(call, found.failure, limits);
  const { result, errors, failed: items } = found;
  return {
    event: { kind: 'returned', attempt: call.attempt },
    result,
    ...(items.length === 0 ? {} : { items: found }),
    say: (envelope) => succeeded(envelope, result, errors),
    facts: { bytes, failed_items: errors.length },
    payloads: [],
  };
}

/** What was not sent may be asked again; after how long, if nobody knows. */
const soonSeconds = 2;

export function interpretFailure(call: Call, failure: Failure, limits: Limits): Interpreted {
  const subject = (failure.subject ?? undefined) as ErrorSubject | undefined;
  const audit = renderForAudit(failure, limits.maxMessageChars);
  const classification = withCode(classify(failure.kind, subject, call.effectClass), failure.code);
  return {
    event: { kind: 'failed', attempt: call.attempt, effect: failure.effect ?? classification.effect },
    ...useOf(failure),
    ...(failure.relayed === true ? {} : { trouble: troubleOf(failure, classification, subject, limits) }),
    say: (envelope, effect) =>
      failed(envelope, {
        ...failure,
        retryAfterSeconds: failure.retryAfterSeconds ?? (failure.kind === 'never_sent' ? soonSeconds : null),
        classification,
        effect,
        maxMessageChars: limits.maxMessageChars,
      }),
    facts: {
      kind: failure.kind,
      subject: failure.subject,
      class: classification.class,
      code: classification.code,
      verdict: classification.verdict,
      detail: classification.detail,
      recognised: classification.recognised,
    },
    payloads: [
      ...(audit === null ? [] : [{ part: 'cause', text: JSON.stringify(audit) }]),
      ...partialOf(failure, limits),
    ],
  };
}

/** What was never sent used nothing; otherwise only the tool can say so. */
function useOf({ kind, used }: Failure): Pick<Interpreted, 'use'> {
  if (used === null || (used === undefined && kind === 'never_sent')) return {};
  return { use: used === undefined ? unknownUse : { kind: 'known', usage: used } };
}

/** What had arrived of a streamed answer before it broke. */
function partialOf({ partial }: Failure, { maxDepth, maxResultBytes }: Limits): readonly Payload[] {
  if (partial === undefined) return [];
  const written = canonicalise(partial, { maxDepth });
  if (!written.ok || utf8Length(written.text) > maxResultBytes)
    return [{ part: 'partial', text: JSON.stringify({ left_out: written.ok ? 'too large' : written.problem }) }];
  return [{ part: 'partial', text: written.text }];
}

function timeoutOf({ effectClass }: Call, timeoutMs: number): Trouble {
  const classification = classify('timeout', undefined, effectClass);
  const error = { kind: 'timeout', message: `no answer within ${timeoutMs / 1_000} s` } as const;
  return { error, classification, effect: classification.effect };
}

function troubleOf(
  failure: Failure,
  classification: Classification,
  subject: ErrorSubject | undefined,
  limits: Limits,
): Trouble {
  const effect = failure.effect ?? classification.effect;
  return { error: errorOf(failure, subject, limits), classification, effect };
}

/** As replies and records tell it. */
function errorOf(
  { kind, message, retryAfterSeconds }: Failure,
  subject: ErrorSubject | undefined,
  limits: Limits,
): ToolError {
  return {
    kind,
    ...(subject === undefined ? {} : { subject }),
    message: safeText(message, limits.maxMessageChars),
    ...(retryAfterSeconds === null ? {} : { retry_after: retryAfterSeconds }),
  };
}

function malformed(message: string): Failure {
  return makeFailure('schema_validation', message, { subject: 'response', errorType: 'OutputMalformed' });
}
