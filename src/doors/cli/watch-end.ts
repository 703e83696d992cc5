/**
 * Did the process end before the command had answered? An author's code runs in it, and may call process.exit: silence and a zero
 * would read as a yes. Says so in a sentence, and ends with a no. Must not keep the process from ending.
 */
import { exitCodes } from './exit-codes.ts';
import type { Command } from './read-command-line.ts';
import { harmless, type Terminal } from './terminal.ts';

/** As a shell says it of a command that was interrupted. */
export const abandoned = 130;

/** Whoever ends it with one of these is one of us: nothing is left to say. */
const ours: readonly number[] = [exitCodes.unexpected.code, abandoned];

/** `loading` names the modules that are being loaded. Returns what to call when the command has answered. */
export function watchEnd(command: Command, loading: () => readonly string[], terminal: Terminal): () => void {
  const onExit = (code: number): void => {
    if (ours.includes(code)) return;
    const modules = loading().map((each) => `'${each}'`);
    const message =
      modules.length === 0
        ? 'code of a workflow or tool ended the process (process.exit)'
        : `${modules.join(' or ')} ended the process (process.exit) while it was loaded`;
    const fix = 'take process.exit out of it; recourse ends the process itself';
    if (command.name === 'check' && command.json) printAsCheck(command, { message, fix }, terminal);
    else terminal.tell(`recourse: ${harmless(message)}: ${fix}\n`);
    process.exitCode = exitCodes.no.code;
  };
  process.on('exit', onExit);
  return () => void process.off('exit', onExit);
}

/** In the shape of any other problem: a program reads it. */
function printAsCheck({ argument }: Command, told: { message: string; fix: string }, { print }: Terminal): void {
  const source = argument || 'recourse.yaml';
  const place = { file: source, line: 1, column: 1, text: '' };
  print(`${JSON.stringify({ kind: 'problem', severity: 'error', code: 'ShapeInvalid', ...place, ...told })}\n`);
  print(`${JSON.stringify({ kind: 'summary', holds: false, source, problems: 1, warnings: 0, workflows: 0 })}\n`);
}
