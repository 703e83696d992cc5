/** The command `console`: prints a link that opens the console of a running gateway once. */
import { type FindDaemon, reportFailure, reportNotFound, wishOf } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Terminal } from '../terminal.ts';

export async function runConsole(
  command: Command,
  { findDaemon }: { readonly findDaemon: FindDaemon },
  terminal: Terminal,
): Promise<ExitCode> {
  const found = await findDaemon(wishOf(command, 'operator', terminal));
  if (found.kind === 'refused') return reportNotFound(found, command, terminal);
  const { daemon } = found;
  const answer = await daemon.ask({ method: 'POST', path: '/v1/console/links', body: {} });
  const path = answer.kind === 'answered' ? answer.body['path'] : undefined;
  if (answer.kind !== 'answered' || typeof path !== 'string') return reportFailure(answer, daemon, terminal);
  const url = `${daemon.url}${path}`;
  const expiresAt = String(answer.body['expires_at']);
  if (command.json) terminal.print(`${JSON.stringify({ url, expires_at: expiresAt })}\n`);
  else
    terminal.print(
      `${terminal.paint('cyan', harmless(url))}\n${terminal.paint('dim', `Opens the console once, until ${harmless(expiresAt)}.`)}\n`,
    );
  return exitCodes.done.code;
}
