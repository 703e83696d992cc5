/**
 * Runs a project behind one address: every tool at /mcp, each workflow at /mcp/<workflow>, the API at /v1. Listens from the first
 * moment and says that it is not ready until it is. Must not print, and must not decide anything about a call.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import path from 'node:path';
import type { Problem } from '../config/problem.ts';
import type { Principal } from '../core/call.ts';
import type { Reply } from '../core/reply.ts';
import type { McpHttpHandler } from '../doors/mcp/http-handler.ts';
import type { Notifier } from '../ports/notifier.ts';
import { createCallCounts } from '../shell/call-counts.ts';
import { type Address, allowedHosts, configuredAddress, isLoopback, listenAt, readAddress } from './run-address.ts';
import type { Ready } from './ready.ts';
import { createFront, type Front } from './run-front.ts';
import { createGovernance, type Governance } from './governance.ts';
import { openIdentity, type OpenIdentity } from './open-identity.ts';
import { createSeal } from './seal.ts';
import type { Served } from './serve-door.ts';
import { keepOpen, type LastingGateway } from './serve-gateway.ts';
import { type OpenForServing, type Refused, refusalOf, serversOf, servingOptions } from './serve-options.ts';
import { tellServer } from './tell-server.ts';

export interface UpOrder {
  readonly config: string | undefined;
  readonly file: string | undefined;
  /** Whoever brings no key is this agent; null lets nobody in without one. */
  readonly openAs: string | null;
  readonly mode: Served['mode'];
  /** `host:port`, as it was written. */
  readonly listen: string | undefined;
  readonly version: string;
  readonly onNotice: Notifier;
  readonly onListening: (url: string, isLocal: boolean) => void;
  readonly onReady: (ready: Ready) => void;
  /** It takes longer than `cold_start_grace`. */
  readonly onSlowStart: (seconds: number) => void;
  readonly onSuccession: (role: string) => void;
  readonly onTrouble: (problem: string) => void;
  /** Calls back when the person ends it; returns how to stop listening. */
  readonly onStop: (callback: () => void) => () => void;
}

export type UpEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  | { readonly kind: 'bad_listen' }
  /** Without keys only on this machine. */
  | { readonly kind: 'not_local' }
  | { readonly kind: 'no_address'; readonly message: string }
  | Refused;

const defaultAddress: Address = { host: '127.0.0.1', port: 7_411 };
const modeNotices = {
  audit: 'AUDIT MODE from here on: policy is recorded and NOT enforced; every call that it denies runs.',
  enforce: 'policy is enforced from here on.',
} as const;
const toolsPath = '/mcp';
const defaultGraceMs = 5_000;
/** Whoever ends it while it starts does not wait for servers that hang. */
const startsStoppedWithinMs = 2_000;

export async function runUp(order: UpOrder, open: OpenForServing): Promise<UpEnd> {
  const listen = order.listen === undefined ? undefined : readAddress(order.listen);
  if (listen === null) return { kind: 'bad_listen' };
  const address = listen ?? (await configuredAddress(order.config)) ?? defaultAddress;
  if (order.openAs !== null && !isLoopback(address.host)) return { kind: 'not_local' };
  const front = createFront();
  const listening = await listenAt(address, front.handle);
  if ('problem' in listening) return { kind: 'no_address', message: listening.problem };
  const { server, url, isLocal } = listening;
  const stopped = Promise.withResolvers<'stopped'>();
  const stopListening = order.onStop(() => stopped.resolve('stopped'));
  // Only now: whoever reads it may end it at once.
  order.onListening(url, isLocal);
  try {
    const starting = start(order, open);
    const started = await Promise.race([starting, stopped.promise]);
    if (started === 'stopped') {
      front.close();
      await Promise.race([starting.then(undo), pause(startsStoppedWithinMs)]);
      return { kind: 'ended' };
    }
    if ('problems' in started) return { kind: 'problems', problems: started.problems };
    await serveUntil(stopped.promise, started, { order, front, server, url, host: address.host });
    return { kind: 'ended' };
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === null) throw error;
    return refused;
  } finally {
    stopListening();
    closeServer(server);
  }
}

interface Started {
  readonly governance: Governance;
  readonly gateway: LastingGateway;
  readonly identity: OpenIdentity;
  readonly file: string;
}

type Start = Started | { readonly problems: readonly Problem[] };

