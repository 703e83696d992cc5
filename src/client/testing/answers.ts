/**
 * Functions that make scripted answers of a gateway for tests. The shapes are those of the wire, checked against the
 * published schema.
 */
import type { ErrorReply, Notice, PartialError, Reply } from '../../core/call/reply.ts';
import type { Effect, Resolution, Verdict } from '../../core/taxonomy.ts';
import type { Answer, WireCall } from '../transport/transport.ts';

/** What every reply has from its call. */
export interface Envelope {
  readonly requested: string;
  readonly valid_next_actions: readonly string[];
  readonly call_id: string;
  readonly session: string | null;
}

export type ScriptedAnswer =
  | { readonly kind: 'reply'; readonly write: (envelope: Envelope, call: WireCall) => Reply }
  | { readonly kind: 'pending'; readonly seconds: number; readonly then: readonly ScriptedAnswer[] }
  | { readonly kind: 'way'; readonly answer: Answer };

type Own<Branch> = Branch extends unknown ? Omit<Branch, keyof Envelope> : never;

/** An answer that is a refusal, with what is particular to it. */
const refusing = (own: Own<ErrorReply>): ScriptedAnswer => ({
  kind: 'reply',
  write: (envelope) => ({ ...own, ...envelope }) as ErrorReply,
});

interface More {
  readonly notices?: readonly Notice[];
}

/** The call runs, and this is its result. */
export function permit(
  result: unknown = null,
  more: More & { readonly errors?: readonly PartialError[]; readonly replayed?: true; readonly state?: unknown } = {},
): ScriptedAnswer {
  const { state = null, ...others } = more;
  return {
    kind: 'reply',
    write: ({ requested, ...envelope }) => ({ action: requested, result, state, ...envelope, seq: 1, ...others }),
  };
}

function denied(
  code: Extract<Reply, { error: 'denied' }>['code'],
  humanMessage: string,
  resolution: Resolution,
  extra: { readonly rule_ref?: string; readonly budget_id?: string; readonly provider?: string } = {},
): ScriptedAnswer {
  const said = { message: humanMessage, human_message: humanMessage, effect: 'none', resolution } as const;
  return refusing({ error: 'denied', class: 'Governance', code, ...said, ...extra });
}

/** A rule says no: POLICY_DENY, or another code that a rule answers with. */
export function deny(
  options: {
    readonly code?: 'POLICY_DENY' | 'EGRESS_DENIED' | 'MODEL_DENIED';
    readonly humanMessage?: string;
    readonly ruleRef?: string;
  } = {},
): ScriptedAnswer {
  const { code = 'POLICY_DENY', humanMessage = 'denied: blocked by policy' } = options;
  const place = { POLICY_DENY: 'recourse.yaml:1', EGRESS_DENIED: 'egress', MODEL_DENIED: 'model_policy' }[code];
  const { ruleRef = place } = options;
  const rule = code === 'POLICY_DENY' || options.ruleRef !== undefined ? { rule_ref: ruleRef } : {};
  return denied(code, humanMessage, { type: 'rule_block', rule_id: ruleRef }, rule);
}

/** Held until a person approves it. */
export function defer(
  options: { readonly approvalId?: string; readonly humanMessage?: string; readonly ruleRef?: string } = {},
): ScriptedAnswer {
  const {
    approvalId = 'apr-1',
    humanMessage = 'deferred for operator approval',
    ruleRef = 'recourse.yaml:1',
  } = options;
  const resolution = { type: 'pending_approval', approval_id: approvalId } as const;
  return denied('POLICY_DEFER', humanMessage, resolution, { rule_ref: ruleRef });
}

/** A denial that says when to ask again. The client waits for it by itself, within its bounds. */
export function retryAfter(
  seconds: number,
  options: {
    readonly code?: 'RATE_EXCEEDED' | 'DAEMON_NOT_READY' | 'CREDENTIAL_UNAVAILABLE';
    readonly humanMessage?: string;
    readonly provider?: string;
  } = {},
): ScriptedAnswer {
  const { code = 'RATE_EXCEEDED', provider = 'vault' } = options;
  const usual = {
    RATE_EXCEEDED: 'denied: rate limit (10/minute) exceeded',
    DAEMON_NOT_READY: 'denied: daemon is initializing, retry in a moment',
    CREDENTIAL_UNAVAILABLE: `${provider} provider returned: connection refused`,
  };
  const resolution = { type: 'retry_after', retry_after_seconds: seconds } as const;
  return denied(
    code,
    options.humanMessage ?? usual[code],
    resolution,
    code === 'CREDENTIAL_UNAVAILABLE' ? { provider } : {},
  );
}

