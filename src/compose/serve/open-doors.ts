/**
 * Opens the doors that share one address: MCP at each of its paths, HTTP for everything else, within the configured
 * limits. Must not listen, and must not decide anything about a call.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Principal } from '../../core/call/call.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { BoundConnections } from '../../doors/http/bound-connections.ts';
import { createHttpHandler, type McpHttpHandler } from '../../doors/mcp/http/http-handler.ts';
import { createSessionLimit } from '../../doors/mcp/http/session-limit.ts';
import { createCallCounts } from '../../shell/look/counts.ts';
import type { Governance } from './governance.ts';
import { openHttpDoor } from './open-http-door.ts';
import type { OpenIdentity } from '../state/authenticate.ts';
import { allowedHosts } from './address.ts';
import type { RoutedDoors } from './route-requests.ts';
import { createSeal } from '../state/seal.ts';
import { openMcpDoor, type Served, type Mounted } from './open-mcp-door.ts';
import type { LastingGateway } from './keep-open.ts';

export interface DoorsOrder {
  readonly version: string;
  /** Requests without a key are this agent's; null refuses them. */
  readonly openAs: string | null;
  readonly mode: Served['mode'];
  readonly onTrouble: (problem: string) => void;
  readonly host: string;
  /** The store. */
  readonly file: string;
  readonly connections: BoundConnections;
}

export interface Behind {
  readonly gateway: LastingGateway;
  readonly governance: Governance;
  readonly identity: OpenIdentity;
}

export interface OpenDoors extends RoutedDoors {
  /** Answers what this server cannot parse as HTTP, in the format of the doors. */
  guard(server: Server): void;
  /** Notifies the clients that the tools of servers changed. */
  toolsChanged(): void;
  close(options: { readonly drainMs: number }): Promise<void>;
}

export function openDoors(order: DoorsOrder, { gateway, governance, identity }: Behind): OpenDoors {
  const { version, mode, onTrouble, file, connections } = order;
  const hosts = allowedHosts(order.host);
  const counts = createCallCounts();
  const { limits } = gateway.current().shell;
  const { bodyStallMs, maxMcpSessions: maxSessions, maxMcpSessionsPerAgent: maxSessionsPerAgent } = limits;
  connections.limit(limits);
  const admit = ({ socket }: IncomingMessage, tenant: string, name: string) =>
    connections.admit(socket, JSON.stringify([tenant, name]));

  const handlers = new Map<string, McpHttpHandler>();
  const who = { tenant: 'default', agent: order.openAs ?? 'local' };
  const ofMcp = {
    allowedHosts: hosts,
    allowedOrigins: hosts,
    authenticate: identity.agentOf,
    admit: (request: IncomingMessage, { tenant, agent }: Principal) => admit(request, tenant, agent),
    sessionLimit: createSessionLimit({ maxSessions, maxSessionsPerAgent }),
    bodyStallMs,
  };
  const seal = createSeal(file, onTrouble);
  const onReply = (reply: Reply, { tenant }: Principal) => counts.count(reply, tenant);
  const { workflows, config } = governance.project();
  for (const { at, ...what } of endpoints(workflows, [...config.tools, ...config.apis, ...config.hosted])) {
    const door = openMcpDoor({ version, who, ...what, mode, seal, onReply }, gateway);
    handlers.set(at, createHttpHandler(door, { ...ofMcp, path: at }));
  }

  const http = openHttpDoor(
    {
      version,
      hosts,
      authenticate: identity.authenticate,
      console: identity.console,
      admit: (request, { tenant, name }) => admit(request, tenant, name),
      counts,
      startedAtMs: Date.now(),
      nowMs: () => Date.now(),
      options: { bodyStallMs },
    },
    gateway,
    governance,
  );
  return {
    handlers,
    http: {
      handle(request: IncomingMessage, response: ServerResponse) {
        if (!http.handle(request, response)) http.handleUnknown(request, response);
      },
    },
    guard: (server) => http.guard(server),
    toolsChanged() {
      for (const handler of handlers.values()) handler.toolsChanged();
    },
    async close(options) {
      await Promise.all([http.close(options), ...[...handlers.values()].map((handler) => handler.close(options))]);
    },
  };
}

/** Every tool. */
export const toolsPath = '/mcp';

interface Named {
  readonly name: string;
}

export interface Endpoint extends Pick<Served, 'workflow' | 'server'> {
  readonly at: string;
}

/** All tools, each workflow, each server. Their names are unique, or the configuration is refused. */
export function endpoints(workflows: readonly Mounted[], servers: readonly Named[]): readonly Endpoint[] {
  const at = (name: string) => `${toolsPath}/${encodeURIComponent(name)}`;
  return [
    { at: toolsPath, workflow: null, server: null },
    ...workflows.map((workflow) => ({ at: at(workflow.name), workflow, server: null })),
    ...servers.map(({ name }) => ({ at: at(name), workflow: null, server: name })),
  ];
}
