/** Which id did a person mean who gave the beginning of one? Says so where several begin like it. */
import { isWhole, type MeantId, saysEnough, severalMeant, unmarked } from '../../core/short-id.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { harmless, type Terminal } from './terminal.ts';

/** What is no beginning, or begins nothing, is given back as it is: who looks for it says that it is not there. */
export async function wholeId(
  given: string,
  use: 'look' | 'decide',
  find: (beginning: string) => Promise<MeantId>,
  terminal: Terminal,
): Promise<string | ExitCode> {
  const beginning = unmarked(given);
  if (isWhole(beginning) || !saysEnough(beginning, use)) return beginning;
  const meant = await find(beginning);
  if (meant.kind === 'none') return beginning;
  if (meant.kind === 'one') return meant.id;
  terminal.tell(`recourse: ${harmless(severalMeant(beginning, meant.ids))}\n`);
  return exitCodes.no.code;
}
