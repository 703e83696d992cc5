/**
 * Did the process end before the command had answered? An author's code runs in it, and may call process.exit, or throw where
 * nobody can catch it: silence and a zero would read as a yes, and the other as a bug of ours. Says so in a sentence, and ends
 * with a no. Must not keep the process from ending.
 */
import { exitCodes } from './exit-codes.ts';
import type { Command } from './arguments/read-command-line.ts';
import { harmless, type Terminal } from './terminal.ts';

/** As a shell says it of a command that was interrupted. */
export const abandoned = 130;

/** Whoever ends it with one of these is one of us: nothing is left to say. */
const ours: readonly number[] = [exitCodes.unexpected.code, abandoned];

/** Where our own code stands, as stacks name it. */
const home = new URL('../../', import.meta.url).href;

/** `loading` names the modules that are being loaded. Returns what to call when the command has answered. */
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
    // What is none of theirs is left to whoever reports bugs.
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

/** Somebody's file is in its stack, and none of ours: a timer or a listener of theirs threw. */
function isTheirs(error: unknown): boolean {
  const stack = partOf(error, 'stack');
  return stack.includes('file://') && !stack.includes(home);
}

/** It may be anything, even something that throws when it is looked at. */
function partOf(error: unknown, part: 'stack' | 'message'): string {
  try {
    return error instanceof Error ? String(error[part]) : String(error);
  } catch {
    return 'something that cannot be written down';
  }
}

/** In the shape of any other problem: a program reads it. */
function printAsCheck({ argument }: Command, told: { message: string; fix: string }, { print }: Terminal): void {
  const source = argument || 'recourse.yaml';
  const place = { file: source, line: 1, column: 1, text: '' };
  print(`${JSON.stringify({ kind: 'problem', severity: 'error', code: 'ShapeInvalid', ...place, ...told })}\n`);
  print(`${JSON.stringify({ kind: 'summary', holds: false, source, problems: 1, warnings: 0, workflows: 0 })}\n`);
}
