/**
 * Resolves the beginning of an id to the whole id. Reports an ambiguous beginning, or one that is too short to decide
 * by.
 */
import { chosenId, isWhole, type MeantId, saysEnough, unmarked } from '../../core/values/short-id.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { harmless, type Terminal } from './terminal.ts';

/** What is not the beginning of an id is returned as it is: the command then reports that it does not exist. */
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