/** What takes long is loaded here, after the address is open. */
async function start(order: UpOrder, open: OpenForServing): Promise<Start> {
  const slow = setTimeout(() => order.onSlowStart(defaultGraceMs / 1_000), defaultGraceMs);
  try {
    const { loadProject } = await import('./load-project.ts');
    const named = order.config === undefined ? {} : { file: order.config };
    const load = () => loadProject({ cwd: process.cwd(), ...named });
    const loaded = await load();
    if (!loaded.ok) return { problems: loaded.problems };
    const { project } = loaded;
    const { coldStartGraceMs } = project.config.runtime;
    if (coldStartGraceMs > defaultGraceMs) clearTimeout(slow);
    let gateway: LastingGateway | null = null;
    const record: Parameters<typeof createGovernance>[1]['record'] = async (next, last, by) => {
      const { recordPolicy } = await import('../shell/record-policy.ts');
      const recorded = gateway !== null && (await recordPolicy(next, last, by, gateway.current().shell));
      // Whoever watches the process hears it as loudly as at its start, and when it is over.
      if (recorded && next.written.mode !== last?.written.mode) order.onTrouble(modeNotices[next.written.mode]);
      return recorded;
    };
    const governance = createGovernance(project, { load, record });
    const who = { file: order.file, agent: order.openAs ?? 'local', onNotice: order.onNotice };
    const options = { ...servingOptions(project, serversOf(project.config), who), policy: governance.current };
    gateway = await keepOpen({
      open: () => open(options),
      file: options.file,
      onSuccession: order.onSuccession,
      onFailure: order.onTrouble,
    });
    try {
      const openAs = order.openAs === null ? null : { tenant: 'default', agent: order.openAs };
      const identity = await openIdentity({ store: options.file, openAs, onTrouble: order.onTrouble });
      return { governance, gateway, identity, file: options.file };
    } catch (error) {
      await gateway.close({ drain_seconds: 0 });
      throw error;
    }
  } finally {
    clearTimeout(slow);
  }
}

async function undo(started: Start): Promise<void> {
  if (!('gateway' in started)) return;
  await started.gateway.close({ drain_seconds: 0 });
  await started.identity.close();
}

interface Stage {
  readonly order: UpOrder;
  readonly front: Front;
  readonly server: Server;
  readonly url: string;
  readonly host: string;
}

async function serveUntil(
  stopped: Promise<unknown>,
  { governance, gateway, identity, file }: Started,
  { order, front, server, url, host }: Stage,
): Promise<void> {
  const [{ createHttpHandler }, { openMcpDoor }, { openHttpDoor }, { openWebhooks }] = await Promise.all([
    import('../doors/mcp/http-handler.ts'),
    import('./serve-door.ts'),
    import('./open-http-door.ts'),
    import('./open-webhooks.ts'),
  ]);
  const { workflows, warnings, policy } = governance.project();
  const names = [null, ...workflows.map(({ name }) => name)];
  const hosts = allowedHosts(host);
  const handlers = new Map<string, McpHttpHandler>();
  const who = { tenant: 'default', agent: order.openAs ?? 'local' };
  const counts = createCallCounts();
  const onReply = (reply: Reply, { tenant }: Principal) => counts.count(reply, tenant);
  const seal = createSeal(file, order.onTrouble);
  for (const workflow of names) {
    const at = workflow === null ? toolsPath : `${toolsPath}/${encodeURIComponent(workflow)}`;
    const served = { version: order.version, who, workflow, mode: order.mode, seal, onReply };
    const door = openMcpDoor(served, gateway);
    const options = { path: at, allowedHosts: hosts, allowedOrigins: hosts, authenticate: identity.agentOf };
    handlers.set(at, createHttpHandler(door, options));
  }
  const clock = { startedAtMs: Date.now(), nowMs: () => Date.now() };
  const http = openHttpDoor(
    { version: order.version, hosts, authenticate: identity.authenticate, counts, ...clock },
    gateway,
    governance,
  );
  const others = {
    handle(request: IncomingMessage, response: ServerResponse) {
      if (!http.handle(request, response)) http.handleUnknown(request, response);
    },
  };
  const hooks = governance.project().config.notify;
  const webhooks = await openWebhooks({ hooks, store: file, onTrouble: order.onTrouble }, gateway);
  http.guard(server);
  front.open({ handlers, http: others });
  const { gateway: opened, upstreams } = gateway.current();
  order.onReady({
    file: path.resolve(file),
    role: opened.role,
    upstreams: (upstreams.servers?.status() ?? []).map((status) => {
      return { ...tellServer(status), lastWords: status.stderr.slice(-maxLastWords) };
    }),
    tools: upstreams.catalogue().size,
    url: `${url}${toolsPath}`,
    api: `${url}/v1`,
    workflows: workflows.map(({ name }) => ({ name, url: `${url}${toolsPath}/${encodeURIComponent(name)}` })),
    mode: policy?.written.mode ?? null,
    agents: policy === null ? null : [...policy.agents.keys()],
    warnings,
    openAs: order.openAs,
    operator: identity.operator,
  });
  await stopped;
  front.close();
  // One wait for all: what has not ended when the gateway's is over is cancelled there, and its caller hears so before a door closes.
  const doors = [http.close(doorsDrain), ...[...handlers.values()].map((handler) => handler.close(doorsDrain))];
  await Promise.all([...doors, webhooks.close().then(() => gateway.close())]);
  await identity.close();
}

/** The lines that mostly say why a server did not start. */
const maxLastWords = 3;

/** Longer than a gateway waits for its calls, by the time that their last words need. */
const doorsDrain = { drainMs: 15_000 };

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs));
}
