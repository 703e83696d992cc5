/**
 * Runs one command on the parts that the composition root hands in, and turns its end into an exit code. Total: a store
 * that cannot be read is a sentence, and so is a bug.
 */
import { unreachable } from '../../core/unreachable.ts';
import type { Inspection } from '../../shell/inspect.ts';
import { tailJournal, type Timer, verifyJournal } from './audit.ts';
import { listCalls, showCall } from './calls.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { type PrimerParts, runPrimer } from './primer.ts';
import type { Command } from './read-command-line.ts';
import { reportBug } from './report-bug.ts';
import { harmless, type Terminal } from './terminal.ts';

export interface OpenedStore {
  readonly kind: 'opened';
  readonly inspection: Inspection;
  readonly close: () => void;
}

export interface CliParts {
  readonly openStore: (file: string) => Promise<OpenedStore | { readonly kind: 'refused'; readonly message: string }>;
  /** A sentence if the file or the disk is to blame for what was thrown, null if we are. */
  readonly explainFault: (error: unknown, file: string) => string | null;
  readonly primer: () => Promise<PrimerParts>;
  readonly timer: Timer;
  readonly newCorrelationId: () => string;
}

export async function runCommand(command: Command, parts: CliParts, terminal: Terminal): Promise<ExitCode> {
  const file = command.file || terminal.env['RECOURSE_FILE'] || 'recourse.db';
  try {
    if (command.name === 'primer') return await runPrimer(command, await parts.primer(), terminal);
    const opened = await parts.openStore(file);
    if (opened.kind === 'refused') return sayRefused(opened.message, terminal);
    try {
      return await inspect(command, opened.inspection, parts.timer, terminal);
    } finally {
      opened.close();
    }
  } catch (error) {
    const fault = parts.explainFault(error, file);
    return fault === null ? reportBug(error, parts.newCorrelationId(), terminal) : sayRefused(fault, terminal);
  }
}

async function inspect(command: Command, inspection: Inspection, timer: Timer, terminal: Terminal): Promise<ExitCode> {
  switch (command.name) {
    case 'calls ls':
      return listCalls(command, inspection, terminal);
    case 'calls show':
      return showCall(command, inspection, terminal);
    case 'audit verify':
      return verifyJournal(command, inspection, terminal);
    case 'audit tail':
      return tailJournal(command, inspection, terminal, timer);
    case 'primer':
      throw new Error('bug: the primer needs no store');
    default:
      return unreachable(command.name);
  }
}

function sayRefused(message: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${harmless(message)}\n`);
  return exitCodes.store.code;
}
