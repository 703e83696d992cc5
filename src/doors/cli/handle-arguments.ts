/**
 * Handles what needs no gateway: help, the version, and errors in the command line. Everything imported here is loaded
 * before `recourse --help` can print, so it must stay small.
 */
import { readFileSync } from 'node:fs';
import { unreachable } from '../../core/values/unreachable.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { type Command, readCommandLine } from './arguments/read-command-line.ts';
import { harmless, processTerminal, type Terminal } from './terminal.ts';
import { writeHelp } from './print/write-help.ts';

export { processTerminal };

/** The exit code, or the command that has to be run. */
export function handleArguments(words: readonly string[], terminal: Terminal): ExitCode | Command {
  const asked = readCommandLine(words);
  switch (asked.kind) {
    case 'run':
      return asked;
    case 'help':
      terminal.print(writeHelp(asked.topic, terminal.paint));
      return exitCodes.done.code;
    case 'version':
      terminal.print(`${version()}\n`);
      return exitCodes.done.code;
    case 'wrong':
      terminal.tell(`recourse: ${harmless(asked.sentence)}\n`);
      return exitCodes.usage.code;
    default:
      return unreachable(asked);
  }
}

/** The built package has the same depth as the sources, so this path is right for both. */
export function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
