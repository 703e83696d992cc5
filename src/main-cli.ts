/**
 * The composition root of the command line: gives it a way to read stores and, for the primer alone, a gateway. What a
 * command does not need is not loaded. Must not decide or print anything.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isEnvironmental, sqlite, sqliteCode, textOf } from './adapters/store-sqlite/refusal.ts';
import { nodeHashing } from './adapters/store-sqlite/node-hashing.ts';
import { openSqliteReader } from './adapters/store-sqlite/open-reader.ts';
import { nodeClock } from './adapters/system-node/clock.ts';
import { nodeIds } from './adapters/system-node/ids.ts';
import { GatewayError } from './core/gateway-error.ts';
import type { BarTool } from './doors/cli/primer-bar.ts';
import type { OpenedStage, PrimerParts } from './doors/cli/primer.ts';
import type { Command } from './doors/cli/read-command-line.ts';
import { type CliParts, runCommand } from './doors/cli/run-command.ts';
import type { Terminal } from './doors/cli/terminal.ts';
import type { Ids } from './ports/ids.ts';
import { createInspection } from './shell/inspect.ts';

export function startCli(command: Command, terminal: Terminal): Promise<number> {
  return runCommand(command, cliParts, terminal);
}

const cliParts: CliParts = {
  openStore,
  explainFault,
  primer: primerParts,
  timer: nodeClock,
  newCorrelationId: () => nodeIds.random('err_'),
};

async function openStore(file: string): ReturnType<CliParts['openStore']> {
  const problem = await problemOf(file);
  if (problem !== null) return { kind: 'refused', message: problem };
  const opened = await openSqliteReader(file);
  if (opened.kind === 'opened') {
    return { kind: 'opened', inspection: createInspection(opened.reader, nodeHashing), close: opened.close };
  }
  // The adapter speaks to whoever wants to write.
  if (opened.reason === 'not_writable') return refused(`'${file}' cannot be read: check its owner and mode`);
  return refused(opened.message);
}

const refused = (message: string) => ({ kind: 'refused', message }) as const;

/** What can be said of the name alone; null if a file is there. */
async function problemOf(file: string): Promise<string | null> {
  try {
    const found = await stat(file);
    if (found.isFile()) return null;
    if (found.isDirectory())
      return `'${file}' is a folder: name the file in it, such as '${path.join(file, 'recourse.db')}'`;
    return `'${file}' is not a file: name the store with --file or RECOURSE_FILE`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return `'${file}' cannot be looked at (${code}): check the name and its rights`;
    return `there is no store at '${file}': name it with --file or RECOURSE_FILE, or start a gateway, which makes it`;
  }
}

function explainFault(error: unknown, file: string): string | null {
  const code = sqliteCode(error);
  if (code === null || !isEnvironmental(error)) return null;
  if (code === sqlite.corrupt || code === sqlite.notADatabase)
    return `'${file}' is damaged (${textOf(error)}): keep a copy of it, and restore a backup`;
  return `'${file}' could not be read (${textOf(error)}): check the disk, then ask again`;
}

async function primerParts(): Promise<PrimerParts> {
  const { partial } = await import('./adapters/upstream-function/tool-failure.ts');
  return { partial, openStage };
}

/** Nothing of the run depends on the time of day, on chance or on how fast the disk is. */
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
  return { ordered: count, random: count };
}
