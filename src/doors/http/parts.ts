/** What the HTTP door needs of the gateway, as functions, and its options with their defaults. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { CancelTarget, Cancelled } from '../../shell/ending/cancel.ts';
import type { Principal } from '../../core/call/call.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import type { Explanation } from '../../core/gates/explain.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import type { Identity } from '../../core/call/identity.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { Reach, WrittenPolicy } from '../../core/policy/policy.ts';
import type { PolicyFile } from '../../core/policy/look/policy-file.ts';
import type { UsableModel } from '../../core/model/choose-provider.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { CodesOfClass, EffectClass } from '../../core/taxonomy.ts';
import type { ApprovalService } from '../../shell/approval/approval-service.ts';
import type { BudgetService } from '../../shell/budget/budget-service.ts';
import type { Requester } from '../../shell/call/await-outcome.ts';
import type { CallCount } from '../../shell/look/counts.ts';
import type { ModelStatus } from '../../core/model/model-status.ts';
import type { CredentialReport } from '../../shell/look/report-credentials.ts';
import type { GapCount } from '../../shell/upkeep/record-runtime.ts';
import type { Improvements } from '../../shell/improvement/show-improvements.ts';
import type { Looks } from '../../shell/look/looks.ts';
import type { TenantView } from '../../shell/look/tenant-view.ts';
import type { ReversalService } from '../../shell/reversal/reversal-service.ts';
import type { TicketService } from '../../shell/ticket/ticket-service.ts';
import type { WorkflowService } from '../../shell/session/workflow-service.ts';

import type { ConsoleSessions } from './console/console-sessions.ts';

/** Why the request is not authenticated. `malformed`: not a bearer key. `unavailable`: the keys cannot be read now. */
export interface Stranger {
  readonly problem: 'missing' | 'unknown' | 'malformed' | 'unavailable';
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly effect: EffectClass;
  readonly input_schema: JsonObject | null;
}

export interface PlainSession {
  readonly session: string;
  readonly seq: number;
  readonly status: 'open';
  readonly valid_next_actions: readonly string[];
  readonly next_total?: number;
}

/** A problem in a configuration file. */
export interface ApplyProblem {
  readonly code: CodesOfClass<'Validation' | 'ExtensionHost'>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text?: string;
  readonly message: string;
  readonly fix: string;
}

/** `about`: details for the answer, such as the number of agents and the changes. */
export type Applied =
  | { readonly ok: true; readonly about?: JsonObject }
  /** `forcible`: it can be applied with force, because all problems are findings of the analysis. */
  | { readonly ok: false; readonly problems: readonly ApplyProblem[]; readonly forcible: boolean };

export interface StatusReport {
  readonly ready: boolean;
  readonly in_flight: number;
  readonly store: 'available' | 'unavailable';
  readonly uptime_seconds: number;
  readonly version: string;
  readonly gates: readonly { readonly gate: string; readonly configured: boolean }[];
  /** Messages that policy could not decide, counted since the process began. */
  readonly gaps: readonly GapCount[];
  readonly recovery: readonly UpstreamRecovery[];
  readonly credentials: readonly CredentialReport[];
  readonly models: readonly ModelStatus[];
  /** More for operators. */
  readonly [more: string]: unknown;
}

/** The values of /metrics; `inFlight`, `calls`, `gaps`, `approvalsPending` and `ticketsOpen` are of one tenant. */
export interface Measured {
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  readonly storeAvailable: boolean;
  readonly inFlight: number;
  readonly calls: readonly CallCount[];
  readonly gaps: readonly GapCount[];
  /** Errors that were ignored on purpose, in calls of the tenant and beside calls. */
  readonly suppressed: { readonly calls: number; readonly gateway: number };
  /** Null if the store is unavailable. */
  readonly approvalsPending: number | null;
  readonly ticketsOpen: number | null;
  readonly upstreams: readonly { readonly name: string; readonly state: string }[];
  /** Retries and breakers by upstream, since the process began. */
  readonly recovery: readonly UpstreamRecovery[];
}

export interface UpstreamRecovery {
  readonly upstream: string;
  readonly breaker: 'closed' | 'open' | 'half_open';
  readonly retries: number;
  /** Tokens left of the retry budget. */
  readonly tokens: number;
}

