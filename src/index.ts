/** The public API of the package `recourse-gateway`: named exports only, pinned by test/pins/exports.test.ts. */
import './config/need-node.ts';

export {
  type ActContext,
  StageCallError,
  type StageContext,
  type StageDefinition,
  type StageError,
  type StageNext,
  type StageOutcome,
  type StageRetry,
  type Unrecoverable,
} from './adapters/upstream-function/stage/stage-types.ts';
export { failedWith, type ErrorGuard } from './adapters/upstream-function/workflow/failed-with.ts';
export type { ErrorMatch } from './core/workflow/match-error.ts';
export type { StepError } from './core/workflow/step-error.ts';
export { ToolDefinitionError } from './adapters/upstream-function/check-definition.ts';
export { type ArgsOf, type ResultOf, type SentTo, type Tool, tool } from './adapters/upstream-function/tool.ts';
export {
  type ActionsOf,
  type InputsOf,
  type ResultsOf,
  mount,
  type MountedWorkflow,
  WorkflowDefinitionError,
} from './adapters/upstream-function/workflow/mount.ts';
export type { StepRequest } from './adapters/upstream-function/workflow/step-request.ts';
export type { ToolContext } from './adapters/upstream-function/tool-context.ts';
export { partial, ToolFailure } from './adapters/upstream-function/tool-failure.ts';
export type { ApprovalView } from './core/approval/approval-view.ts';
export type { BudgetView } from './core/budget/budget-view.ts';
export type { TicketStory, TicketView } from './core/recovery/ticket-view.ts';
export { httpStatusOf } from './core/http/http-status.ts';
export { defaultLimits, type Limits } from './core/limits.ts';
export {
  type ErrorReply,
  isPending,
  isRefusal,
  isSuccess,
  type PendingReply,
  type Reply,
  type SuccessReply,
} from './core/call/reply.ts';
export type { Policy, Reach } from './core/policy/policy.ts';
export { replySchema } from './core/http/reply-schema.ts';
export { taxonomy } from './core/taxonomy.ts';
export { loadPolicy, type LoadPolicyOptions } from './compose/project/load-policy.ts';
export { httpTool, type HttpToolDefinition } from './compose/upstreams/http-tool.ts';
export type { CredentialOptions } from './compose/upstreams/credential-options.ts';
export type { ServerOptions, ServerToolOptions } from './compose/upstreams/server-options.ts';
export { GatewayError } from './core/values/gateway-error.ts';
export { type CallRequest, createGateway, type Gateway, type GatewayOptions } from './main.ts';
export type { OperatorNotice } from './ports/notifier.ts';
