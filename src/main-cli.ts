/**
 * The composition root of the command line: connects the commands to stores, gateways and keys. Each part is loaded
 * only by the command that needs it. Decides and prints nothing.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { textOf } from './adapters/store-sqlite/file/refusal.ts';
import { openSqliteReader } from './adapters/store-sqlite/read/open-reader.ts';
import { nodeClock } from './adapters/system-node/clock.ts';
import { nodeIds } from './adapters/system-node/ids.ts';
import { checkLookups, findStore, prepareStore } from './compose/state/find-store.ts';
import { modulesBeingLoaded } from './compose/modules/import-module.ts';
import { explainFault, openStore, problemOf } from './compose/state/inspect-store.ts';
import type { Project } from './compose/project/load-project.ts';
import { printNotice } from './compose/serve/print-notices.ts';
import type { OpenedGateway } from './compose/serve/keep-open.ts';
import type { ServingOptions } from './compose/project/serve-options.ts';
import { configName } from './config/config.ts';
import type { SessionId } from './core/call/call.ts';
import { GatewayError } from './core/values/gateway-error.ts';
import type { PolicyAnalysis } from './core/policy/analyse/policy-analysis.ts';
import type { Snapshot } from './core/workflow/workflow.ts';
import type { MeantId } from './core/values/short-id.ts';
import type { BarTool } from './doors/cli/primer/primer-bar.ts';
import type { OpenedStage, PrimerParts } from './doors/cli/primer/primer.ts';
import type { Command } from './doors/cli/arguments/read-command-line.ts';
import { version } from './doors/cli/handle-arguments.ts';
import { type CliParts, runCommand } from './doors/cli/run-command.ts';
import type { DemoParts } from './doors/cli/demo/run-demo.ts';
import type { GatewayEnd, ServeOrder, UpOrder } from './doors/cli/commands/run-gateway.ts';
import type { Terminal } from './doors/cli/terminal.ts';
import { abandoned, reportEarlyExit } from './doors/cli/report-early-exit.ts';
import type { Ids } from './ports/ids.ts';

export async function startCli(command: Command, terminal: Terminal): Promise<number> {
  if (!loadsModules.has(command.name)) return runCommand(command, cliParts, terminal);
  const answered = reportEarlyExit(command, modulesBeingLoaded, terminal);
  const code = await runCommand(command, cliParts, terminal);
  answered();
  // An author's module was loaded: what it left running must not keep the process alive.
  await endProcess(code);
  return code;
}

const loadsModules: ReadonlySet<string> = new Set([
  'apply',
  'check',
  'demo',
  'explain',
  'playbook show',
  'golden run',
  'render',
  'serve',
  'stdio',
  'test',
  'up',
]);

async function endProcess(code: number): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  process.exit(code);
}

const cliParts: CliParts = {
  findStore: async (wish, prepares) => (prepares ? prepareStore(wish) : findStore(wish)),
  openStore,
  explainFault,
  primer: primerParts,
  loadGraphs,
  loadTests,
  loadGoldens,
  render: { meant: (file, beginning) => meant(file, beginning, 'sessions'), stateOf, write },
  settling: { operator, meant: (file, beginning) => meant(file, beginning, 'inspection'), settle },
  gateways: { serve, up, abandon: () => process.exit(abandoned) },
  agents: agentsParts,
  daemon: async () => (await import('./compose/daemon/command-parts.ts')).commandParts,
  demo: demoParts,
  faults: async () => (await import('./faults/start-faults.ts')).faultsParts,
  timer: nodeClock,
  newCorrelationId: () => nodeIds.random('err_'),
};

/** An argument that ends in .yaml is a configuration; anything else is a workflow. */
async function loadGraphs(argument: string, config: string | undefined): ReturnType<CliParts['loadGraphs']> {
  const { loadProject } = await import('./compose/project/load-project.ts');
  const file = /\.ya?ml$/.test(argument) ? argument : config;
  const wanted = argument === '' || file === argument ? {} : { workflowArgument: argument };
  const named = { ...(file === undefined ? {} : { file }), ...wanted, ...checkLookups(file) };
  const loaded = await loadProject({ cwd: process.cwd(), ...named });
  const { workflows } = loaded.ok ? loaded.project : loaded;
  const { warnUncovered } = await import('./compose/project/load-goldens.ts');
  const uncovered = loaded.ok ? await warnUncovered(process.cwd(), file) : [];
  const warnings = [...(loaded.ok ? loaded.project : loaded).warnings, ...uncovered];
  return {
    problems: loaded.ok ? [] : loaded.problems,
    warnings,
    workflows,
    // Rules are not analysed for a single workflow.
    analysePolicy: loaded.ok && !('workflowArgument' in wanted) ? await analysisOf(loaded.project) : null,
    source: argument || (file ?? configName),
  };
}

