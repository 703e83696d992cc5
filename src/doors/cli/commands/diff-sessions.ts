/** The command `sessions diff`: what a step did to the state, or where two sessions went different ways. */
import { cut } from '../../../core/values/canonical.ts';
import type { Json } from '../../../core/values/json.ts';
import { quoteValue } from '../../../core/values/quote.ts';
import type { SessionInspection, StateAt } from '../../../shell/look/inspect-sessions.ts';
import { diffStates } from '../print/diff-states.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type Difference, stateShape } from '../print/session-shapes.ts';
import { sayNoSession } from './sessions.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';
import { resolveId } from '../resolve-id.ts';

const mostLines = 1_000;
const longestValue = 200;

export async function diffSessions(
  { words, json }: Command,
  inspection: SessionInspection,
  terminal: Terminal,
): Promise<ExitCode> {
  const [given = '', from = '', to] = words;
  const seq = seqOf(from);
  if (seq === null) {
    terminal.tell(
      `recourse: '${harmless(from)}' is no seq: name a step of ${harmless(given)}, from 0. Try: recourse sessions diff --help\n`,
    );
    return exitCodes.usage.code;
  }
  const handle = await resolveId(given, 'look', inspection.meant, terminal);
  if (typeof handle === 'number') return handle;
  const other = to === undefined || seqOf(to) !== null ? handle : await resolveId(to, 'look', inspection.meant, terminal);
  if (typeof other === 'number') return other;
  const before = await inspection.stateAt(handle, seq);
  if (before.kind !== 'state') return sayNoState(handle, before, terminal);
  const after = await inspection.stateAt(other, to === undefined ? null : seqOf(to));
  if (after.kind !== 'state') return sayNoState(other, after, terminal);
  const differences = diffStates(stateShape(before.state), stateShape(after.state));
  if (json) for (const each of differences) terminal.print(`${JSON.stringify(each)}\n`);
  else
    terminal.print(
      differences
        .slice(0, mostLines)
        .map((each) => writeDifference(each, terminal.paint))
        .join(''),
    );
  if (json) return exitCodes.done.code;
  const said = differences.length === 0 ? 'nothing differs' : counted(differences.length);
  const more = differences.length > mostLines ? `; ${mostLines} shown, --json shows all of them` : '';
  const places = `${harmless(handle)} at ${before.seq} and ${other === handle ? '' : `${harmless(other)} at `}${after.seq}`;
  terminal.tell(terminal.paintTold('dim', `${said} between ${places}${more}.\n`));
  return exitCodes.done.code;
}

/** Null for what is no whole number from 0. */
function seqOf(word: string): number | null {
  return /^\d{1,15}$/.test(word) ? Number(word) : null;
}

function sayNoState(handle: string, found: Exclude<StateAt, { kind: 'state' }>, terminal: Terminal): ExitCode {
  if (found.kind === 'no_session') return sayNoSession(handle, terminal);
  const { seq, first, last } = found;
  const advice = seq > last || first === null ? `the last one is ${last}` : `those from ${first} to ${last} are`;
  terminal.tell(`recourse: the state of ${harmless(handle)} at ${seq} is not kept; ${advice}\n`);
  return exitCodes.no.code;
}

function writeDifference({ op, path, before, after }: Difference, paint: Paint): string {
  const at = harmless(path === '' ? '/' : path);
  if (op === 'add') return `${paint('green', '+')} ${at}  ${brief(after)}\n`;
  if (op === 'remove') return `${paint('red', '-')} ${at}  ${brief(before)}\n`;
  return `${paint('yellow', '~')} ${at}  ${brief(before)} → ${brief(after)}\n`;
}

function brief(value: Json): string {
  const text = quoteValue(value);
  return text.length <= longestValue ? text : `${cut(text, longestValue)}…`;
}

const counted = (count: number): string => (count === 1 ? 'one path differs' : `${count} paths differ`);
