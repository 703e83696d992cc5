/**
 * Opens the doors that share one address, within the limits of the configuration: MCP at each of its paths, HTTP for everything
 * else. Must not listen, and must not decide anything about a call.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Principal } from '../../core/call/call.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { BoundConnections } from '../../doors/http/bound-connections.ts';
import { createHttpHandler, type McpHttpHandler } from '../../doors/mcp/http/http-handler.ts';
import { createSessionLimit } from '../../doors/mcp/http/session-limit.ts';
import { createCallCounts } from '../../shell/look/call-counts.ts';
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
  /** Whoever brings no key is this agent; null lets nobody in without one. */
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
  /** Answers, in the words of the doors, whatever on this server cannot be read as HTTP. */
  guard(server: Server): void;
  /** Tells the clients that servers have other tools than before. */
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
  for (const { at, ...what } of endpoints(workflows, config.tools)) {
    const door = openMcpDoor({ version, who, ...what, mode, seal, onReply }, gateway);
    handlers.set(at, createHttpHandler(door, { ...ofMcp, path: at }));
  }

  const http = openHttpDoor(
    {
      version,
      hosts,
      authenticate: identity.authenticate,
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

/** Every tool, each workflow, each server: no two of them have one name, or the configuration would be refused. */
export function endpoints(workflows: readonly Mounted[], servers: readonly Named[]): readonly Endpoint[] {
  const at = (name: string) => `${toolsPath}/${encodeURIComponent(name)}`;
  return [
    { at: toolsPath, workflow: null, server: null },
    ...workflows.map((workflow) => ({ at: at(workflow.name), workflow, server: null })),
    ...servers.map(({ name }) => ({ at: at(name), workflow: null, server: name })),
  ];
}
