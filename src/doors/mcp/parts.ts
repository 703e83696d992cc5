/** What the MCP door is given: the gateway behind it, as functions. It knows nobody else. */
import type { Principal } from '../../core/call.ts';
import type { Catalogue, FieldError } from '../../core/catalogue.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Reply } from '../../core/reply.ts';
import type { ActionEntry, Workflow } from '../../core/workflow/workflow.ts';
import type { Requester } from '../../shell/await-outcome.ts';
import type { WorkflowService } from '../../shell/workflow-service.ts';

/** The one workflow that this door serves. */
export interface ServedWorkflow {
  readonly service: WorkflowService;
  readonly name: string;
  /** Whether policy could ever permit this action to the agent. */
  readonly isListed?: (action: ActionEntry, who: Principal) => boolean;
}

/** Every tool of the gateway, each called directly. */
export interface DirectTools {
  /** Those that are listed to this agent. */
  readonly catalogue: (who: Principal) => Catalogue;
  readonly call: (raw: unknown, who: Principal, requester: Requester) => Promise<Reply>;
}

/** How a workflow is drawn; `active` are the ids of the states in which a session stands. */
export interface GraphWriters {
  mermaid(workflow: Workflow, active: readonly string[]): string;
  json(workflow: Workflow, active: readonly string[]): JsonObject;
}

/** An error that was ignored on purpose, for the operator. */
export type Notify = (notice: { readonly kind: 'suppressed'; readonly what: string; readonly reason: string }) => void;

export interface McpDoorParts {
  readonly name: string;
  readonly version: string;
  /** Whose calls these are where a connection does not say otherwise. */
  readonly who: Principal;
  /** One tool `step` for all actions, or one tool for each of them. */
  readonly mode: 'step' | 'tool_per_action';
  readonly workflow: ServedWorkflow | null;
  readonly tools: DirectTools | null;
  readonly graph: GraphWriters;
  /** Refuses, on record, what cannot be made out to be a call at all. */
  readonly unfit: (errors: readonly FieldError[], who: Principal) => Promise<Reply>;
  readonly notify: Notify;
  readonly limits?: Partial<McpDoorLimits>;
}

export interface McpDoorLimits {
  /** Questions of one call that wait for the client at the same time. */
  readonly maxOpenQuestions: number;
  /** Calls that wait for their client to come back with an answer. */
  readonly maxParkedCalls: number;
  /** How long such a call waits before its client counts as gone. */
  readonly parkedForMs: number;
  /** Entries of one page of a history. */
  readonly historyPage: number;
}

export const defaultMcpDoorLimits: McpDoorLimits = {
  maxOpenQuestions: 16,
  maxParkedCalls: 1_000,
  parkedForMs: 10 * 60_000,
  historyPage: 100,
};
