/** What the MCP door is given: the gateway behind it, as functions. It knows nobody else. */
import type { Principal } from '../../core/call/call.ts';
import type { Catalogue, FieldError } from '../../core/call/catalogue.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import type { ActionEntry, Workflow } from '../../core/workflow/workflow.ts';
import type { ApprovalService } from '../../shell/approval/approval-service.ts';
import type { Requester } from '../../shell/call/await-outcome.ts';
import type { Gap } from '../../shell/upkeep/runtime-gap.ts';
import type { WorkflowService } from '../../shell/session/workflow-service.ts';

/** The one workflow that this door serves. */
export interface ServedWorkflow {
  readonly service: WorkflowService;
  readonly name: string;
  /** Whether policy could ever permit this action to the agent. */
  readonly isListed?: (action: ActionEntry, who: Principal) => boolean;
  /** It is served beside others: its tools have its name before theirs, as `workflow__step`. */
  readonly isBeside?: boolean;
  /** Its actions by name, known before what is behind the door is open. */
  readonly actions: readonly string[];
}

/** Null if the gateway does not have it (any more). */
export function servedWorkflow({ service, name }: ServedWorkflow): Workflow | null {
  return service.workflows.get(name) ?? null;
}

/** The names of tools as clients are told them, and back. */
export interface ModelNames {
  /** As the tool is listed and offered. */
  write(own: string): string;
  /** The own name that is meant by what came in; what is not known stays as it is. */
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

/** An error that was ignored on purpose, for the operator. */
export type Notify = (notice: { readonly kind: 'suppressed'; readonly what: string; readonly reason: string }) => void;

/** What a state that is given to a client is bound to: it counts only while all of this is as it was. */
export interface ApprovalBinding {
  /** Moves with every word that is said about the approval. */
  readonly version: number;
  /** Hash of the agent's rules as they are now. */
  readonly rules: string;
  readonly expiresAtMs: number;
  /** The session that the call waits in. */
  readonly session: string | null;
}

/** Approvals as this door speaks of them. */
export interface DoorApprovals extends Pick<ApprovalService, 'read' | 'wait' | 'approve' | 'deny' | 'mayClientDecide'> {
  /** Whether a call of this agent could be deferred at all. */
  isServed(who: Principal): boolean;
  /** Null if it is not an approval of this agent, or is not pending. */
  binding(id: string, who: Principal): Promise<ApprovalBinding | null>;
  /** Uses up what was asked about this version, on record; false if it was used before, or somebody has said something since. */
  spend(id: string, who: Principal, version: number): Promise<boolean>;
  /** What only this gateway can write under a text; null if it has no key to do that with. */
  seal(text: string): string | null;
  /** How long somebody waits who does not say, and at most. */
  readonly waitMs: number;
  readonly maxWaitMs: number;
  nowMs(): number;
}

/** By which an agent says that it is done. */
export interface DoorCompletion {
  isServed(who: Principal): boolean;
  run(raw: unknown, who: Principal): Promise<Reply>;
}

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
  /** Refuses, on record, what cannot be made out to be a call at all; where a session is meant, in its history. */
  readonly unfit: (errors: readonly FieldError[], who: Principal, about?: Unfit) => Promise<Reply>;
  readonly notify: Notify;
  readonly approvals?: DoorApprovals;
  readonly completion?: DoorCompletion;
  /** Says that work which went on after its call is complete. */
  readonly reportTask?: (callId: unknown, who: Principal) => Promise<Reply>;
  /** Puts on record what policy cannot decide, and returns what is said about it. */
  readonly reportGap?: (gap: Gap) => Promise<Notice>;
  readonly limits?: Partial<McpDoorLimits>;
}

/** What is known of something that is no call. */
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
  /** Whoever waits for an approval waits no longer if they do not say: below what clients wait for an answer. */
  readonly awaitMs: number;
  /** How often somebody who waits hears that they still do. */
  readonly progressEveryMs: number;
  /** How long the client's user may take to answer by a state. */
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