/** Null without a policy. */
async function analysisOf(project: Project): Promise<(() => PolicyAnalysis) | null> {
  const { policy } = project;
  if (policy === null) return null;
  const [{ analysePolicy }, { knownCatalogue }] = await Promise.all([
    import('./core/policy/analyse/analyse-policy.ts'),
    import('./compose/project/known-catalogue.ts'),
  ]);
  return () => analysePolicy(policy, knownCatalogue(project));
}

async function loadTests(...[files, config]: Parameters<CliParts['loadTests']>): ReturnType<CliParts['loadTests']> {
  return (await import('./compose/project/load-policy-tests.ts')).loadPolicyTests(process.cwd(), files, config);
}

async function loadGoldens(
  ...[files, config]: Parameters<CliParts['loadGoldens']>
): ReturnType<CliParts['loadGoldens']> {
  return (await import('./compose/project/load-goldens.ts')).loadGoldens(process.cwd(), files, config);
}

async function stateOf(session: string, workflow: string, file: string): ReturnType<CliParts['render']['stateOf']> {
  const problem = await problemOf(file);
  if (problem !== null) return { unreadable: problem };
  const opened = await openSqliteReader(file);
  if (opened.kind !== 'opened') return { unreadable: opened.message };
  try {
    const found = await opened.reader.session(session as SessionId);
    if (found === null) return { refused: `'${file}' has no session '${session}': look for it in sessions ls` };
    if (found.workflow?.name !== workflow)
      return { refused: `session '${session}' is not one of workflow '${workflow}'` };
    const text = await opened.reader.snapshot(found.id, found.seq);
    if (text === null) return { refused: `where session '${session}' stands is not kept` };
    return { value: (JSON.parse(text) as Snapshot).value };
  } finally {
    opened.close();
  }
}

async function write(file: string, text: string): Promise<string | null> {
  try {
    await writeFile(file, text);
    return null;
  } catch (error) {
    return `'${file}' cannot be written (${(error as NodeJS.ErrnoException).code}): check its folder and mode`;
  }
}

type Settle = CliParts['settling']['settle'];

async function meant(file: string, beginning: string, among: 'inspection' | 'sessions'): Promise<MeantId> {
  const looked = await openStore(file);
  if (looked.kind === 'refused') return { kind: 'none' };
  try {
    return await looked[among].meant(beginning);
  } finally {
    looked.close();
  }
}

/** Settles in exactly this store, whoever owns it. Nothing is created, recovered or sent. */
async function settle(...[file, callId, judgement]: Parameters<Settle>): ReturnType<Settle> {
  const looked = await openStore(file);
  if (looked.kind === 'refused') return looked;
  const call = (await looked.inspection.call(callId))?.call ?? null;
  looked.close();
  if (call === null) return { kind: 'not_found', session: null, state: null };
  if (call.state !== 'IN_DOUBT') return { kind: 'not_in_doubt', session: null, state: call.state };
  const [{ settleCall }, { openGateway }] = await Promise.all([
    import('./compose/state/settle-call.ts'),
    import('./main.ts'),
  ]);
  const limits = { sweepEveryMs: 86_400_000 };
  return settleCall(
    () => openGateway({ tools: [], file, limits }, { recovers: false, begin: 'never' }),
    callId,
    judgement,
  );
}

