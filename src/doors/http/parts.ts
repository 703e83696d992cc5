/** What the HTTP door is given: the gateway behind it, as functions. It knows nobody else, and decides nothing. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Principal } from '../../core/call/call.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import type { Explanation } from '../../core/gates/explain.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import type { Identity } from '../../core/call/identity.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { Reach, WrittenPolicy } from '../../core/policy/policy.ts';
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { CodesOfClass, EffectClass } from '../../core/taxonomy.ts';
import type { ApprovalService } from '../../shell/approval/approval-service.ts';
import type { Requester } from '../../shell/call/await-outcome.ts';
import type { CallCount } from '../../shell/look/call-counts.ts';
import type { GapCount } from '../../shell/upkeep/runtime-gap.ts';
import type { TenantView } from '../../shell/look/tenant-view.ts';
import type { WorkflowService } from '../../shell/session/workflow-service.ts';

/** Why nobody is known by these headers. `malformed`: it is no bearer key. `unavailable`: the keys cannot be read now. */
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

/** One thing that is wrong with a configuration, and where. */
export interface ApplyProblem {
  readonly code: CodesOfClass<'Validation'>;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text?: string;
  readonly message: string;
  readonly fix: string;
}

/** `about` is told to whoever applied it: how many agents, what changed. */
export type Applied =
  | { readonly ok: true; readonly about?: JsonObject }
  /** `forcible`: only what is proven to be wrong stands against it. */
  | { readonly ok: false; readonly problems: readonly ApplyProblem[]; readonly forcible: boolean };

export interface StatusReport {
  readonly ready: boolean;
  readonly in_flight: number;
  readonly store: 'available' | 'unavailable';
  readonly uptime_seconds: number;
  readonly version: string;
  readonly gates: readonly { readonly gate: string; readonly configured: boolean }[];
  /** What happened beside the calls that policy decides, since the process began. */
  readonly gaps: readonly GapCount[];
  /** Whatever else an operator should see. */
  readonly [more: string]: unknown;
}

/** What /metrics tells; `inFlight`, `calls`, `gaps` and `approvalsPending` are of one tenant. */
export interface Measured {
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  readonly storeAvailable: boolean;
  readonly inFlight: number;
  readonly calls: readonly CallCount[];
  readonly gaps: readonly GapCount[];
  /** Null if the store cannot tell. */
  readonly approvalsPending: number | null;
  readonly upstreams: readonly { readonly name: string; readonly state: string }[];
}

export interface HttpDoorParts {
  authenticate(headers: IncomingHttpHeaders): Promise<Identity | Stranger>;
  /** Whether there is room for this connection of somebody who is known. */
  readonly admit?: ((request: IncomingMessage, who: Identity) => boolean) | undefined;
  readiness(): Readiness;
  /** False while something is known that keeps calls from being recorded. */
  canRecord(): boolean;
  /** For a refusal that is no call: it names itself like one. */
  newCallId(): string;
  call(raw: unknown, who: Principal, requester: Requester): Promise<Reply>;
  /** Refuses, on record, what cannot be made out to be one call. */
  unfit(errors: readonly FieldError[], who: Principal): Promise<Reply>;
  evaluate(raw: unknown, who: Principal): Promise<Explanation | ErrorReply>;
  /** A session in which tools are called directly; `ceiling` is how far they may reach. */
  openSession(who: Principal, ceiling: Reach | null): Promise<PlainSession | ErrorReply>;
  readonly workflows: WorkflowService;
  readonly view: TenantView;
  readonly approvals: ApprovalService;
  /** `{ session? }`: the agent says that it is done. */
  complete(raw: unknown, who: Principal): Promise<Reply>;
  /** Work that went on after its call is complete. */
  reportTask(callId: string, who: Principal): Promise<Reply>;
  tools(who: Principal): readonly ListedTool[];
  policy(): WrittenPolicy | null;
  /** `by`: who asked for it. `force`: also with errors that are proven. A failure changes nothing. */
  applyPolicy(by: Identity, force: boolean): Promise<Applied>;
  /** As this tenant sees it. */
  status(tenant: string): StatusReport;
  metrics(tenant: string): Promise<Measured>;
  /** An error that was ignored on purpose, for the operator. */
  notify(notice: { readonly kind: 'suppressed'; readonly what: string; readonly reason: string }): void;
}

export interface HttpDoorOptions {
  /** Names by which clients may call us, without ports. */
  readonly allowedHosts: readonly string[];
  /** Names of hosts whose pages may call us. */
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** A pause in a body that is longer ends the exchange. */
  readonly bodyStallMs: number;
  /** Characters of an id in a path, and of a value in a query. */
  readonly maxNameChars: number;
  /** Streams that are open at once: of everybody, and of one holder of keys. */
  readonly maxStreams: number;
  readonly maxStreamsEach: number;
  /** How often a stream looks for new records, and how many it reads at once. */
  readonly streamEveryMs: number;
  readonly streamPage: number;
  /** A stream says that it is alive, and asks again who listens. */
  readonly heartbeatMs: number;
  /** A reader of a stream that takes nothing for so long is cut off. */
  readonly slowReaderMs: number;
  /** How long exchanges under way may go on when the door closes. */
  readonly drainMs: number;
}

const local = ['localhost', '127.0.0.1', '[::1]'];

export const defaultHttpDoorOptions: HttpDoorOptions = {
  allowedHosts: local,
  allowedOrigins: local,
  maxBodyBytes: 4 << 20,
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
