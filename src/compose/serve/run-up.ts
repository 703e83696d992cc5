/**
 * Runs a project at one address: all tools at /mcp, each workflow and each server at /mcp/<name>, the API at /v1.
 * Listens from the first moment and answers "not ready" until it is. Must not print, and must not decide anything
 * about a call.
 */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import path from 'node:path';
import type { Problem } from '../../config/problem.ts';
import { defaultLimits } from '../../core/limits.ts';
import { boundConnections, type BoundConnections } from '../../doors/http/bound-connections.ts';
import { createConsoleDoor } from '../../doors/console/console-door.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { type Address, allowedHosts, configuredAddress, isLoopback, listenAt, readAddress } from './address.ts';
import { consoleLink, createConsoleFiles } from '../console/load-console.ts';
import type { Ready } from './ready.ts';
import { createRouter, type Router } from './route-requests.ts';
import { expectedStore, storeOfProject } from '../state/find-store.ts';
import { createGovernance, type Governance, type RecordedChange } from './governance.ts';
import { errorsBeside, judgeStart, recordChange } from '../improvement/record-change.ts';
import { liveRecovery } from '../upstreams/tool-recovery.ts';
import { driftFromLock, liveTools } from '../upstreams/list-servers.ts';
import { openIdentity, type OpenIdentity } from '../state/authenticate.ts';
import type { Served } from './open-mcp-door.ts';
import { keepOpen, type LastingGateway } from './keep-open.ts';
import {
  beginning,
  type OpenForServing,
  type Refused,
  refusalOf,
  serversOf,
  servingOptions,
} from '../project/serve-options.ts';
import { createServerReporter, lastWords, type ServerReporter, summarizeServer } from '../upstreams/report-servers.ts';
import type { Project } from '../project/load-project.ts';
import type { Running } from '../extensions/start-extensions.ts';
import { openWith, startForProject } from '../extensions/start-for-project.ts';
import { noticesOf } from '../extensions/use-extensions.ts';

export interface UpOrder {
  readonly config: string | undefined;
  readonly file: string | undefined;
  /** Start with a new store although there was one. */
  readonly newStore: boolean;
  /** Requests without a key are this agent's; null refuses them. */
  readonly openAs: string | null;
  readonly mode: Served['mode'];
  /** Start in spite of errors of `recourse check`, which are recorded. */
  readonly force: boolean;
  /** `host:port`, as it was written. */
  readonly listen: string | undefined;
  readonly version: string;
  readonly onNotice: Notifier;
  readonly onListening: (url: string, isLocal: boolean) => void;
  readonly onReady: (ready: Ready) => void;
  /** It takes longer than `cold_start_grace`. */
  readonly onSlowStart: (seconds: number, starting: readonly string[]) => void;
  readonly onSuccession: (role: string) => void;
  readonly onTrouble: (problem: string) => void;
  /** Calls back when the process should stop; returns a function that removes the callback. */
  readonly onStop: (callback: () => void) => () => void;
}

export type UpEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[]; readonly forcible: boolean }
  | { readonly kind: 'bad_listen' }
  /** Without keys only on this machine. */
  | { readonly kind: 'not_local' }
  | { readonly kind: 'no_address'; readonly message: string }
  | Refused;

const defaultAddress: Address = { host: '127.0.0.1', port: 7_411 };
const defaultGraceMs = 5_000;
/** A stop during the start does not wait for servers that hang. */
const startsStoppedWithinMs = 2_000;

