/**
 * Runs one command with the parts that the composition root hands in, and returns its exit code. Never throws: a store
 * that cannot be read and a bug are both reported in a sentence. Each command's code is loaded only when it is run.
 */
import type { Inspection } from '../../shell/look/inspect.ts';
import type { SessionInspection } from '../../shell/look/inspect-sessions.ts';
import type { CommandName } from './arguments/commands.ts';
import type { Command } from './arguments/read-command-line.ts';
import type { AgentsParts, RunOnKeys } from './commands/agents.ts';
import type { ApplyParts } from './commands/apply.ts';
import type { ApprovalsParts, RunApprovals } from './commands/approvals.ts';
import type { CallParts } from './commands/call.ts';
import type { LoadGraphs } from './commands/check.ts';
import type { ExplainParts } from './commands/explain.ts';
import type { DemoParts } from './demo/run-demo.ts';
import type { FaultsParts } from './commands/run-faults.ts';
import type { InitProject } from './commands/init.ts';
import type { PinTools } from './commands/pin.ts';
import type { ShowPlaybook } from './commands/playbook.ts';
import type { RenderParts } from './commands/render.ts';
import type { GatewayParts } from './commands/run-gateway.ts';
import type { SettleParts } from './commands/settle-call.ts';
import type { LoadTests } from './commands/test-policy.ts';
import { reportNotFound, wishOf } from './daemon.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { LoadGoldens } from './recovery/golden.ts';
import type { PrimerParts } from './primer/primer.ts';
import { harmless, type Terminal, type Timer } from './terminal.ts';

export interface OpenedStore {
  readonly kind: 'opened';
  readonly inspection: Inspection;
  readonly sessions: SessionInspection;
  readonly close: () => void;
}

/** The store that was named; otherwise the configuration's, otherwise the project's own. */
export interface StoreWish {
  readonly file: string | undefined;
  readonly config: string | undefined;
}