function operator(): string {
  try {
    return userInfo().username;
  } catch {
    // A user of a container may have no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

async function agentsParts(): ReturnType<CliParts['agents']> {
  const [{ manageKeys }, { durationMs }] = await Promise.all([
    import('./compose/state/manage-keys.ts'),
    import('./config/duration.ts'),
  ]);
  return { ...manageKeys, operator, nowMs: nodeClock.nowMs, durationMs };
}

async function serve(order: ServeOrder): Promise<GatewayEnd> {
  await surviveStrays(order);
  const { serveOverStdio } = await import('./compose/serve/serve-stdio.ts');
  return serveOverStdio({ ...order, version: version(), onNotice: printNotice }, openForServing);
}

async function up(order: UpOrder): Promise<GatewayEnd> {
  await surviveStrays(order);
  const { runUp } = await import('./compose/serve/run-up.ts');
  return runUp({ ...order, version: version(), onNotice: printNotice }, openForServing);
}

async function demoParts(): Promise<DemoParts> {
  const [{ runDemo }, { demoWorld }] = await Promise.all([
    import('./demo/start-demo.ts'),
    import('./compose/demo/demo-world.ts'),
  ]);
  const world = demoWorld({ open: openForServing, version: version(), onNotice: printNotice });
  return { run: (order) => runDemo(order, world), abandon: () => process.exit(abandoned) };
}

/** An unhandled rejection of one workflow must not end the process. */
async function surviveStrays({ onTrouble }: ServeOrder | UpOrder): Promise<void> {
  const { reportRejections } = await import('./compose/serve/report-rejections.ts');
  reportRejections(onTrouble);
}

async function openForServing(serving: ServingOptions): Promise<OpenedGateway> {
  const { begin = 'if_none', onServer, onTools, recovery, dns, ticketRules, ...options } = serving;
  const { openGateway } = await import('./main.ts');
  return openGateway(options, { begin, onServer, onTools, recovery, dns, ticketRules });
}

async function primerParts(): Promise<PrimerParts> {
  const { partial } = await import('./adapters/upstream-function/tool-failure.ts');
  return { partial, openStage };
}

/** Deterministic: independent of the time of day, randomness and the speed of the disk. */
async function openStage(tools: readonly BarTool[]): Promise<OpenedStage | { readonly refused: string }> {
  const { createGateway } = await import('./main.ts');
  let folder: string;
  try {
    folder = await mkdtemp(path.join(tmpdir(), 'recourse-primer-'));
  } catch (error) {
    return {
      refused: `no temporary folder can be made (${textOf(error)}): set TMPDIR to a folder that can be written`,
    };
  }
  const remove = () => rm(folder, { recursive: true, force: true });
  const file = path.join(folder, 'recourse.db');
  const complaints: string[] = [];
  const limits = { maxInputBytes: 2_000, sweepEveryMs: 86_400_000, sendWindowMs: 60_000 };
  const onNotice = (notice: object) => void complaints.push(`the gateway noticed ${JSON.stringify(notice)}`);
  try {
    const system = { clock: { ...nodeClock, nowMs: () => Date.UTC(2026, 0, 1) }, ids: countingIds() };
    const gateway = await createGateway({ tools, file, agent: 'waiter', limits, onNotice }, system);
    const verify = async () => {
      const opened = await openStore(file);
      if (opened.kind === 'refused') throw new Error(`bug: the primer's own store is refused: ${opened.message}`);
      const report = await opened.inspection.verify();
      opened.close();
      return report;
    };
    const pause = () => new Promise<void>((resolve) => nodeClock.schedule(5, resolve));
    return { gateway, pause, verify, complaints: () => complaints, remove };
  } catch (error) {
    await remove();
    if (error instanceof GatewayError) return { refused: error.message };
    throw error;
  }
}

function countingIds(): Ids {
  const counts = new Map<string, number>();
  const count = (prefix: string) => {
    const next = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, next);
    return `${prefix}${String(next).padStart(4, '0')}`;
  };
  return { ordered: count, random: count, chance: () => 0.5 };
}