export interface ServedModels {
  /** In the order of the file. */
  providers(): readonly ModelProvider[];
  /** Those that the agent may name, by its rules and its model policy. */
  usable(who: Principal): readonly UsableModel[];
}

export interface HttpDoorParts {
  readonly version: string;
  nowMs(): number;
  readonly console: ConsoleSessions;
  /** `apiKey`: the header `x-api-key` counts too. */
  authenticate(headers: IncomingHttpHeaders, apiKey?: boolean): Promise<Identity | Stranger>;
  /** Whether the holder may have this connection, by the limits. */
  readonly admit?: ((request: IncomingMessage, who: Identity) => boolean) | undefined;
  readiness(): Readiness;
  /** False while calls cannot be recorded. */
  canRecord(): boolean;
  /** An id for a refusal that is not a call. */
  newCallId(): string;
  call(raw: unknown, who: Principal, requester: Requester): Promise<Reply>;
  /** Refuses, on record, a request that cannot be read as a call. */
  unfit(errors: readonly FieldError[], who: Principal): Promise<Reply>;
  evaluate(raw: unknown, who: Principal): Promise<Explanation | ErrorReply>;
  /** Opens a session without a workflow; `ceiling` limits how far its calls may reach. */
  openSession(who: Principal, ceiling: Reach | null): Promise<PlainSession | ErrorReply>;
  cancel(target: CancelTarget, who: Principal): Promise<Cancelled>;
  readonly workflows: WorkflowService;
  readonly view: TenantView;
  readonly looks: Looks;
  readonly approvals: ApprovalService;
  readonly tickets: TicketService;
  readonly reversals: ReversalService;
  readonly budgets: BudgetService;
  readonly improvements: Improvements;
  /** `{ session? }`: the work of an agent is done, by its own word or by that of `by`. */
  complete(raw: unknown, who: Principal, by?: string): Promise<Reply>;
  /** Reports that work which continued after its call is complete. */
  reportTask(callId: string, who: Principal): Promise<Reply>;
  tools(who: Principal): readonly ListedTool[];
  readonly models: ServedModels;
  policy(): WrittenPolicy | null;
  policyFile(): Promise<PolicyFile>;
  /** `by`: who applies it. `force`: also with proven errors. A failure changes nothing. */
  applyPolicy(by: Identity, force: boolean): Promise<Applied>;
  /** As this tenant sees it. */
  status(tenant: string): StatusReport;
  metrics(tenant: string): Promise<Measured>;
  /** Reports an error that was suppressed on purpose to the operator. */
  notify(notice: { readonly kind: 'suppressed'; readonly what: string; readonly reason: string }): void;
}

export interface HttpDoorOptions {
  /** Host names that clients may use, without ports. */
  readonly allowedHosts: readonly string[];
  /** Host names of allowed origins. */
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** Of requests to models, which bring whole conversations; `maxInputBytes` of the gateway limits them too. */
  readonly maxModelBodyBytes: number;
  /** The longest pause in a body. */
  readonly bodyStallMs: number;
  /** Limit for ids in paths and values in queries. */
  readonly maxNameChars: number;
  /** Open streams: in total, and of one holder of keys. */
  readonly maxStreams: number;
  readonly maxStreamsEach: number;
  /** How often a stream polls for new records, and how many it reads at once. */
  readonly streamEveryMs: number;
  readonly streamPage: number;
  /** How often a comment is sent on an idle stream. */
  readonly heartbeatMs: number;
  /** A reader that reads nothing for so long is cut off. */
  readonly slowReaderMs: number;
  /** How long open exchanges may continue when the door closes. */
  readonly drainMs: number;
}

const local = ['localhost', '127.0.0.1', '[::1]'];

export const defaultHttpDoorOptions: HttpDoorOptions = {
  allowedHosts: local,
  allowedOrigins: local,
  maxBodyBytes: 4 << 20,
  maxModelBodyBytes: 32 << 20,
  bodyStallMs: defaultLimits.bodyStallMs,
  maxNameChars: 256,
  maxStreams: 100,
  maxStreamsEach: 20,
  streamEveryMs: 250,
  streamPage: 100,
  heartbeatMs: 15_000,
  slowReaderMs: 10_000,
  drainMs: 10_000,
};
