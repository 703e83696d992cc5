/**
 * Reports a process that ended before the command had answered. The code of a workflow runs in it and may call
 * process.exit or throw uncaught: exit code 0 would then read as a yes. Prints a sentence and exits with 1.
 */
import { exitCodes } from './exit-codes.ts';
import type { Command } from './arguments/read-command-line.ts';
import { harmless, type Terminal } from './terminal.ts';

/** The exit code of an interrupted command, as shells report it. */
export const abandoned = 130;

/** Exit codes of our own: nothing is left to report. */
const ours: readonly number[] = [exitCodes.unexpected.code, abandoned];

/** The folder of our own code, as in stack traces. */
const home = new URL('../../', import.meta.url).href;

/** `loading` names the modules that are being loaded. Call the returned function when the command has answered. */
export function reportEarlyExit(command: Command, loading: () => readonly string[], terminal: Terminal): () => void {
  const tell = (did: string, fix: string): void => {
    const modules = loading().map((each) => `'${each}'`);
    const message =
      modules.length === 0 ? `code of a workflow or tool ${did}` : `${modules.join(' or ')} ${did} while it was loaded`;
    if (command.name === 'check' && command.json) printAsCheck(command, { message, fix }, terminal);
    else terminal.tell(`recourse: ${harmless(message)}: ${fix}\n`);
    process.exitCode = exitCodes.no.code;
  };
  const onExit = (code: number): void => {
    if (ours.includes(code)) return;
    tell('ended the process (process.exit)', 'take process.exit out of it; recourse ends the process itself');
  };
  const onThrow = (error: unknown): void => {
    // Not an error of the author's code: reported as a bug elsewhere.
    if (loading().length === 0 && !isTheirs(error)) return;
    stop();
    const [reason = ''] = partOf(error, 'message').split('\n');
    tell(`threw where nobody could catch it (${reason})`, 'catch it there; a timer or a promise was left behind');
    process.exit();
  };
  const stop = (): void => {
    process.off('exit', onExit);
    process.off('uncaughtException', onThrow);
  };
  process.on('exit', onExit);
  process.prependListener('uncaughtException', onThrow);
  return stop;
}

/** The stack has files, and none of ours: a timer or listener of the author's code threw. */
function isTheirs(error: unknown): boolean {
  const stack = partOf(error, 'stack');
  return stack.includes('file://') && !stack.includes(home);
}

/** Anything can be thrown, even an object whose getters throw. */
function partOf(error: unknown, part: 'stack' | 'message'): string {
  try {
    return error instanceof Error ? String(error[part]) : String(error);
  } catch {
    return 'something that cannot be written down';
  }
}

/** In the form of any other problem, for programs. */
function printAsCheck({ argument }: Command, told: { message: string; fix: string }, { print }: Terminal): void {
  const source = argument || 'recourse.yaml';
  const place = { file: source, line: 1, column: 1, text: '' };
  print(`${JSON.stringify({ kind: 'problem', severity: 'error', code: 'ShapeInvalid', ...place, ...told })}\n`);
  print(`${JSON.stringify({ kind: 'summary', holds: false, source, problems: 1, warnings: 0, workflows: 0 })}\n`);
}
