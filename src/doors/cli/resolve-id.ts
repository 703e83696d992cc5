/** Which id did a person mean who gave the beginning of one? Says so where several begin like it, or where it is too short to decide by. */
import { chosenId, isWhole, type MeantId, saysEnough, unmarked } from '../../core/values/short-id.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { harmless, type Terminal } from './terminal.ts';

/** What is no beginning, or begins nothing, is given back as it is: who looks for it says that it is not there. */
export async function resolveId(
  given: string,
  use: 'look' | 'decide',
  find: (beginning: string) => Promise<MeantId>,
  terminal: Terminal,
): Promise<string | ExitCode> {
  const beginning = unmarked(given);
  if (isWhole(beginning) || !saysEnough(beginning, 'look')) return beginning;
  const chosen = chosenId(beginning, use, await find(beginning));
  if ('id' in chosen) return chosen.id;
  terminal.tell(`recourse: ${harmless(chosen.problem)}\n`);
  return exitCodes.no.code;
}
