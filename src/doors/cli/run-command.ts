/**
 * Runs one command on the parts that the composition root hands in, and turns its end into an exit code. Total: a store
 * that cannot be read is a sentence, and so is a bug.
 */
import { unreachable } from '../../core/unreachable.ts';
import type { Inspection } from '../../shell/inspect.ts';
import type { SessionInspection } from '../../shell/inspect-sessions.ts';
import { tailJournal, verifyJournal } from './audit.ts';
import { listCalls, showCall } from './calls.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { AgentsParts } from './agents.ts';
import type { LoadGraphs } from './check.ts';
import { type PrimerParts, runPrimer } from './primer.ts';
import type { Command } from './read-command-line.ts';
import type { RenderParts } from './render.ts';
import { reportBug } from './report-bug.ts';
import { governing, type GoverningParts } from './run-governing.ts';
import type { SettleParts } from './settle-call.ts';
import type { GatewayParts } from './run-gateway.ts';
import type { LoadTests } from './test-policy.ts';
import { harmless, type Terminal } from './terminal.ts';
import type { Timer } from './until-stopped.ts';

export interface OpenedStore {
  readonly kind: 'opened';
  readonly inspection: Inspection;
  readonly sessions: SessionInspection;
  readonly close: () => void;
}

export interface CliParts {
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
  const file = command.file || terminal.env['RECOURSE_FILE'] || 'recourse.db';
  try {
    if (command.name === 'primer') return await runPrimer(command, await parts.primer(), terminal);
    // What only some need is not loaded for the others.
    if (command.name === 'check')
      return await (await import('./check.ts')).runCheck(command, parts.loadGraphs, terminal);
    if (command.name === 'test')
      return await (await import('./test-policy.ts')).runTest(command, parts.loadTests, terminal);
    if (command.name === 'render') {
      const { runRender } = await import('./render.ts');
      return await runRender(command, file, { ...parts.render, load: parts.loadGraphs }, terminal);
    }
    if (command.name === 'calls settle')
      return await (await import('./settle-call.ts')).settleCall(command, file, parts.settling, terminal);
    if (command.name === 'serve')
      return await (await import('./run-gateway.ts')).runServe(command, parts.gateways, terminal);
    if (command.name === 'up') return await (await import('./run-gateway.ts')).runUp(command, parts.gateways, terminal);
    const governs = governing(command.name);
    if (governs !== null) return await governs(command, { ...parts, ...(await parts.governing()) }, terminal);
    if (command.name.startsWith('approvals ')) {
      const { runApprovals } = await import('./run-approvals.ts');
      return await runApprovals(command, { ...parts, ...(await parts.governing()) }, terminal);
    }
    const onKeys = await keyCommand(command.name);
    if (onKeys !== null) return await onKeys(command, file, await parts.agents(), terminal);
    const opened = await parts.openStore(file);
    if (opened.kind === 'refused') return sayRefused(opened.message, terminal);
    try {
      return await inspect(command, opened, parts.timer, terminal);
    } finally {
      opened.close();
    }
  } catch (error) {
    const fault = parts.explainFault(error, file);
    return fault === null ? reportBug(error, parts.newCorrelationId(), terminal) : sayRefused(fault, terminal);
  }
}

async function keyCommand(name: Command['name']) {
  if (!name.startsWith('agents ')) return null;
  const { addKey, listKeys, revokeKey, rotateKey } = await import('./agents.ts');
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
      return (await import('./sessions.ts')).listSessions(command, sessions, terminal);
    case 'sessions show':
      return (await import('./sessions.ts')).showSession(command, sessions, terminal);
    case 'sessions tail':
      return (await import('./sessions.ts')).tailSession(command, sessions, terminal, timer);
    case 'sessions diff':
      return (await import('./diff-sessions.ts')).diffSessions(command, sessions, terminal);
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
