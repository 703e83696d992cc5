/**
 * What emits each code: in words, and the file that builds it. The compiler wants an entry for every code, and
 * test/conformance/errors/emitted-codes.test.ts looks into the files.
 */
import type { ErrorCode } from '../src/core/taxonomy.ts';

export interface Emitter {
  /** Completes the sentence "It is emitted by …". */
  readonly by: string;
  /** The source files that build it. */
  readonly files: readonly [string, ...string[]];
}

const emits = (by: string, ...files: Emitter['files']): Emitter => ({ by, files });

const classify = 'src/core/recovery/classify.ts';
const session = 'src/core/gates/session.ts';
const atStart = 'the start of the process';

export const codeEmitters: Readonly<Record<ErrorCode, Emitter>> = {
  ShapeInvalid: emits(
    `${atStart}, by \`check\`, \`apply\` and \`up\`, for a file that cannot be read as what it should be`,
    'src/config/yaml/yaml-tree.ts',
    'src/compose/project/load-project.ts',
    'src/core/extension/read-extension.ts',
  ),
  ContractVersionMismatch: emits(
    `${atStart}, for a lock or an extension of another version`,
    'src/config/lock.ts',
    'src/core/extension/read-extension.ts',
  ),
  ConfigSchemaViolation: emits(
    `${atStart}, by \`check\`, \`apply\` and \`up\`, for a key or value that recourse.yaml does not allow`,
    'src/config/problem.ts',
    'src/compose/project/check-errors.ts',
  ),
  MissingStreaming: emits('the gate `model`, before anything is sent', 'src/core/model/describe-use.ts'),
  MissingToolCalling: emits('the gate `model`, before anything is sent', 'src/core/model/describe-use.ts'),
  ContextWindowTooSmall: emits(
    'the gate `model`, and by the classification of what a provider of models answers',
    'src/core/model/describe-use.ts',
    classify,
  ),
  LifecycleFailure: emits(
    `${atStart}, and by calls of an extension that is not running`,
    'src/compose/extensions/lifecycle.ts',
    'src/compose/extensions/start-extensions.ts',
  ),
  DependencyCycle: emits(atStart, 'src/core/extension/order-extensions.ts'),
  DependencyMissing: emits(
    `${atStart}, and by an extension that asks for one that is not in its needs`,
    'src/core/extension/order-extensions.ts',
    'src/compose/extensions/create-host.ts',
  ),
  NetworkTimeout: emits(
    'providers of models that do not answer in time, and by tools that name it',
    'src/adapters/upstream-model/interpret-answer.ts',
  ),
  Provider5xx: emits('the classification of a failure', classify),
  RateLimited: emits('the classification of a failure', classify),
  ExecutionTimeout: emits(
    'the timeout of a call, and by the classification of a failure',
    'src/core/call/answer.ts',
    classify,
  ),
  ResourceBusy: emits(
    'the classification of a call that was never sent, and by the gate `known` for a server that was never reached',
    classify,
    'src/core/gates/known.ts',
  ),
  InputInvalid: emits(
    'the gate `input`, by requests that cannot be read, and by the classification of a failure',
    'src/core/gates/invalid-input.ts',
    'src/shell/call/refuse.ts',
    classify,
  ),
  OutputMalformed: emits(
    'the check of results, and by the classification of a failure',
    'src/shell/attempt/interpret-result.ts',
    classify,
  ),
  Forbidden: emits('the classification of a failure', classify),
  NotFound: emits(
    'the classification of a failure, and by the reading of a reply that is not kept any more',
    classify,
    'src/shell/ending/stored-reply.ts',
  ),
  ExecutionFailed: emits('the classification of a failure', classify),
  KeyReused: emits('the admission of a call', 'src/shell/call/admit.ts'),
  InputTooLarge: emits(
    'the reading of a call or of its HTTP request',
    'src/shell/call/refuse.ts',
    'src/doors/http/read-request.ts',
  ),
  StaleEvidence: emits(
    'the gate `evidence`, and by the classification of a failure',
    'src/core/gates/evidence.ts',
    classify,
  ),
  ManifestDrift: emits('the gate `session`', session),
  StoreUnavailable: emits(
    'every commit that the store refuses',
    'src/shell/call/record-refusal.ts',
    'src/shell/ending/stored-reply.ts',
  ),
  ResumeMismatch: emits('the gate `session`', session),
  UnknownSession: emits('the gate `session`', session),
  SessionCancelled: emits(
    'the gate `session`, and by the cancellation of a session',
    session,
    'src/shell/ending/cancel.ts',
  ),
  TurnCancelled: emits('the gate `session`, and by the cancellation of a turn', session, 'src/shell/ending/cancel.ts'),
  ToolCancelled: emits(
    'the cancellation of a call, and by the classification of a failure',
    'src/shell/ending/cancel.ts',
    classify,
  ),
  InvalidTransition: emits('the gate `reachable`', 'src/core/gates/reachable.ts'),
  GuardError: emits('the gate `reachable`', 'src/core/gates/reachable.ts'),
  UnknownAction: emits('the gate `known`', 'src/core/gates/known.ts'),
  Fenced: emits('the gate `fence`, and by attaching', 'src/core/gates/fence.ts', 'src/shell/call/attach.ts'),
  ActionInFlight: emits('the admission of a call, and by the gate `session`', 'src/shell/call/admit.ts', session),
  StaleSequence: emits('the gate `session`', session),
  RefusalLimit: emits('the gate `session`', session),
  SessionStopped: emits('the gate `session`', session, 'src/shell/session/refuse-session.ts'),
  Busy: emits(
    'the gate `ready`, and by sessions that nothing more can wait for',
    'src/core/gates/ready.ts',
    'src/shell/session/refuse-session.ts',
  ),
  Unexpected: emits('a defect of the gateway', 'src/core/call/answer.ts'),
  POLICY_DENY: emits('the gate `policy`', 'src/core/policy/policy-refusal.ts'),
  POLICY_DEFER: emits('the gate `approval`', 'src/core/policy/policy-refusal.ts'),
  RATE_EXCEEDED: emits('the gate `rate`', 'src/core/gates/rate.ts'),
  BUDGET_EXCEEDED: emits('the gate `budget`', 'src/core/budget/judge-budgets.ts'),
  BUDGET_WARNING: emits('the gate `budget`, as a notice', 'src/core/budget/judge-budgets.ts'),
  DAEMON_NOT_READY: emits('the gate `ready`', 'src/core/gates/ready.ts'),
  COMPLETION_BLOCKED: emits('`complete`', 'src/core/call/completion.ts'),
  EGRESS_DENIED: emits(
    'the gate `egress`, and by connections that are stopped while a call runs',
    'src/core/policy/policy-refusal.ts',
    classify,
  ),
  MODEL_DENIED: emits('the gate `model`', 'src/core/policy/policy-refusal.ts'),
  CREDENTIAL_UNAVAILABLE: emits(
    'the gate `credential`, and by the check before a resend',
    'src/core/gates/credential.ts',
    'src/shell/attempt/retry.ts',
  ),
  APPROVAL_EDITED: emits(
    'a call that runs as an approver changed it, as a notice',
    'src/core/approval/approval-view.ts',
  ),
  EARLIER_RESULT: emits('attaching and adopting, as a notice', 'src/core/call/notices.ts'),
  RUNTIME_GAP: emits('messages that policy cannot decide, as a notice', 'src/core/call/gap.ts'),
};
