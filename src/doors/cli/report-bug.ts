/** What does a person see of a bug of ours? One sentence and an id; the stack only on demand. */
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { harmless, type Terminal } from './terminal.ts';

export function reportBug(error: unknown, correlationId: string, terminal: Terminal): ExitCode {
  const [firstLine = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const advice = 'please report it with this id; RECOURSE_DEBUG=1 shows more';
  terminal.tell(`recourse: this is a bug of recourse, ${correlationId}: ${harmless(firstLine)}; ${advice}.\n`);
  if (terminal.env['RECOURSE_DEBUG'] === '1' && error instanceof Error) terminal.tell(`${error.stack ?? ''}\n`);
  return exitCodes.unexpected.code;
}
