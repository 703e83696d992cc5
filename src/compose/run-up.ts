/**
 * Runs a project behind one address: every tool at /mcp, each workflow at /mcp/<workflow>. Listens from the first moment and
 * says that it is not ready until it is. Must not print, and must not decide anything about a call.
 */
import type { Server } from 'node:http';
import path from 'node:path';
import type { Problem } from '../config/problem.ts';
import type { McpHttpHandler } from '../doors/mcp/http-handler.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Project } from './load-project.ts';
import { type Address, allowedHosts, configuredAddress, listenAt, readAddress } from './run-address.ts';
import { createFront, type Front, type Ready } from './run-front.ts';
import { keepOpen, type LastingGateway } from './serve-gateway.ts';
import { type OpenForServing, type Refused, refusalOf, serversOf, servingOptions } from './serve-options.ts';

export interface UpOrder {
  readonly config: string | undefined;
  readonly file: string | undefined;
  readonly agent: string;
  /** `host:port`, as it was written. */
  readonly listen: string | undefined;
  readonly version: string;
  readonly onNotice: Notifier;
  readonly onListening: (url: string, isLocal: boolean) => void;
  readonly onReady: (ready: Ready) => void;
  readonly onSuccession: (role: string) => void;
  readonly onTrouble: (problem: string) => void;
  /** Calls back when the person ends it; returns how to stop listening. */
  readonly onStop: (callback: () => void) => () => void;
}

export type UpEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  | { readonly kind: 'bad_listen' }
  | { readonly kind: 'no_address'; readonly message: string }
  | Refused;

const defaultAddress: Address = { host: '127.0.0.1', port: 7_411 };
const toolsPath = '/mcp';
/** Whoever ends it while it starts does not wait for servers that hang. */
const startsStoppedWithinMs = 2_000;

export async function runUp(order: UpOrder, open: OpenForServing): Promise<UpEnd> {
  const listen = order.listen === undefined ? undefined : readAddress(order.listen);
  if (listen === null) return { kind: 'bad_listen' };
  const address = listen ?? (await configuredAddress(order.config)) ?? defaultAddress;
  const front = createFront(order.version);
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
    await serveUntil(stopped.promise, started, { order, front, url, host: address.host });
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
  readonly project: Project;
  readonly gateway: LastingGateway;
}

type Start = Started | { readonly problems: readonly Problem[] };

/** What takes long is loaded here, after the address is open. */
async function start(order: UpOrder, open: OpenForServing): Promise<Start> {
  const { loadProject } = await import('./load-project.ts');
  const file = order.config === undefined ? {} : { file: order.config };
  const loaded = await loadProject({ cwd: process.cwd(), ...file });
  if (!loaded.ok) return { problems: loaded.problems };
  const { project } = loaded;
  const options = servingOptions(project, serversOf(project.config), order);
  const gateway = await keepOpen({
    open: () => open(options),
    file: options.file,
    onSuccession: order.onSuccession,
    onFailure: order.onTrouble,
  });
  return { project, gateway };
}

async function undo(started: Start): Promise<void> {
  if ('gateway' in started) await started.gateway.close({ drain_seconds: 0 });
}

interface Stage {
  readonly order: UpOrder;
  readonly front: Front;
  readonly url: string;
  readonly host: string;
}

async function serveUntil(
  stopped: Promise<unknown>,
  { project, gateway }: Started,
  { order, front, url, host }: Stage,
): Promise<void> {
  const [{ validateHostHeader }, { createHttpHandler }, { openMcpDoor }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('../doors/mcp/http-handler.ts'),
    import('./serve-door.ts'),
  ]);
  const who = { tenant: 'default', agent: order.agent };
  const names = [null, ...project.workflows.map(({ name }) => name)];
  const hosts = allowedHosts(host);
  const handlers = new Map<string, McpHttpHandler>();
  for (const workflow of names) {
    const at = workflow === null ? toolsPath : `${toolsPath}/${encodeURIComponent(workflow)}`;
    const door = openMcpDoor({ version: order.version, who, workflow, mode: 'step' }, gateway);
    handlers.set(at, createHttpHandler(door, { path: at, allowedHosts: hosts, allowedOrigins: hosts }));
  }
  const { file } = servingOptions(project, [], order);
  const ready = (): Ready => {
    const { gateway: opened, upstreams } = gateway.current();
    return {
      file: path.resolve(file),
      role: opened.role,
      upstreams: (upstreams.servers?.status() ?? []).map(({ name, state, tools, problem }) => {
        return { name, state, tools, problem };
      }),
      tools: upstreams.catalogue().size,
      url: `${url}${toolsPath}`,
      workflows: project.workflows.map(({ name }) => {
        return { name, url: `${url}${toolsPath}/${encodeURIComponent(name)}` };
      }),
    };
  };
  front.open({ handlers, isOurs: (name) => validateHostHeader(name, [...hosts]).ok, ready });
  order.onReady(ready());
  await stopped;
  front.close();
  await Promise.all([...handlers.values()].map((handler) => handler.close()));
  await gateway.close();
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs));
}