export type FoundStore =
  | { readonly kind: 'found'; readonly file: string; readonly told: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

/** What `init`, `pin` and the commands that ask a running gateway need. */
export type DaemonParts = Omit<CallParts, 'timer'> &
  Omit<ApprovalsParts, 'timer'> &
  ExplainParts &
  ApplyParts & { readonly initProject: InitProject; readonly pinTools: PinTools; readonly showPlaybook: ShowPlaybook };

export interface CliParts {
  /** `prepares`: creates the store's folder if it is missing. */
  readonly findStore: (wish: StoreWish, prepares: boolean) => Promise<FoundStore>;
  readonly openStore: (file: string) => Promise<OpenedStore | { readonly kind: 'refused'; readonly message: string }>;
  /** A sentence if the error is a fault of the file or the disk; null if it is a bug. */
  readonly explainFault: (error: unknown, file: string) => string | null;
  readonly primer: () => Promise<PrimerParts>;
  readonly loadGraphs: LoadGraphs;
  readonly loadTests: LoadTests;
  readonly loadGoldens: LoadGoldens;
  readonly render: Omit<RenderParts, 'load'>;
  readonly settling: SettleParts;
  readonly gateways: GatewayParts;
  readonly agents: () => Promise<AgentsParts>;
  readonly daemon: () => Promise<DaemonParts>;
  readonly demo: () => Promise<DemoParts>;
  readonly faults: () => Promise<FaultsParts>;
  readonly timer: Timer;
  readonly newCorrelationId: () => string;
}

export async function runCommand(command: Command, parts: CliParts, terminal: Terminal): Promise<ExitCode> {
  // Named in the message if the error is a fault of the file.
  let file = '';
  try {
    const run: Run | undefined = (withoutStore as Partial<Record<CommandName, Run>>)[command.name];
    if (run !== undefined) return await run(command, parts, terminal);
    if (command.name === 'render' && command.said.session === undefined)
      return await onFile.render(command, file, parts, terminal);
    const found = await parts.findStore(storeWish(command, terminal), command.name === 'agents add');
    if (found.kind === 'refused') return reportRefused(found.message, terminal);
    file = found.file;
    for (const sentence of found.told) terminal.tell(`recourse: ${harmless(sentence)}\n`);
    const runOnFile: RunOnFile | undefined = (onFile as Partial<Record<CommandName, RunOnFile>>)[command.name];
    return await (runOnFile ?? readStore)(command, file, parts, terminal);
  } catch (error) {
    const fault = parts.explainFault(error, file);
    return fault === null ? reportBug(error, parts.newCorrelationId(), terminal) : reportRefused(fault, terminal);
  }
}

const storeWish = ({ file, config }: Command, { env }: Terminal): StoreWish => ({
  file: file || env['RECOURSE_FILE'] || undefined,
  config,
});

type Run = (command: Command, parts: CliParts, terminal: Terminal) => Promise<ExitCode>;
type RunOnFile = (command: Command, file: string, parts: CliParts, terminal: Terminal) => Promise<ExitCode>;
type RunOnStore = (command: Command, opened: OpenedStore, terminal: Terminal, parts: CliParts) => Promise<ExitCode>;

const onDaemon =
  (load: () => Promise<RunApprovals>): Run =>
  async (command, parts, terminal) => {
    const all = { ...parts, ...(await parts.daemon()) };
    const found = await all.findDaemon(wishOf(command, 'operator', terminal));
    if (found.kind === 'refused') return reportNotFound(found, command, terminal);
    return (await load())(command, found.daemon, all, terminal);
  };

const serve: Run = async (command, { gateways }, terminal) =>
  (await import('./commands/run-gateway.ts')).runServe(command, gateways, terminal);

/** Commands that open no store themselves. */
const withoutStore = {
  primer: async (command, parts, terminal) =>
    (await import('./primer/primer.ts')).runPrimer(command, await parts.primer(), terminal),
  demo: async (command, { demo }, terminal) =>
    (await import('./demo/run-demo.ts')).runDemo(command, await demo(), terminal),
  check: async (command, { loadGraphs }, terminal) =>
    (await import('./commands/check.ts')).runCheck(command, loadGraphs, terminal),
  test: async (command, { loadTests }, terminal) =>
    (await import('./commands/test-policy.ts')).runTest(command, loadTests, terminal),
  'golden run': async (command, { loadGoldens }, terminal) =>
    (await import('./recovery/golden.ts')).runGoldens(command, loadGoldens, terminal),
  serve,
  stdio: serve,
  up: async (command, { gateways }, terminal) =>
    (await import('./commands/run-gateway.ts')).runUp(command, gateways, terminal),
  faults: async (command, { faults }, terminal) =>
    (await import('./commands/run-faults.ts')).runFaults(command, await faults(), terminal),
  init: async (command, parts, terminal) =>
    (await import('./commands/init.ts')).runInit(command, (await parts.daemon()).initProject, terminal),
  pin: async (command, parts, terminal) =>
    (await import('./commands/pin.ts')).runPin(command, (await parts.daemon()).pinTools, terminal),
  explain: async (command, parts, terminal) =>
    (await import('./commands/explain.ts')).runExplain(command, await parts.daemon(), terminal),
  'playbook show': async (command, parts, terminal) =>
    (await import('./commands/playbook.ts')).runPlaybook(command, (await parts.daemon()).showPlaybook, terminal),
  call: async (command, parts, terminal) =>
    (await import('./commands/call.ts')).runCall(command, { ...parts, ...(await parts.daemon()) }, terminal),
  apply: async (command, parts, terminal) =>
    (await import('./commands/apply.ts')).runApply(command, await parts.daemon(), terminal),
  status: async (command, parts, terminal) =>
    (await import('./commands/status.ts')).runStatus(command, { ...parts, ...(await parts.daemon()) }, terminal),
  console: async (command, parts, terminal) =>
    (await import('./console/print-link.ts')).runConsole(command, await parts.daemon(), terminal),
  'approvals ls': onDaemon(async () => (await import('./commands/approvals.ts')).listApprovals),
  'approvals show': onDaemon(async () => (await import('./commands/approvals.ts')).showApproval),
  'approvals approve': onDaemon(async () => (await import('./commands/approvals.ts')).approveCall),
  'approvals deny': onDaemon(async () => (await import('./commands/approvals.ts')).denyCall),
  'approvals revoke': onDaemon(async () => (await import('./commands/approvals.ts')).revokeDecision),
  'approvals watch': onDaemon(async () => (await import('./watch/watch-approvals.ts')).watchApprovals),
  'calls cancel': onDaemon(async () => (await import('./cancel/cancel.ts')).cancelCall),
  'sessions cancel': onDaemon(async () => (await import('./cancel/cancel.ts')).cancelSession),
  reverse: onDaemon(async () => (await import('./reversals/reversals.ts')).reverseCall),
  'sessions rollback': onDaemon(async () => (await import('./reversals/reversals.ts')).rollBackSession),
  'tickets ls': onDaemon(async () => (await import('./tickets/tickets.ts')).listTickets),
  'tickets show': onDaemon(async () => (await import('./tickets/tickets.ts')).showTicket),
  'tickets take': onDaemon(async () => (await import('./tickets/answer-ticket.ts')).takeTicket),
  'tickets comment': onDaemon(async () => (await import('./tickets/answer-ticket.ts')).commentTicket),
  'tickets resolve': onDaemon(async () => (await import('./tickets/answer-ticket.ts')).resolveTicket),
  'tickets watch': onDaemon(async () => (await import('./watch/watch-tickets.ts')).watchTickets),
  inbox: onDaemon(async () => (await import('./tickets/inbox.ts')).showInbox),
  'tickets close': onDaemon(async () => (await import('./tickets/tickets.ts')).closeTicket),
  'feedback add': onDaemon(async () => (await import('./recovery/feedback.ts')).addFeedback),
  'feedback ls': onDaemon(async () => (await import('./recovery/feedback.ts')).listFeedback),
  'feedback show': onDaemon(async () => (await import('./recovery/feedback.ts')).showFeedback),
  'feedback propose': onDaemon(async () => (await import('./recovery/feedback.ts')).proposeChange),
  'feedback release': onDaemon(async () => (await import('./recovery/feedback.ts')).releaseChange),
  'feedback rollback': onDaemon(async () => (await import('./recovery/feedback.ts')).rollBackRelease),
  'budgets ls': onDaemon(async () => (await import('./budgets/budgets.ts')).listBudgets),
  'budgets set': onDaemon(async () => (await import('./budgets/budgets.ts')).setBudget),
  'budgets reset': onDaemon(async () => (await import('./budgets/budgets.ts')).resetBudget),
} as const satisfies Partial<Record<CommandName, Run>>;

const onKeys =
  (load: () => Promise<RunOnKeys>): RunOnFile =>
  async (command, file, parts, terminal) =>
    (await load())(command, file, await parts.agents(), terminal);

/** Commands that need the path of the store, and open it in their own way. */
const onFile = {
  render: async (command, file, { render, loadGraphs }, terminal) =>
    (await import('./commands/render.ts')).runRender(command, file, { ...render, load: loadGraphs }, terminal),
  'calls settle': async (command, file, { settling }, terminal) =>
    (await import('./commands/settle-call.ts')).settleCall(command, file, settling, terminal),
  'agents ls': onKeys(async () => (await import('./commands/agents.ts')).listKeys),
  'agents add': onKeys(async () => (await import('./commands/agents.ts')).addKey),
  'agents rotate': onKeys(async () => (await import('./commands/agents.ts')).rotateKey),
  'agents revoke': onKeys(async () => (await import('./commands/agents.ts')).revokeKey),
} as const satisfies Partial<Record<CommandName, RunOnFile>>;

type StoreCommand = Exclude<CommandName, keyof typeof withoutStore | keyof typeof onFile>;

/** Commands that read an opened store: every command that is in neither table above. */
const onStore: Readonly<Record<StoreCommand, RunOnStore>> = {
  'calls ls': async (command, { inspection }, terminal) =>
    (await import('./commands/calls.ts')).listCalls(command, inspection, terminal),
  'calls in-doubt': async (command, { inspection }, terminal) =>
    (await import('./commands/in-doubt.ts')).listDoubts(command, inspection, terminal, Date.now()),
  'calls show': async (command, { inspection }, terminal) =>
    (await import('./commands/calls.ts')).showCall(command, inspection, terminal),
  replay: async (command, { inspection }, terminal) =>
    (await import('./recovery/replay.ts')).replayCall(command, inspection, terminal),
  'golden record': async (command, { inspection }, terminal, { render }) =>
    (await import('./recovery/golden.ts')).makeGolden(command, inspection, render.write, terminal),
  'feedback verify': async (command, { inspection }, terminal) =>
    (await import('./recovery/feedback.ts')).verifyFeedback(command, inspection, terminal),
  'audit verify': async (command, { inspection }, terminal) =>
    (await import('./commands/audit.ts')).verifyJournal(command, inspection, terminal),
  'audit tail': async (command, { inspection }, terminal, { timer }) =>
    (await import('./commands/audit.ts')).tailJournal(command, inspection, terminal, timer),
  'sessions ls': async (command, { sessions }, terminal) =>
    (await import('./commands/sessions.ts')).listSessions(command, sessions, terminal),
  'sessions show': async (command, { sessions }, terminal) =>
    (await import('./commands/sessions.ts')).showSession(command, sessions, terminal),
  'sessions tail': async (command, { sessions }, terminal, { timer }) =>
    (await import('./commands/sessions.ts')).tailSession(command, sessions, terminal, timer),
  'sessions diff': async (command, { sessions }, terminal) =>
    (await import('./commands/sessions.ts')).diffSessions(command, sessions, terminal),
};

const readStore: RunOnFile = async (command, file, parts, terminal) => {
  const opened = await parts.openStore(file);
  if (opened.kind === 'refused') return reportRefused(opened.message, terminal);
  try {
    return await onStore[command.name as StoreCommand](command, opened, terminal, parts);
  } finally {
    opened.close();
  }
};

function reportRefused(message: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(message)}\n`);
  return exitCodes.store.code;
}

/** One sentence and an id; the stack only with RECOURSE_DEBUG=1. */
function reportBug(error: unknown, correlationId: string, terminal: Terminal): ExitCode {
  const [firstLine = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const advice = 'please report it with this id; RECOURSE_DEBUG=1 shows more';
  terminal.tell(`recourse: this is a bug of recourse, ${correlationId}: ${harmless(firstLine)}; ${advice}.\n`);
  if (terminal.env['RECOURSE_DEBUG'] === '1' && error instanceof Error) terminal.tell(`${error.stack ?? ''}\n`);
  return exitCodes.unexpected.code;
}
