/**
 * Runs one command on the parts that the composition root hands in, and turns its end into an exit code. Total: a store
 * that cannot be read is a sentence, and so is a bug.
 */
import { unreachable } from '../../core/values/unreachable.ts';
import type { Inspection } from '../../shell/look/inspect.ts';
import type { SessionInspection } from '../../shell/look/inspect-sessions.ts';
import { tailJournal, verifyJournal } from './commands/audit.ts';
import { listCalls, showCall } from './commands/calls.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { AgentsParts } from './commands/agents.ts';
import type { LoadGraphs } from './commands/check.ts';
import { type PrimerParts, runPrimer } from './primer/primer.ts';
import type { Command } from './arguments/read-command-line.ts';
import type { RenderParts } from './commands/render.ts';
import { reportBug } from './report-bug.ts';
import { governing, type GoverningParts } from './run-governing.ts';
import type { SettleParts } from './commands/settle-call.ts';
import type { GatewayParts } from './commands/run-gateway.ts';
import type { LoadTests } from './commands/test-policy.ts';
import { harmless, type Terminal } from './terminal.ts';
import type { Timer } from './until-stopped.ts';

export interface OpenedStore {
  readonly kind: 'opened';
  readonly inspection: Inspection;
  readonly sessions: SessionInspection;
  readonly close: () => void;
}

/** How a store was named; else the configuration says which one, else it is the project's own. */
export interface StoreWish {
  readonly file: string | undefined;
  readonly config: string | undefined;
}

