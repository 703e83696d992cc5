/** The types of a configuration that was read. Plain data; durations are milliseconds. */
import type { ExtensionConfig, KindUse } from './extension/extension-config.ts';
import type { Catalogue } from '../core/call/catalogue.ts';
import type { Json, JsonObject } from '../core/values/json.ts';
import type { Limits } from '../core/limits.ts';
import type { DeclaredModels, ModelLimits } from '../core/model/model-provider.ts';
import type { Reach, WrittenPolicy } from '../core/policy/policy.ts';
import type { DeclaredRead } from '../core/evidence/declared-read.ts';
import type { DeclaredRecovery, OperationKey } from '../core/recovery/declared.ts';
import type { Reverse } from '../core/reversal/declared-reverse.ts';
import type { EffectClass } from '../core/taxonomy.ts';
import { defaultTicketRules, type TicketRules } from '../core/ticket/terms.ts';
import type { Lock } from './lock.ts';
import type { Place } from './problem.ts';
import type { WrittenCredential } from './read-credentials.ts';
import type { WorkflowConfig } from './workflow/workflow-config.ts';

export type { WorkflowConfig, WrittenConfig } from './workflow/workflow-config.ts';

/** The file name of the configuration. */
export const configName = 'recourse.yaml';

export interface Config {
  readonly runtime: RuntimeConfig;
  /** MCP servers, in the order in which they are written. */
  readonly tools: readonly ServerConfig[];
  /** HTTP APIs, likewise. */
  readonly apis: readonly ApiConfig[];
  /** Providers of models, likewise. */
  readonly models: readonly ModelsConfig[];
  /** The tools of HTTP APIs, once their documents were read, and of providers of models. */
  readonly declared: Catalogue;
  readonly workflows: readonly WorkflowConfig[];
  /** The policy; null if no file has the key `agents`. */
  readonly policy: WrittenPolicy | null;
  /** All keys of each agent, as written. */
  readonly agents: readonly AgentConfig[];
  readonly roles: JsonObject;
  readonly credentials: readonly WrittenCredential[];
  readonly notify: readonly NotifyConfig[];
  /** What is declared about recovery for all tools. */
  readonly playbook: WrittenRecovery;
  readonly tickets: TicketRules;
  readonly extensions: readonly ExtensionConfig[];
  /** Servers of kinds that extensions add, and every use of what those add. */
  readonly hosted: readonly HostedConfig[];
  readonly uses: readonly KindUse[];
  /** The tools as they were pinned; null without recourse.lock. */
  readonly lock: Lock | null;
}

/** What is declared about recovery at one level: the gateway, a server or a tool. */
export interface WrittenRecovery {
  readonly declared: DeclaredRecovery;
  /** Where each verdict of its playbook, and each other key, is written. A map, so that JSON does not show it. */
  readonly places: ReadonlyMap<string, Place>;
}

interface NotifyBase {
  readonly name: string;
  /** The events that it is notified about. */
  readonly events: readonly string[];
  /** Events within this time go into one message; 0 sends a message for each. */
  readonly batchMs: number;
  /** At most so many messages in each period. */
  readonly limit: { readonly messages: number; readonly perMs: number } | null;
  /** A link to the approval for a person; `{approval_id}` is replaced by its id. */
  readonly link: string | null;
}

/** A webhook, people who are told by mail, or a notifier of an extension. */
export type NotifyConfig = NotifyBase &
  (
    | {
        readonly via: 'webhook';
        readonly url: string;
        /** What its messages are signed with; null leaves them unsigned. */
        readonly secret: string | null;
        readonly format: NotifyFormat;
      }
    | { readonly via: 'smtp'; readonly server: string; readonly from: string; readonly to: readonly string[] }
    | { readonly via: 'extension'; readonly kind: string; readonly settings: JsonObject }
  );

/** A server of a kind that an extension adds. */
export interface HostedConfig {
  readonly name: string;
  readonly at: Place;
  readonly kind: string;
  readonly settings: JsonObject;
  readonly timeoutMs: number | null;
  readonly names?: 'bare';
  readonly rules: readonly (ToolRule & { readonly at: Place })[];
  readonly recovery?: WrittenRecovery;
}

export const notifyFormats = ['json', 'slack'] as const;
export type NotifyFormat = (typeof notifyFormats)[number];

export interface AgentConfig {
  readonly name: string;
  readonly at: Place;
  readonly written: JsonObject;
}

export interface RuntimeConfig {
  readonly mode: 'enforce' | 'audit';
  /** How long the gateway is expected to need until it is ready. */
  readonly coldStartGraceMs: number;
  readonly store: string | null;
  readonly listen: { readonly host: string; readonly port: number } | null;
  readonly limits: Partial<Limits>;
  /** DNS servers, in place of the system's. */
  readonly dns?: readonly string[];
}

