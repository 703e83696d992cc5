/** Which options does a gateway get from a project, and which of the project's servers are needed? Starts nothing. */
import type { MountedWorkflow } from '../adapters/upstream-function/mount.ts';
import type { McpUpstreamConfig } from '../adapters/upstream-mcp/mcp-config.ts';
import type { Config } from '../config/config.ts';
import { isObject } from '../core/json.ts';
import type { Limits } from '../core/limits.ts';
import type { Notifier } from '../ports/notifier.ts';
import { GatewayError } from '../core/gateway-error.ts';
import type { Project } from './load-project.ts';
import type { OpenedGateway } from './serve-gateway.ts';

/** What the composition root opens a gateway with. */
export interface ServingOptions {
  readonly tools: readonly [];
  readonly workflows: readonly MountedWorkflow[];
  readonly servers: readonly McpUpstreamConfig[];
  readonly file: string;
  readonly agent: string;
  readonly limits: Partial<Limits>;
  readonly onNotice: Notifier;
}

export type OpenForServing = (options: ServingOptions) => Promise<OpenedGateway>;

export interface Who {
  /** The store that the command line or the environment names. */
  readonly file: string | undefined;
  readonly agent: string;
  readonly onNotice: Notifier;
}

const defaultStore = 'recourse.db';

export function servingOptions(project: Project, servers: readonly McpUpstreamConfig[], who: Who): ServingOptions {
  const { runtime } = project.config;
  return {
    tools: [],
    workflows: project.workflows,
    servers,
    file: who.file ?? runtime.store ?? defaultStore,
    agent: who.agent,
    limits: runtime.limits,
    onNotice: who.onNotice,
  };
}

/** What is written about a server is what its adapter wants to know. */
export function serversOf({ tools }: Config): readonly McpUpstreamConfig[] {
  return tools.map(({ name, connect, timeoutMs, trustAnnotations, rules }) => {
    return { name, connect, timeoutMs, trustAnnotations, rules };
  });
}

/**
 * A workflow that is written in the configuration needs the servers that its actions name. A module needs all of them: its bodies
 * may call any tool. `asked` is a name in the configuration or the path of a module, which is nobody's name.
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

/** The gateway cannot be opened: through the configuration, or through the store. */
export interface Refused {
  readonly kind: 'refused';
  readonly because: 'configuration' | 'store';
  readonly message: string;
}

const ofDefinitions = ['McpConfigError', 'ToolDefinitionError', 'WorkflowDefinitionError'];

/** Null for a bug of ours. */
export function refusalOf(error: unknown): Refused | null {
  if (error instanceof GatewayError) {
    const because = error.reason === 'bad_options' ? 'configuration' : 'store';
    return { kind: 'refused', because, message: error.message };
  }
  if (!(error instanceof Error) || !ofDefinitions.includes(error.name)) return null;
  return { kind: 'refused', because: 'configuration', message: error.message };
}