export type FoundStore =
  | { readonly kind: 'found'; readonly file: string; readonly told: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

export interface CliParts {
  /** `prepares`: its folder is made if it is missing. */
  readonly findStore: (wish: StoreWish, prepares: boolean) => Promise<FoundStore>;
  readonly openStore: (file: string) => Promise<OpenedStore | { readonly kind: 'refused'; readonly message: string }>;
  /** A sentence if the file or the disk is to blame for what was thrown, null if we are. */
  readonly explainFault: (error: unknown, file: string) => string | null;
  readonly primer: () => Promise<PrimerParts>;
  readonly loadGraphs: LoadGraphs;
  readonly loadTests: LoadTests;
  readonly render: Omit<RenderParts, 'load'>;
  readonly settling: SettleParts;
  readonly gateways: GatewayParts;
  readonly agents: () => Promise<AgentsParts>;
  readonly governing: () => Promise<GoverningParts>;
  readonly timer: Timer;
  readonly newCorrelationId: () => string;
}

export async function runCommand(command: Command, parts: CliParts, terminal: Terminal): Promise<ExitCode> {
  // Named in what is said if the file is to blame.
  let file = '';
  try {
    const run = await commandWithoutStore(command, parts, terminal);
    if (run !== null) return await run();
    const found = await parts.findStore(wishOf(command, terminal), command.name === 'agents add');
    if (found.kind === 'refused') return sayRefused(found.message, terminal);
    file = found.file;
    for (const sentence of found.told) terminal.tell(`recourse: ${harmless(sentence)}\n`);
    return await onStore(command, file, parts, terminal);
  } catch (error) {
    const fault = parts.explainFault(error, file);
    return fault === null ? reportBug(error, parts.newCorrelationId(), terminal) : sayRefused(fault, terminal);
  }
}

const wishOf = ({ file, config }: Command, { env }: Terminal): StoreWish => ({
  file: file || env['RECOURSE_FILE'] || undefined,
  config,
});

/** Null if the command is about a store that lies beside it. What only some need is not loaded for the others. */
async function commandWithoutStore(
  command: Command,
  parts: CliParts,
  terminal: Terminal,
): Promise<(() => Promise<ExitCode>) | null> {
  if (command.name === 'primer') return async () => runPrimer(command, await parts.primer(), terminal);
  if (command.name === 'check')
    return async () => (await import('./commands/check.ts')).runCheck(command, parts.loadGraphs, terminal);
  if (command.name === 'test')
    return async () => (await import('./commands/test-policy.ts')).runTest(command, parts.loadTests, terminal);
  if (command.name === 'render' && command.said.session === undefined)
    return async () => render(command, '', parts, terminal);
  if (command.name === 'serve' || command.name === 'stdio')
    return async () => (await import('./commands/run-gateway.ts')).runServe(command, parts.gateways, terminal);
  if (command.name === 'up')
    return async () => (await import('./commands/run-gateway.ts')).runUp(command, parts.gateways, terminal);
  const governs = governing(command.name);
  if (governs !== null) return async () => governs(command, { ...parts, ...(await parts.governing()) }, terminal);
  if (!command.name.startsWith('approvals ')) return null;
  return async () => {
    const { runApprovals } = await import('./run-approvals.ts');
    return runApprovals(command, { ...parts, ...(await parts.governing()) }, terminal);
  };
}

async function onStore(command: Command, file: string, parts: CliParts, terminal: Terminal): Promise<ExitCode> {
  if (command.name === 'render') return render(command, file, parts, terminal);
  if (command.name === 'calls settle')
    return (await import('./commands/settle-call.ts')).settleCall(command, file, parts.settling, terminal);
  const onKeys = await keyCommand(command.name);
  if (onKeys !== null) return onKeys(command, file, await parts.agents(), terminal);
  const opened = await parts.openStore(file);
  if (opened.kind === 'refused') return sayRefused(opened.message, terminal);
  try {
    return await inspect(command, opened, parts.timer, terminal);
  } finally {
    opened.close();
  }
}

async function render(command: Command, file: string, parts: CliParts, terminal: Terminal): Promise<ExitCode> {
  const { runRender } = await import('./commands/render.ts');
  return runRender(command, file, { ...parts.render, load: parts.loadGraphs }, terminal);
}

async function keyCommand(name: Command['name']) {
  if (!name.startsWith('agents ')) return null;
  const { addKey, listKeys, revokeKey, rotateKey } = await import('./commands/agents.ts');
  const known = { 'agents ls': listKeys, 'agents add': addKey, 'agents rotate': rotateKey, 'agents revoke': revokeKey };
  return known[name as keyof typeof known];
}

async function inspect(command: Command, opened: OpenedStore, timer: Timer, terminal: Terminal): Promise<ExitCode> {
  const { inspection, sessions } = opened;
  switch (command.name) {
    case 'calls ls':
      return listCalls(command, inspection, terminal);
    case 'calls show':
      return showCall(command, inspection, terminal);
    case 'audit verify':
      return verifyJournal(command, inspection, terminal);
    case 'audit tail':
      return tailJournal(command, inspection, terminal, timer);
    case 'sessions ls':
      return (await import('./commands/sessions.ts')).listSessions(command, sessions, terminal);
    case 'sessions show':
      return (await import('./commands/sessions.ts')).showSession(command, sessions, terminal);
    case 'sessions tail':
      return (await import('./commands/sessions.ts')).tailSession(command, sessions, terminal, timer);
    case 'sessions diff':
      return (await import('./commands/diff-sessions.ts')).diffSessions(command, sessions, terminal);
    case 'init':
    case 'pin':
    case 'explain':
    case 'call':
    case 'apply':
    case 'status':
    case 'approvals ls':
    case 'approvals show':
    case 'approvals approve':
    case 'approvals deny':
    case 'approvals revoke':
    case 'approvals watch':
    case 'agents ls':
    case 'agents add':
    case 'agents rotate':
    case 'agents revoke':
    case 'calls settle':
    case 'serve':
    case 'stdio':
    case 'up':
    case 'primer':
    case 'check':
    case 'test':
    case 'render':
      throw new Error(`bug: ${command.name} opens no store here`);
    default:
      return unreachable(command.name);
  }
}

function sayRefused(message: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(message)}\n`);
  return exitCodes.store.code;
}