export async function runUp(order: UpOrder, open: OpenForServing): Promise<UpEnd> {
  const listen = order.listen === undefined ? undefined : readAddress(order.listen);
  if (listen === null) return { kind: 'bad_listen' };
  const address = listen ?? (await configuredAddress(order.config)) ?? defaultAddress;
  if (order.openAs !== null && !isLoopback(address.host)) return { kind: 'not_local' };
  const router = createRouter(createConsoleDoor(createConsoleFiles(), allowedHosts(address.host)));
  const listening = await listenAt(address, router.handle);
  if ('problem' in listening) return { kind: 'no_address', message: listening.problem };
  const { server, url, isLocal } = listening;
  const connections = boundConnections(defaultLimits);
  connections.watch(server);
  const stopped = Promise.withResolvers<'stopped'>();
  const stopListening = order.onStop(() => stopped.resolve('stopped'));
  // Only now: a reader of this line may stop the process at once.
  order.onListening(url, isLocal);
  try {
    const starting = start(order, open);
    const started = await Promise.race([starting, stopped.promise]);
    if (started === 'stopped') {
      router.close();
      await Promise.race([starting.then(undo), pause(startsStoppedWithinMs)]);
      return { kind: 'ended' };
    }
    if ('problems' in started) return { kind: 'problems', ...started };
    await serveUntil(stopped.promise, started, { order, router, server, connections, url, host: address.host });
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
  readonly reporter: ServerReporter;
  readonly tools: EventEmitter<{ changed: [] }>;
  readonly running: Running;
  readonly file: string;
}

type Start = Started | { readonly problems: readonly Problem[]; readonly forcible: boolean };

/** Loads what takes long, after the address is open. */
async function start(order: UpOrder, open: OpenForServing): Promise<Start> {
  let reporter: ServerReporter | null = null;
  const slow = setTimeout(() => order.onSlowStart(defaultGraceMs / 1_000, reporter?.starting() ?? []), defaultGraceMs);
  try {
    const { loadProject } = await import('../project/load-project.ts');
    const named = order.config === undefined ? {} : { file: order.config };
    const storeOf = expectedStore(order);
    const load = () => loadProject({ cwd: process.cwd(), storeOf, ...named });
    const loaded = await load();
    if (!loaded.ok) return { problems: loaded.problems, forcible: false };
    const { project } = loaded;
    const { checkErrors } = await import('../project/check-errors.ts');
    const errors = [...checkErrors(project)];
    if (errors.length > 0 && !order.force) return { problems: errors, forcible: true };
    const { coldStartGraceMs } = project.config.runtime;
    if (coldStartGraceMs > defaultGraceMs) clearTimeout(slow);
    let gateway: LastingGateway | null = null;
    const record = async (change: RecordedChange) => gateway !== null && recordChange(change, gateway, order.onTrouble);
    const errorsIn = async (next: Project) => (gateway === null ? checkErrors(next) : errorsBeside(next, gateway));
    const governance = createGovernance(project, { load, errorsIn, record }, errors);
    const file = await storeOfProject(project, order.file, order.onTrouble);
    const running = await startForProject(project, order.onNotice);
    if ('problems' in running) return { ...running, forcible: false };
    const who = { file, agent: order.openAs ?? 'local', onNotice: order.onNotice };
    reporter = createServerReporter(order.onTrouble);
    const tools = new EventEmitter<{ changed: [] }>();
    const serving = servingOptions(project, serversOf(project.config), who);
    const options = {
      ...serving,
      running,
      policy: governance.current,
      recovery: liveRecovery(governance.project),
      onServer: reporter.hear,
      onTools: () => void tools.emit('changed'),
    };
    const opened = () =>
      keepOpen({
        open: (again) => open({ ...options, begin: beginning(order.newStore, again) }),
        file: options.file,
        onSuccession: order.onSuccession,
        onFailure: order.onTrouble,
      });
    gateway = await openWith(running, opened);
    try {
      const stops = await judgeStart(project, errors, { gateway, force: order.force, onTrouble: order.onTrouble });
      if (stops.length > 0) {
        await gateway.close({ drain_seconds: 0 });
        return { problems: stops, forcible: true };
      }
      const openAs = order.openAs === null ? null : { tenant: 'default', agent: order.openAs };
      const identity = await openIdentity({ store: options.file, openAs, onTrouble: order.onTrouble });
      return { governance, gateway, identity, reporter, tools, running, file: options.file };
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
  readonly router: Router;
  readonly server: Server;
  readonly connections: BoundConnections;
  readonly url: string;
  readonly host: string;
}

async function serveUntil(
  stopped: Promise<unknown>,
  { governance, gateway, identity, reporter, tools, running, file }: Started,
  { order, router, server, connections, url, host }: Stage,
): Promise<void> {
  const [{ openDoors, toolsPath }, { openNotices }] = await Promise.all([
    import('./open-doors.ts'),
    import('./open-notices.ts'),
  ]);
  const { workflows, warnings, policy, config } = governance.project();
  const doors = openDoors({ ...order, host, file, connections }, { gateway, governance, identity });
  const notices = await openNotices(
    { ...noticesOf(config.notify, running), store: file, onTrouble: order.onTrouble },
    gateway,
  );
  tools.on('changed', () => doors.toolsChanged());
  doors.guard(server);
  router.open(doors);
  const { gateway: opened, upstreams } = gateway.current();
  order.onReady({
    file: path.resolve(file),
    role: opened.role,
    upstreams: upstreams.status().map((status) => {
      return { ...summarizeServer(status), lastWords: lastWords(status) };
    }),
    tools: upstreams.catalogue().size,
    url: `${url}${toolsPath}`,
    api: `${url}/v1`,
    workflows: workflows.map(({ name }) => ({ name, url: `${url}${toolsPath}/${encodeURIComponent(name)}` })),
    mode: policy?.written.mode ?? null,
    agents: policy === null ? null : [...policy.agents.keys()],
    warnings,
    forced: governance.forced(),
    drift: driftFromLock(governance.project().config.lock, liveTools(upstreams)),
    openAs: order.openAs,
    operator: identity.operator,
    console: consoleLink(url, identity),
  });
  reporter.ready();
  await stopped;
  reporter.close();
  router.close();
  // Calls that outlive the gateway's drain are cancelled, and their callers get a reply before a door closes.
  await Promise.all([doors.close(doorsDrain), notices.close().then(() => gateway.close())]);
  await identity.close();
}

/** Longer than the gateway's drain, by the time that the last replies need. */
const doorsDrain = { drainMs: 15_000 };

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs));
}
