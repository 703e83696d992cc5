/** What the MCP door needs of the gateway, as functions, and its limits with their defaults. */
import type { Principal } from '../../core/call/call.ts';
import type { Catalogue, FieldError } from '../../core/call/catalogue.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import type { ActionEntry, Workflow } from '../../core/workflow/workflow.ts';
import type { ApprovalService } from '../../shell/approval/approval-service.ts';
import type { TicketAnswer } from '../../core/ticket/answers.ts';
import type { TicketService } from '../../shell/ticket/ticket-service.ts';
import type { Requester } from '../../shell/call/await-outcome.ts';
import type { Gap } from '../../shell/upkeep/record-runtime.ts';
import type { WorkflowService } from '../../shell/session/workflow-service.ts';

/** The one workflow that this door serves. */
export interface ServedWorkflow {
  readonly service: WorkflowService;
  readonly name: string;
  /** Whether policy could ever permit this action to the agent. */
  readonly isListed?: (action: ActionEntry, who: Principal) => boolean;
  /** It is served beside others: its name is the prefix of its tools, as in `workflow__step`. */
  readonly isBeside?: boolean;
  /** The names of its actions, known before the gateway is open. */
  readonly actions: readonly string[];
}

/** Null if the gateway does not have it any more. */
export function servedWorkflow({ service, name }: ServedWorkflow): Workflow | null {
  return service.workflows.get(name) ?? null;
}

/** Translates tool names between the gateway and clients. */
export interface ModelNames {
  /** The name under which the tool is listed. */
  write(own: string): string;
  /** The gateway's name; an unknown name is returned unchanged. */
  read(given: string): string;
}

/** Every tool of the gateway, each called directly. */
export interface DirectTools {
  readonly names: () => ModelNames;
  /** Those that are listed to this agent. */
  readonly catalogue: (who: Principal) => Catalogue;
  /** Whether there is a tool of this name, listed to anybody or not. */
  readonly isDeclared?: (name: string) => boolean;
  readonly call: (raw: unknown, who: Principal, requester: Requester) => Promise<Reply>;
}

/** How a workflow is drawn; `active` are the ids of the states in which a session stands. */
export interface GraphWriters {
  mermaid(workflow: Workflow, active: readonly string[]): string;
  json(workflow: Workflow, active: readonly string[]): JsonObject;
}

/** Reports an error that was suppressed on purpose to the operator. */
export type Notify = (notice: { readonly kind: 'suppressed'; readonly what: string; readonly reason: string }) => void;

/** What a state is bound to: it is valid only while all of this is unchanged. */
export interface ApprovalBinding {
  /** Changes with every decision about the approval. */
  readonly version: number;
  /** Hash of the agent's rules as they are now. */
  readonly rules: string;
  readonly expiresAtMs: number;
  /** The session that the call waits in. */
  readonly session: string | null;
}

/** What this door needs of approvals. */
export interface DoorApprovals extends Pick<ApprovalService, 'read' | 'wait' | 'approve' | 'deny' | 'mayClientDecide'> {
  /** Whether a call of this agent could be deferred at all. */
  isServed(who: Principal): boolean;
  /** Null if it is not an approval of this agent, or is not pending. */
  binding(id: string, who: Principal): Promise<ApprovalBinding | null>;
  /** Uses up this version, on record; false if it was used before or has changed since. */
  spend(id: string, who: Principal, version: number): Promise<boolean>;
  /** The signature of a text; null if the gateway has no key. */
  seal(text: string): string | null;
  /** The default and the longest wait. */
  readonly waitMs: number;
  readonly maxWaitMs: number;
  nowMs(): number;
}

/** What this door needs of tickets: an agent waits for its own. */
export interface DoorTickets extends Pick<TicketService, 'wait' | 'askedOfClient'> {
  /** By the user of the agent's own client. False if the answer was not taken. */
  answerAsClient(id: string, who: Principal, answer: TicketAnswer): Promise<boolean>;
  /** Whether it is listed to this agent; it may be called in any case. */
  isServed(who: Principal): boolean;
  /** The default and the longest wait. */
  readonly waitMs: number;
  readonly maxWaitMs: number;
}

/** `complete`, by which an agent reports that its work is done. */
export interface DoorCompletion {
  isServed(who: Principal): boolean;
  run(raw: unknown, who: Principal): Promise<Reply>;
}

/** `reverse`, by which an agent undoes a call of its own. */
export interface DoorReversals {
  /** Whether a tool of this agent can be undone at all. */
  isServed(who: Principal): boolean;
  redeem(token: string, who: Principal, requester: Requester): Promise<Reply>;
}

export interface McpDoorParts {
  readonly name: string;
  readonly version: string;
  /** The principal of connections that name none. */
  readonly who: Principal;
  /** One tool `step` for all actions, or one tool for each of them. */
  readonly mode: 'step' | 'tool_per_action';
  readonly workflow: ServedWorkflow | null;
  readonly tools: DirectTools | null;
  readonly graph: GraphWriters;
  /** Refuses, on record, a request that cannot be read as a call; in the history of its session, if it has one. */
  readonly unfit: (errors: readonly FieldError[], who: Principal, about?: Unfit) => Promise<Reply>;
  readonly notify: Notify;
  readonly approvals?: DoorApprovals;
  readonly tickets?: DoorTickets;
  readonly completion?: DoorCompletion;
  readonly reversals?: DoorReversals;
  /** Reports that work which continued after its call is complete. */
  readonly reportTask?: (callId: unknown, who: Principal) => Promise<Reply>;
  /** Records a message that policy cannot decide, and returns the notice for the answer. */
  readonly reportGap?: (gap: Gap) => Promise<Notice>;
  readonly limits?: Partial<McpDoorLimits>;
}

/** What is known of a request that is not a call. */
export interface Unfit {
  readonly requested: string;
  readonly session: string | null;
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
  /** The default wait for an approval: shorter than clients wait for an answer. */
  readonly awaitMs: number;
  /** How often a waiting client gets a progress notification. */
  readonly progressEveryMs: number;
  /** How long a signed state is valid. */
  readonly sealedForMs: number;
}

export const defaultMcpDoorLimits: McpDoorLimits = {
  maxOpenQuestions: 16,
  maxParkedCalls: 1_000,
  parkedForMs: 10 * 60_000,
  historyPage: 100,
  awaitMs: 50_000,
  progressEveryMs: 5_000,
  sealedForMs: 15 * 60_000,
};