/** A server whose tools become tools of the gateway. */
export interface ServerConfig {
  readonly name: string;
  readonly at: Place;
  readonly connect: Connection;
  readonly timeoutMs: number | null;
  readonly trustAnnotations: boolean;
  /** What an error answer of any of its tools proves about a write; null if nothing is written. */
  readonly onError: ErrorMeaning | null;
  /** The first match counts. */
  readonly rules: readonly ToolRule[];
  /** `bare` leaves the server out where its tools are listed over MCP. */
  readonly names?: 'bare';
  /** What its process may reach, and how it is held to that; absent if nothing is written. */
  readonly egress?: ServerEgress;
  /** Its playbook and its breaker; absent if nothing is written. */
  readonly recovery?: WrittenRecovery;
}

export const egressHolds = ['proxy', 'namespace'] as const;

export interface ServerEgress {
  readonly allow: readonly string[];
  readonly hold: (typeof egressHolds)[number];
}

export type Connection =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
    }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface ToolRule {
  /** A name; * stands for anything. */
  readonly match: string;
  readonly effect: EffectClass | null;
  readonly timeoutMs: number | null;
  readonly dedupeWindowMs: number | null;
  /** For a tool that answers at once and goes on working: by when it must report that it is done. */
  readonly reportsWithinMs: number | null;
  /** For ceilings; null if it follows from the effect. */
  readonly reach: Reach | null;
  /** Null: as its server. */
  readonly onError: ErrorMeaning | null;
  /** Absent if nothing is written. */
  readonly recovery?: WrittenRecovery;
  readonly operationKey?: WrittenOperationKey;
  readonly reverse?: { readonly declared: Reverse; readonly at: Place };
  /** The reads that its calls rely on; absent if none is written. */
  readonly evidence?: readonly DeclaredRead[];
  /** The validator of an extension; absent if none is written. */
  readonly validate?: string;
}

export interface WrittenOperationKey {
  readonly of: OperationKey;
  /** As it is written. */
  readonly declared: string;
}

/** An HTTP API whose operations become tools. */
export interface ApiConfig {
  readonly name: string;
  readonly at: Place;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | null;
  readonly names?: 'bare';
  readonly redirects: RedirectRule;
  readonly key: ApiKeyPlace;
  readonly conflicts: Readonly<Record<(typeof conflictNames)[number], readonly string[]>>;
  /** Those that are written. */
  readonly limits: ApiLimits;
  readonly openapi: OpenApiConfig | null;
  readonly tools: readonly ApiTool[];
  /** For the operations of its document; the first match counts. */
  readonly rules: readonly ApiRule[];
  readonly recovery?: WrittenRecovery;
}

/** A provider of models, whose operations become tools. */
export interface ModelsConfig {
  readonly name: string;
  readonly at: Place;
  readonly kind: string;
  /** Null: where its kind usually is. */
  readonly url: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | null;
  readonly limits: ModelLimits;
  readonly declared: DeclaredModels;
  /** Where its kind, each of its models and each alias are written. A map, so that JSON does not show it. */
  readonly places: ReadonlyMap<'kind' | `model ${string}` | `alias ${string}`, Place>;
  readonly recovery?: WrittenRecovery;
}

/** All that have tools under a name of their own. */
export const upstreamsIn = ({
  tools,
  apis,
  models,
  hosted,
}: Pick<Config, 'tools' | 'apis' | 'models' | 'hosted'>): readonly { readonly name: string; readonly at: Place }[] => [
  ...tools,
  ...apis,
  ...models,
  ...hosted,
];

export const redirectRules = ['none', 'same_origin', 'follow'] as const;
export type RedirectRule = (typeof redirectRules)[number];

export type ApiKeyPlace = { readonly kind: 'header' | 'field'; readonly name: string } | { readonly kind: 'none' };

export const conflictNames = ['in_flight', 'completed', 'mismatch', 'evidence'] as const;

export interface ApiLimits {
  readonly connectTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly maxRedirects?: number;
  readonly maxConnections?: number;
}

export interface OpenApiConfig {
  readonly at: Place;
  /** From the folder of the configuration. */
  readonly file: string;
  /** Names of operations, with *; empty for all. */
  readonly operations: readonly string[];
}

export type ApiRule = ToolRule & { readonly at: Place };

/** A tool that is written out, with its request. */
export interface ApiTool extends ApiRule {
  readonly description: string;
  readonly method: string;
  readonly path: string;
  /** Null: the arguments that nothing else uses. */
  readonly query: JsonObject | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json | undefined;
  /** Null: any arguments, with those of the path. */
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
}

/** What an error answer (`isError`) to a write proves: that nothing happened, or nothing. */
export const errorMeanings = ['none', 'unknown'] as const;
export type ErrorMeaning = (typeof errorMeanings)[number];

export const emptyConfig: Config = {
  runtime: { mode: 'enforce', coldStartGraceMs: 5_000, store: null, listen: null, limits: {} },
  tools: [],
  apis: [],
  models: [],
  declared: new Map(),
  workflows: [],
  policy: null,
  agents: [],
  roles: {},
  credentials: [],
  notify: [],
  playbook: { declared: {}, places: new Map() },
  tickets: defaultTicketRules,
  extensions: [],
  hosted: [],
  uses: [],
  lock: null,
};