/** The budget is used up until `resetsAt`: RFC 3339, UTC, whole seconds. */
export function budgetExceeded(options: {
  readonly resetsAt: string;
  readonly budgetId?: string;
  readonly humanMessage?: string;
}): ScriptedAnswer {
  const {
    resetsAt,
    budgetId = 'daily',
    humanMessage = `denied: ${budgetId} budget ceiling ($500.00) reached`,
  } = options;
  const resolution = { type: 'budget_reset', resets_at: resetsAt } as const;
  return denied('BUDGET_EXCEEDED', humanMessage, resolution, { budget_id: budgetId });
}

/** The agent may not complete while these approvals are open. */
export function completionBlocked(approvalIds: readonly string[]): ScriptedAnswer {
  const humanMessage = `agent cannot complete: ${approvalIds.length} approvals pending`;
  return denied('COMPLETION_BLOCKED', humanMessage, { type: 'pending_approvals', approval_ids: approvalIds });
}

/** The tool ran and failed. Its effect is `none` unless stated: then it provably did nothing. */
export function fail(
  options: {
    readonly message?: string;
    readonly errorType?: string;
    readonly effect?: Effect;
    readonly verdict?: Verdict;
    readonly retryAfterSeconds?: number;
  } = {},
): ScriptedAnswer {
  const { message = 'the tool failed', errorType = 'Error', effect = 'none', verdict = 'server_error_5xx' } = options;
  return {
    kind: 'reply',
    write: (envelope) => ({
      error: 'action_error',
      class: 'ToolTerminal',
      code: 'ExecutionFailed',
      message: `action '${envelope.requested}' failed: ${message}`,
      effect,
      resolution: afterFailure(effect, envelope.call_id, options.retryAfterSeconds, envelope.valid_next_actions),
      error_type: errorType,
      error_message: message,
      verdict,
      compensation: null,
      outcome: null,
      ...envelope,
    }),
  };
}

/** The tool may have done its work, or not: nobody knows. */
export const unknownEffect = (message = 'the connection dropped before the answer'): ScriptedAnswer =>
  fail({ message, effect: 'unknown' });

function afterFailure(
  effect: Effect,
  callId: string,
  seconds: number | undefined,
  actions: readonly string[],
): Resolution {
  if (effect === 'unknown') return { type: 'reconcile', call_id: callId };
  return seconds === undefined
    ? { type: 'choose_action', actions }
    : { type: 'retry_after', retry_after_seconds: seconds };
}

/** The tool did not finish in time. */
export function timeout(seconds = 30, effect: Effect = 'unknown'): ScriptedAnswer {
  return {
    kind: 'reply',
    write: (envelope) => ({
      error: 'action_timeout',
      class: 'ToolTransient',
      code: 'ExecutionTimeout',
      message: `action '${envelope.requested}' exceeded its ${seconds}s timeout.`,
      effect,
      resolution: afterFailure(effect, envelope.call_id, undefined, envelope.valid_next_actions),
      timeout_seconds: seconds,
      ...envelope,
    }),
  };
}

/** The input was refused. */
export function invalidInput(field: string, reason: string, got: unknown = null): ScriptedAnswer {
  return refusing({
    error: 'validation_failed',
    class: 'ToolTerminal',
    code: 'InputInvalid',
    message: reason,
    effect: 'none',
    resolution: { type: 'fix_input', fields: [field] },
    reason,
    details: { field, got },
    errors: [{ path: `/${field}`, expected: reason, got }],
  });
}

/**
 * Goes on for longer than the caller waits. Asked about after `seconds`, it is as `then` says: one answer, or one for
 * each time.
 */
export const pending = (then: ScriptedAnswer | readonly ScriptedAnswer[], seconds = 1): ScriptedAnswer => ({
  kind: 'pending',
  seconds,
  then: 'kind' in then ? [then] : then,
});

/** Any reply, for whatever has no word of its own here. */
export const reply = (whole: Reply): ScriptedAnswer => ({ kind: 'reply', write: () => whole });

/** The call may have arrived; its answer did not come back. */
export const lost = (): ScriptedAnswer => ({
  kind: 'way',
  answer: { kind: 'lost', reason: 'the connection was lost' },
});

/** Nobody listens: nothing was sent. */
export const notSent = (): ScriptedAnswer => ({
  kind: 'way',
  answer: { kind: 'not_sent', reason: 'the gateway could not be reached' },
});

/** Something answered that is no gateway. */
export const notAReply = (body: unknown = { title: 'Bad Gateway' }): ScriptedAnswer => ({
  kind: 'way',
  answer: { kind: 'answered', body },
});
