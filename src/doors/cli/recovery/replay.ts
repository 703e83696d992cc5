/** The command `replay`: decides the failures of a call again from its records, and says whether that comes out equal. */
import type { JsonObject } from '../../../core/values/json.ts';
import { type Playbooks, replay, type Replay } from '../../../core/recovery/replay.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { CallStory, Inspection } from '../../../shell/look/inspect.ts';
import { playbooksIn } from '../../../shell/look/playbooks-in.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { resolveId } from '../resolve-id.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

export async function replayCall(command: Command, inspection: Inspection, terminal: Terminal): Promise<ExitCode> {
  const found = await findRecorded(command, inspection, terminal);
  if (typeof found === 'number') return found;
  const { story, playbooks } = found;
  const made = replay(story.call, story.records, playbooks);
  const { id } = story.call;
  if (command.json) terminal.print(`${JSON.stringify({ call_id: id, ...shapeOf(made) })}\n`);
  else terminal.print(`${writeReplay(id, made, terminal.paint)}\n`);
  return codeOf(made);
}

export interface RecordedCall {
  readonly story: CallStory;
  readonly playbooks: Playbooks;
}

/** The call that is meant, with the playbooks that decided about it; or the exit code, after saying why not. */
export async function findRecorded(
  command: Command,
  inspection: Inspection,
  terminal: Terminal,
): Promise<RecordedCall | ExitCode> {
  const id = await resolveId(command.argument, 'look', inspection.meant, terminal);
  if (typeof id === 'number') return id;
  const story = await inspection.call(id);
  if (story === null) {
    const advice = 'check the id, or look for it with: recourse calls ls';
    terminal.tell(`recourse: no call '${harmless(id)}' is on record; ${advice}\n`);
    return exitCodes.no.code;
  }
  const playbooks = await playbooksIn(story.records, inspection.blob);
  return { story, playbooks };
}

function shapeOf(made: Replay): JsonObject {
  switch (made.kind) {
    case 'equal':
      return { replay: 'equal', failures: made.failures, erased: made.erased };
    case 'different':
      return { replay: 'different', failures: made.failures, difference: { ...made.first } };
    case 'impossible':
      return { replay: 'impossible', missing: made.missing };
    default:
      return unreachable(made);
  }
}

function writeReplay(id: string, made: Replay, paint: Paint): string {
  switch (made.kind) {
    case 'equal': {
      const what = made.failures === 0 ? 'nothing failed' : `${made.failures} failed attempts, decided as recorded`;
      const erased = made.erased.length === 0 ? '' : `\n  erased, so not compared: ${made.erased.join(', ')}`;
      return `${paint('green', '✓ equal')}  ${harmless(id)}: ${what}${erased}`;
    }
    case 'different': {
      const { attempt, record, field, recorded, recomputed } = made.first;
      const where = `attempt ${attempt}, ${harmless(record)}${field === '' ? '' : `, ${harmless(field)}`}`;
      const values = `  recorded    ${harmless(JSON.stringify(recorded))}\n  recomputed  ${harmless(JSON.stringify(recomputed))}`;
      return `${paint('red', '✗ different')}  ${harmless(id)}: ${where}\n${values}`;
    }
    case 'impossible':
      return `${paint('yellow', '· cannot be replayed')}  ${harmless(id)}: the store lacks ${harmless(made.missing)}`;
    default:
      return unreachable(made);
  }
}

function codeOf({ kind }: Replay): ExitCode {
  if (kind === 'equal') return exitCodes.done.code;
  return kind === 'different' ? exitCodes.no.code : exitCodes.store.code;
}
