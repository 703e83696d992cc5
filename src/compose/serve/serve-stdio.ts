/**
 * Serves one workflow or a whole project over standard input and output until the client disconnects or the process is
 * stopped. Only protocol messages go to standard output; whatever else is printed goes to standard error.
 */
import path from 'node:path';
import { Writable } from 'node:stream';
import type { Problem } from '../../config/problem.ts';
import { serveStdio } from '../../doors/mcp/stdio/serve-stream.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { uncoveredIn } from '../improvement/cover-project.ts';
import { checkErrors } from '../project/check-errors.ts';
import { expectedStore, storeOfProject } from '../state/find-store.ts';
import { driftFromLock, liveTools } from '../upstreams/list-servers.ts';
import { loadProject, type Project } from '../project/load-project.ts';
import { createSeal } from '../state/seal.ts';
import { type Mounted, openJointDoor, openMcpDoor } from './open-mcp-door.ts';
import { mustStart, openWith } from '../extensions/start-for-project.ts';
import { keepOpen, type LastingGateway } from './keep-open.ts';
import {
  beginning,
  type OpenForServing,
  type Refused,
  refusalOf,
  serversFor,
  serversOf,
  servingOptions,
  type ServingOptions,
} from '../project/serve-options.ts';
import { createServerReporter } from '../upstreams/report-servers.ts';

export interface ServeOrder {
  /** A name in the configuration, or the path of a module; null for every server and workflow of the configuration. */
  readonly workflow: string | null;
  readonly config: string | undefined;
  readonly file: string | undefined;
  /** Start with a new store although there was one. */
  readonly newStore: boolean;
  /** Null: the only declared agent. */
  readonly agent: string | null;
  readonly mode: 'step' | 'tools';
  readonly version: string;
  readonly onNotice: Notifier;
  readonly onServing: (serving: {
    readonly workflow: string | null;
    readonly file: string;
    readonly role: string;
  }) => void;
  readonly onTrouble: (problem: string) => void;
  /** Calls back when the process should stop; returns a function that removes the callback. */
  readonly onStop: (callback: () => void) => () => void;
}

export type ServeEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  | Refused;

export async function serveOverStdio(order: ServeOrder, open: OpenForServing): Promise<ServeEnd> {
  // Before the author's code is loaded, because it may print.
  const { output, giveBack } = takeStandardOutput();
  let stopped = false;
  let stop = (): void => void (stopped = true);
  const stopListening = order.onStop(() => stop());
  try {
    return await serve(order, open, output, {
      isStopped: () => stopped,
      onStop: (callback) => void (stop = callback),
    });
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === null) throw error;
    return refused;
  } finally {
    stopListening();
    giveBack();
  }
}

interface Stopping {
  readonly isStopped: () => boolean;
  readonly onStop: (callback: () => void) => void;
}

async function serve(
  order: ServeOrder,
  open: OpenForServing,
  output: Writable,
  { isStopped, onStop }: Stopping,
): Promise<ServeEnd> {
  const loaded = await loadProject({
    cwd: process.cwd(),
    storeOf: expectedStore({ file: order.file, config: order.config }),
    ...(order.workflow === null ? {} : { workflowArgument: order.workflow }),
    ...(order.config === undefined ? {} : { file: order.config }),
  });
  if (!loaded.ok) return { kind: 'problems', problems: loaded.problems };
  const { project } = loaded;
  for (const { file, line, message } of project.warnings) order.onTrouble(`warning: ${file}:${line}: ${message}`);
  // What check calls an error stops a whole project here as it stops `up`.
  const errors = order.workflow === null ? checkErrors(project) : [];
  if (errors.length > 0) return { kind: 'problems', problems: errors };
  const workflow = order.workflow === null ? null : theOneOf(project);
  const agent = order.agent ?? onlyAgent(workflow === null ? project : null);
  if (agent === null) return { kind: 'refused', because: 'configuration', message: whichAgent(project) };
  const file = await storeOfProject(project, order.file, order.onTrouble);
  const options = optionsFor(project, { ...order, agent, file });
  if (isStopped()) return { kind: 'ended' };
  const say = (role: string) =>
    order.onServing({ workflow: workflow?.name ?? null, file: path.resolve(options.file), role });
  const opening = mustStart(project, order.onNotice).then((running) =>
    openWith(running, () =>
      keepOpen({
        open: (again) =>
          open({ ...options, running, onTools: () => door.toolsChanged(), begin: beginning(order.newStore, again) }),
        file: options.file,
        onSuccession: say,
        onFailure: order.onTrouble,
      }).then((opened) => mustBeCovered(project, opened)),
    ),
  );
  const gateway = soonOpen(opening);
  const { version, mode } = order;
  const seal = createSeal(options.file, order.onTrouble);
  const served = { version, who: { tenant: 'default', agent }, mode, seal };
  const door =
    workflow === null
      ? openJointDoor(served, project.workflows, gateway)
      : openMcpDoor({ ...served, workflow, server: null }, gateway);
  // A server that is slow to start must not keep the client from its handshake.
  const stream = serveStdio(door, { input: process.stdin, output }, { opened: opening });
  // Running calls may end and reply before the connection closes.
  onStop(() => void gateway.close().finally(() => stream.close()));
  try {
    const { gateway: opened, upstreams } = (await opening).current();
    for (const each of driftFromLock(project.config.lock, liveTools(upstreams))) order.onTrouble(each);
    say(opened.role);
    await stream.closed;
  } finally {
    await stream.close();
    await gateway.close();
  }
  return { kind: 'ended' };
}

