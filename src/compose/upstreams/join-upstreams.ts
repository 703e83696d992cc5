/**
 * Combines functions, workflow bodies, HTTP APIs and MCP servers into one upstream, one validator and one catalogue for the
 * shell. Must not decide anything about a call.
 */
import { messageOf, nameOf } from '../../adapters/upstream-function/describe-throw.ts';
import { createFunctionUpstream, type FunctionUpstream } from '../../adapters/upstream-function/function-upstream.ts';
import type { Validate } from '../../adapters/upstream-function/workflow/bind-workflow.ts';
import type { MountedWorkflow } from '../../adapters/upstream-function/workflow/mount.ts';
import type { Tool } from '../../adapters/upstream-function/tool.ts';
import type { HttpApi } from '../../adapters/upstream-http/http-api.ts';
import type { McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import { defaultMcpLimits } from '../../adapters/upstream-mcp/mcp-limits.ts';
import type { McpUpstreams } from '../../adapters/upstream-mcp/mcp-upstreams.ts';
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';
import { createResolver } from '../../adapters/shared/node-resolver.ts';
import type { Catalogue, ToolEntry } from '../../core/call/catalogue.ts';
import type { Limits } from '../../core/limits.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import type { ModelStatus } from '../../core/model/model-status.ts';
import type { Workflow } from '../../core/workflow/workflow.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Upstream } from '../../ports/upstream.ts';
import type { Validator } from '../../ports/validator.ts';
import type { Hosted } from '../extensions/hosted-tools.ts';
import { joinHosted } from '../extensions/join-hosted.ts';
import type { Running } from '../extensions/start-extensions.ts';
import type { ToolValidation } from '../extensions/validate-tools.ts';
import { holdEgress } from './hold-egress.ts';
import { httpPartsOf } from './http-tool.ts';
import type { JoinedCredentials } from './join-credentials.ts';
import { joinApis, type JoinedApis, withRequest } from './join-apis.ts';
import { joinModels } from './join-models.ts';
import { reasonOf } from './report-servers.ts';

export interface Behind {
  readonly tools?: readonly Tool[];
  readonly workflows?: readonly MountedWorkflow[];
  readonly servers?: readonly McpUpstreamConfig[];
  readonly apis?: readonly HttpApi[];
  /** Providers of models. */
  readonly models?: readonly ModelProvider[];
  /** The state of a server changed. */
  readonly onServer?: ((status: UpstreamStatus) => void) | undefined;
  /** The tools of servers changed. */
  readonly onTools?: (() => void) | undefined;
  /** DNS servers that resolve names of hosts; without any, the system does. */
  readonly dns?: readonly string[] | undefined;
  /** Adds what the operator declares to a tool of a server. The same entry must give the same object. */
  readonly complete?: ((tool: ToolEntry) => ToolEntry) | undefined;
  /** Servers of kinds that extensions add, and those extensions. */
  readonly hosted?: readonly Hosted[] | undefined;
  readonly running?: Running | undefined;
  /** Puts validators of extensions before tools. */
  readonly validating?: ToolValidation['validate'] | undefined;
  /** The secrets of connections, and how they are hidden. */
  readonly credentials?: Pick<JoinedCredentials, 'connectWith' | 'hider'> | undefined;
}

export type Bound = { readonly workflows: ReadonlyMap<string, Workflow> } | { readonly problems: readonly string[] };

export interface Joined {
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly catalogue: () => Catalogue;
  readonly servers: McpUpstreams | null;
  /** Of models, in the order of the file. */
  readonly providers: readonly ModelProvider[];
  /** Of MCP servers and HTTP APIs. */
  status(): readonly UpstreamStatus[];
  /** Of providers of models. */
  models(): readonly ModelStatus[];
  /** All servers and APIs, connected or not; and those whose tools are listed without the server's name. */
  readonly serverNames: readonly string[];
  readonly bareServers: ReadonlySet<string>;
  /** Waits for the servers, then gives every workflow the tools it is bound to. */
  bind(): Promise<Bound>;
  close(): Promise<void>;
}

/** As authors and policies know it. */
const shownName = (tool: string): string => tool.replace(/^workflow:/, '');

/** The gateway starts without a server that has not answered by then; it may connect later. */
const serversReadyMs = 15_000;

/** `listsIn`: where lists of tools are kept from one process to the next. */
export async function joinUpstreams(
  behind: Behind,
  limits: Limits,
  notify: Notifier,
  listsIn: string | null = null,
): Promise<Joined> {
  const { tools = [], workflows: mounted = [] } = behind;
  const bodies = mounted.flatMap((workflow) => workflow.bodies);
  const functions = createFunctionUpstream([...tools, ...bodies], {
    defaultTimeoutMs: limits.defaultTimeoutMs,
    maxDepth: limits.maxDepth,
    onFrozen: ({ tools: names, forMs, ended }, thread) =>
      notify({ kind: 'body_blocks', tools: names.map(shownName), forMs, thread, ended }),
    onCrash: (names, error) => {
      const what = `what code of a workflow threw where nobody could catch it (${names.map(shownName).join(', ') || 'no step ran'})`;
      const reason = `${nameOf(error)}: ${messageOf(error)}; its thread was ended, and the next step gets a new one`;
      notify({ kind: 'suppressed', what, reason });
    },
  });
  const configs = behind.servers ?? [];
  const validate = (behind.validating ?? ((next) => next))(functions.validator.validate);
  const served = servedOf(behind);
  const { apis, models, hosted } = await joinSent(behind, limits, notify);
  const servers = configs.length === 0 ? null : await connect(configs, behind, { limits, notify, listsIn });
  // Known from the start, unlike the tools of servers.
  const sent = [apis, models, ...(hosted === null ? [] : [hosted])];
  const own = new Map([...ownEntries(tools, functions.catalogue), ...sent.flatMap((each) => [...each.catalogue])]);
  const catalogue = mergedCatalogue(own, servers, behind.complete ?? ((tool) => tool));
  const validators = new Map<string, Validate>();

  /** `isStarting`: a tool is missing whose server may still connect. */
  function bindAll(): { readonly bound: Bound; readonly isStarting: boolean } {
    const problems: string[] = [];
    const workflows = new Map<string, Workflow>();
    let isStarting = false;
    const why = whyMissing(servers, () => (isStarting = true));
    const defaults = { timeoutMs: limits.defaultTimeoutMs, validate, whyMissing: why };
    for (const workflow of mounted) {
      const taken = workflows.has(workflow.name);
      if (taken) problems.push(`workflow '${workflow.name}': its name is taken; give it another`);
      const bound = workflow.bind(catalogue(), defaults);
      if (!bound.ok) problems.push(...bound.problems);
      else {
        workflows.set(workflow.name, bound.workflow);
        validators.set(workflow.name, bound.validate);
      }
    }
    return { bound: problems.length > 0 ? { problems } : { workflows }, isStarting };
  }

  return {
    catalogue,
    servers,
    status: () => [...(servers?.status() ?? []), ...apis.status(), ...(hosted?.status() ?? [])],
    providers: behind.models ?? [],
    models: models.models,
    serverNames: served.map(({ name }) => name),
    bareServers: new Set(served.filter(({ names }) => names === 'bare').map(({ name }) => name)),
    upstream: routeCalls(functions, sent, servers),
    validator: {
      validate: (tool, args, step) => {
        const ofStep = step === null ? undefined : validators.get(step.workflow);
        return step === null || ofStep === undefined ? validate(tool, args, null) : ofStep(tool, args, step.context);
      },
    },
    async bind() {
      const [unloaded] = await Promise.all([functions.prepare(), servers?.ready(serversReadyMs)]);
      if (unloaded.length > 0) return { problems: unloaded };
      const soon = bindAll();
      if (servers === null || !soon.isStarting) return soon.bound;
      // A workflow needs its tools, so a server that is being installed gets more time.
      await servers.ready(defaultMcpLimits.firstConnectTimeoutMs - serversReadyMs);
      return bindAll().bound;
    },
    async close() {
      await Promise.all([servers?.close(), ...sent.map((each) => each.close())]);
      await functions.close();
    },
  };
}

/**
 * The tools of a server that is not connected are unknown: its status explains the problem better than "unknown name"
 * would.
 */
function whyMissing(servers: McpUpstreams | null, onStarting: () => void): (tool: string) => string | null {
  return (tool) => {
    const slash = tool.indexOf('/');
    const server = servers?.status().find(({ name }) => name === tool.slice(0, slash));
    if (server === undefined) return null;
    const { name, state, leftOut } = server;
    if (state === 'connecting') onStarting();
    if (state !== 'connected')
      return `server '${name}' is not connected: ${reasonOf(server) ?? 'it did not answer in time'}`;
    const out = leftOut.find((left) => left.tool === tool.slice(slash + 1));
    return out === undefined ? null : `server '${name}' lists it, and it is left out: ${out.reason}`;
  };
}

/** What is sent without a connection that is kept, and known from files. */
async function joinSent(behind: Behind, { defaultTimeoutMs }: Limits, notify: Notifier) {
  const { tools = [], apis = [], models = [], hosted = [], running, dns, credentials } = behind;
  const resolver = createResolver(dns);
  // Their schemas are judged like those of functions; only what is sent differs.
  const requests = tools.flatMap((each) => httpPartsOf(each) ?? []);
  const isHosting = running !== undefined && hosted.length > 0;
  return {
    hosted: isHosting ? joinHosted(hosted, running, defaultTimeoutMs, notify) : null,
    apis: await joinApis(apis, requests, defaultTimeoutMs, resolver),
    models: await joinModels(models, { resolver, credentials }),
  };
}

/** All servers, whatever they are. */
const servedOf = ({ servers = [], apis = [], models = [], hosted = [] }: Behind) => [
  ...servers,
  ...apis.map(({ target: { name }, names }) => ({ name, names })),
  ...models.map(({ name }) => ({ name, names: undefined })),
  ...hosted,
];

function routeCalls(
  functions: FunctionUpstream,
  sent: readonly Pick<JoinedApis, 'upstreamOf'>[],
  servers: McpUpstreams | null,
): Upstream {
  return {
    invoke: (attempt, signal, late) => {
      for (const each of sent) {
        const found = each.upstreamOf(attempt.tool);
        if (found !== null) return found.invoke(attempt, signal, late);
      }
      return functions.catalogue.has(attempt.tool) || servers === null
        ? functions.upstream.invoke(attempt, signal)
        : servers.upstream.invoke(attempt, signal, late);
    },
  };
}

/** The tools of the program, without the bodies of workflows. */
function ownEntries(tools: readonly Tool[], all: Catalogue): Catalogue {
  const entries = tools.flatMap((each) => {
    const entry = all.get(each.name);
    const request = httpPartsOf(each);
    return entry === undefined ? [] : [request === null ? entry : withRequest(entry, request)];
  });
  return new Map(entries.map((entry) => [entry.name, entry]));
}

/** Rebuilds the merged catalogue only when the tools of the servers changed. */
function mergedCatalogue(
  own: Catalogue,
  servers: McpUpstreams | null,
  complete: (tool: ToolEntry) => ToolEntry,
): () => Catalogue {
  const ours = new Map([...own].map(([name, tool]) => [name, complete(tool)] as const));
  if (servers === null) return () => ours;
  let theirs: Catalogue | null = null;
  let merged: Catalogue = ours;
  return () => {
    const now = servers.catalogue();
    if (now !== theirs) {
      theirs = now;
      merged = new Map([...ours, ...[...now].map(([name, tool]) => [name, complete(tool)] as const)]);
    }
    return merged;
  };
}

interface ConnectParts {
  readonly limits: Limits;
  readonly notify: Notifier;
  readonly listsIn: string | null;
}

const secretsOf = ({ credentials }: Behind) =>
  credentials && { connectWith: credentials.connectWith, hide: credentials.hider.hide };

/** Loaded only if there are servers: the MCP client is most of what a gateway loads. */
async function connect(
  configs: readonly McpUpstreamConfig[],
  behind: Behind,
  { limits, notify, listsIn }: ConnectParts,
): Promise<McpUpstreams> {
  const { createMcpUpstreams } = await import('../../adapters/upstream-mcp/mcp-upstreams.ts');
  const resolver = createResolver(behind.dns);
  const held = await holdEgress(configs, resolver, notify);
  const servers = createMcpUpstreams(held.configs, {
    defaultTimeoutMs: limits.defaultTimeoutMs,
    listsIn,
    resolver,
    ...secretsOf(behind),
    onState: (status) => behind.onServer?.(status),
    onChange: () => behind.onTools?.(),
  });
  return {
    ...servers,
    async close() {
      await servers.close();
      await held.close();
    },
  };
}
