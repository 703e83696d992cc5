/**
 * Puts together what stands behind the gateway: functions, bodies of workflows, MCP servers. One upstream, one validator and
 * one catalogue for the shell. Must not decide anything about a call.
 */
import { createFunctionUpstream } from '../adapters/upstream-function/function-upstream.ts';
import type { Validate } from '../adapters/upstream-function/bind-workflow.ts';
import type { MountedWorkflow } from '../adapters/upstream-function/mount.ts';
import type { Tool } from '../adapters/upstream-function/tool.ts';
import type { McpUpstreamConfig } from '../adapters/upstream-mcp/mcp-config.ts';
import type { McpUpstreams } from '../adapters/upstream-mcp/mcp-upstreams.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Limits } from '../core/limits.ts';
import type { Workflow } from '../core/workflow/workflow.ts';
import type { Upstream } from '../ports/upstream.ts';
import type { Validator } from '../ports/validator.ts';

export interface Behind {
  readonly tools?: readonly Tool[];
  readonly workflows?: readonly MountedWorkflow[];
  readonly servers?: readonly McpUpstreamConfig[];
}

export interface Joined {
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly catalogue: () => Catalogue;
  readonly servers: McpUpstreams | null;
  /** Waits for the servers, then gives every workflow the tools it is bound to. */
  bind(): Promise<{ readonly workflows: ReadonlyMap<string, Workflow> } | { readonly problems: readonly string[] }>;
  close(): Promise<void>;
}

/** A server that has not answered by then is started without; it may come later. */
const serversReadyMs = 15_000;

export async function joinUpstreams(behind: Behind, limits: Limits): Promise<Joined> {
  const tools = behind.tools ?? [];
  const mounted = behind.workflows ?? [];
  const bodies = mounted.flatMap((workflow) => workflow.bodies);
  const functions = createFunctionUpstream([...tools, ...bodies], { defaultTimeoutMs: limits.defaultTimeoutMs });
  const ownNames = new Set(tools.map(({ name }) => name));
  const own: Catalogue = new Map([...functions.catalogue].filter(([name]) => ownNames.has(name)));
  const configs = behind.servers ?? [];
  const servers = configs.length === 0 ? null : await connect(configs, limits);
  const catalogue = mergedCatalogue(own, servers);
  const validators = new Map<string, Validate>();
  return {
    catalogue,
    servers,
    upstream: {
      invoke: (attempt, signal) =>
        functions.catalogue.has(attempt.tool) || servers === null
          ? functions.upstream.invoke(attempt, signal)
          : servers.upstream.invoke(attempt, signal),
    },
    validator: {
      validate: (tool, args, step) => {
        const validate = step === null ? undefined : validators.get(step.workflow);
        return step === null || validate === undefined
          ? functions.validator.validate(tool, args, null)
          : validate(tool, args, step.context);
      },
    },
    async bind() {
      await servers?.ready(serversReadyMs);
      const problems: string[] = [];
      const workflows = new Map<string, Workflow>();
      const defaults = {
        timeoutMs: limits.defaultTimeoutMs,
        validate: functions.validator.validate,
        whyMissing: whyMissing(servers),
      };
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
      return problems.length > 0 ? { problems } : { workflows };
    },
    async close() {
      await servers?.close();
      await functions.close();
    },
  };
}

/** Of a server that is away nobody knows which tools it has: not the name is wrong then, and what is, its status says. */
function whyMissing(servers: McpUpstreams | null): (tool: string) => string | null {
  return (tool) => {
    const slash = tool.indexOf('/');
    const server = servers?.status().find(({ name }) => name === tool.slice(0, slash));
    if (server === undefined) return null;
    const { name, state, problem, leftOut } = server;
    if (state !== 'connected') return `server '${name}' is not connected: ${problem ?? 'it did not answer in time'}`;
    const out = leftOut.find((left) => left.tool === tool.slice(slash + 1));
    return out === undefined ? null : `server '${name}' lists it, and it is left out: ${out.reason}`;
  };
}

/** Servers come and go; the merged catalogue is made anew only when theirs changed. */
function mergedCatalogue(own: Catalogue, servers: McpUpstreams | null): () => Catalogue {
  if (servers === null) return () => own;
  let theirs: Catalogue | null = null;
  let merged: Catalogue = own;
  return () => {
    const now = servers.catalogue();
    if (now !== theirs) {
      theirs = now;
      merged = new Map([...own, ...now]);
    }
    return merged;
  };
}

/** Loaded only where there are servers: the client for them is most of what a gateway would load. */
async function connect(configs: readonly McpUpstreamConfig[], limits: Limits): Promise<McpUpstreams> {
  const { createMcpUpstreams } = await import('../adapters/upstream-mcp/mcp-upstreams.ts');
  return createMcpUpstreams(configs, { defaultTimeoutMs: limits.defaultTimeoutMs });
}