/** As `up`, which can be forced. */
async function mustBeCovered(project: Project, gateway: LastingGateway): Promise<LastingGateway> {
  const [uncovered] = await uncoveredIn(project, 'recourse stdio', gateway.current().shell);
  if (uncovered === undefined) return gateway;
  await gateway.close({ drain_seconds: 0 });
  const { file, line, message, fix } = uncovered;
  throw new GatewayError('bad_options', `${file}:${line}: ${message}; ${fix}`);
}

/** Stands in for the gateway until it is open; no request arrives before that. */
function soonOpen(opening: Promise<LastingGateway>): LastingGateway {
  let opened: LastingGateway | null = null;
  const known = opening.then(
    (gateway) => (opened = gateway),
    // The error reaches whoever awaits `opening`.
    () => null,
  );
  return {
    current() {
      if (opened === null) throw new Error('bug: the gateway was asked before it was open');
      return opened.current();
    },
    close: async (options) => (await known)?.close(options),
  };
}

function theOneOf({ workflows }: Project): Mounted {
  const [workflow] = workflows;
  if (workflow === undefined) throw new Error('bug: a project without problems has the workflow that was asked for');
  return workflow;
}

/** The agent if none is named: `local` without rules. Null if several are declared. */
function onlyAgent(project: Project | null): string | null {
  const [first = 'local', ...others] = project?.policy?.agents.keys() ?? [];
  return others.length === 0 ? first : null;
}

const whichAgent = ({ policy }: Project): string =>
  `several agents are declared: say with --agent which of them calls: ${[...(policy?.agents.keys() ?? [])].join(', ')}`;

/** A whole project is served under its policy, as in `up`. */
function optionsFor(
  project: Project,
  order: ServeOrder & { readonly file: string; readonly agent: string },
): ServingOptions {
  const { workflow, agent, onTrouble } = order;
  if (workflow !== null) return servingOptions(project, serversFor(workflow, project.config), order);
  const { policy } = project;
  if (policy !== null && !policy.agents.has(agent))
    onTrouble(`the agent '${agent}' is not declared, and may call nothing: name another with --agent`);
  const serving = servingOptions(project, serversOf(project.config), order);
  return { ...serving, policy: () => policy, onServer: reportServerChanges(onTrouble) };
}

/** There is no start screen here, so problems of servers are reported at once. */
function reportServerChanges(say: (sentence: string) => void): NonNullable<ServingOptions['onServer']> {
  const reporter = createServerReporter(say);
  reporter.ready();
  return reporter.hear;
}

/** Redirects other output to standard error: one stray line would break the protocol. */
function takeStandardOutput() {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const output = new Writable({
    write: (chunk: Buffer, encoding, done) => void write.call(stdout, chunk, encoding, (error) => done(error)),
  });
  return { output, giveBack: () => void (stdout.write = write) };
}
