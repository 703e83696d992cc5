/** Builds the options of a gateway from a project, and selects the servers that it needs. Starts nothing. */
import type { Begin } from '../../adapters/store-sqlite/file/head-file.ts';
import type { MountedWorkflow } from '../../adapters/upstream-function/workflow/mount.ts';
import type { McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import type { HttpApi } from '../../adapters/upstream-http/http-api.ts';
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';
import type { Config } from '../../config/config.ts';
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import { isObject } from '../../core/values/json.ts';
import type { Limits } from '../../core/limits.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { type RecoveryConfig, recoveryOf } from '../upstreams/tool-recovery.ts';
import type { TicketRules } from '../../core/ticket/terms.ts';
import type { Hosted } from '../extensions/hosted-tools.ts';
import type { Running } from '../extensions/start-extensions.ts';
import { validatorsIn, type ValidatorOf } from '../extensions/validate-tools.ts';
import type { Project } from './load-project.ts';
import type { OpenedGateway } from '../serve/keep-open.ts';

/** What the composition root opens a gateway with. */
export interface ServingOptions {
  readonly tools: readonly [];
  readonly workflows: readonly MountedWorkflow[];
  readonly servers: readonly McpUpstreamConfig[];
  readonly apis: readonly HttpApi[];
  readonly hosted: readonly Hosted[];
  readonly validatorOf: ValidatorOf;
  /** Started by the process, which stops them. */
  readonly running?: Running;
  readonly models: readonly ModelProvider[];
  readonly credentials: readonly DeclaredCredential[];
  readonly file: string;
  readonly begin?: Begin;
  readonly agent: string;
  readonly limits: Partial<Limits>;
  readonly dns?: readonly string[] | undefined;
  readonly onNotice: Notifier;
  /** Asked for each call; absent without a policy. */
  readonly policy?: () => Policy | null;
  readonly recovery?: RecoveryConfig;
  readonly ticketRules?: TicketRules;
  /** The state of a server changed. */
  readonly onServer?: (status: UpstreamStatus) => void;
  /** The tools of servers changed. */
  readonly onTools?: () => void;
}

export type OpenForServing = (options: ServingOptions) => Promise<OpenedGateway>;

export interface Who {
  readonly file: string;
  readonly agent: string;
  readonly onNotice: Notifier;
}

/** Only the first opening may create a store; after that a missing store is lost. */
export const beginning = (newStore: boolean, again: boolean): Begin =>
  again ? 'never' : newStore ? 'anew' : 'if_none';

export function servingOptions(project: Project, servers: readonly McpUpstreamConfig[], who: Who): ServingOptions {
  return {
    tools: [],
    workflows: project.workflows,
    servers,
    apis: project.apis,
    hosted: project.config.hosted,
    validatorOf: validatorsIn(project.config),
    models: project.models,
    credentials: project.config.credentials,
    file: who.file,
    agent: who.agent,
    limits: project.config.runtime.limits,
    dns: project.config.runtime.dns,
    recovery: recoveryOf(project.config, project.models),
    ticketRules: project.config.tickets,
    onNotice: who.onNotice,
  };
}

/** Server configurations as the adapter takes them. */
export function serversOf({ tools, lock }: Config): readonly McpUpstreamConfig[] {
  return tools.map(({ name, connect, timeoutMs, trustAnnotations, rules, onError, names, egress }) => {
    const pinned = lock?.servers.get(name);
    const pinnedHints = pinned && new Map([...pinned].map(([tool, { annotations }]) => [tool, annotations]));
    const known = {
      pinnedHints: pinnedHints ?? null,
      ...(names === undefined ? {} : { names }),
      ...(egress === undefined ? {} : { egress }),
    };
    return { name, connect, timeoutMs, trustAnnotations, rules, onError, ...known };
  });
}

/**
 * A workflow that is written in the configuration needs the servers that its actions name. A module needs all of them:
 * its bodies may call any tool. `asked` is a name in the configuration or the path of a module, which is nobody's name.
 */
export function serversFor(asked: string, config: Config): readonly McpUpstreamConfig[] {
  const written = config.workflows.find(({ name }) => name === asked);
  if (written?.kind !== 'written') return serversOf(config);
  const actions = written.definition['actions'];
  const needed = new Set(Object.values(isObject(actions) ? actions : {}).map(serverOf));
  return serversOf(config).filter(({ name }) => needed.has(name));
}

function serverOf(action: unknown): string | null {
  const tool = isObject(action) ? action['tool'] : null;
  return typeof tool === 'string' ? (tool.split('/')[0] ?? null) : null;
}

/** The gateway cannot be opened because of the configuration or the store. */
export interface Refused {
  readonly kind: 'refused';
  readonly because: 'configuration' | 'store';
  readonly message: string;
}

const ofConfiguration = ['bad_options', 'extension'];

const ofDefinitions = ['McpConfigError', 'HttpConfigError', 'ToolDefinitionError', 'WorkflowDefinitionError'];

/** Null for a bug of ours. */
export function refusalOf(error: unknown): Refused | null {
  if (error instanceof GatewayError) {
    const because = ofConfiguration.includes(error.reason) ? 'configuration' : 'store';
    return { kind: 'refused', because, message: error.message };
  }
  if (!(error instanceof Error) || !ofDefinitions.includes(error.name)) return null;
  return { kind: 'refused', because: 'configuration', message: error.message };
}
