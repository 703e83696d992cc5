/** The command `pin`: prints what changed in the tools since they were pinned. Does not know how servers are asked. */
import type { Json, JsonObject } from '../../../core/values/json.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import { type ToldProblem, writeProblem } from './check.ts';
import { diffStates } from '../print/diff-states.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

export interface PinOrder {
  readonly config: string | undefined;
  readonly isCheck: boolean;
}

interface PinnedTool {
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly annotations: JsonObject | null;
  readonly sha256: string;
}

export interface PinnedTools {
  readonly servers: ReadonlyMap<string, ReadonlyMap<string, PinnedTool>>;
}

export type Pinned =
  | {
      readonly kind: 'pinned';
      readonly file: string;
      readonly isSame: boolean;
      /** There was a lock that could not be read. */
      readonly wasUnreadable: boolean;
      readonly before: PinnedTools | null;
      readonly lock: PinnedTools;
      /** Tools that are not offered, with the reason. */
      readonly leftOut: readonly string[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly ToldProblem[] }
  | { readonly kind: 'unreachable'; readonly servers: readonly { readonly name: string; readonly problem: string }[] }
  | { readonly kind: 'refused'; readonly message: string };

export type PinTools = (order: PinOrder) => Promise<Pinned>;

export interface ToolChange {
  readonly change: 'added' | 'removed' | 'changed';
  readonly tool: string;
  /** The names of the changed fields. */
  readonly fields: readonly string[];
}

/** The most changed fields shown for one tool. */
const maxFields = 20;

export async function runPin(command: Command, pin: PinTools, terminal: Terminal): Promise<ExitCode> {
  const isCheck = command.flags.has('check');
  const pinned = await pin({ config: command.config, isCheck });
  switch (pinned.kind) {
    case 'pinned':
      return printPinned(pinned, isCheck, command.json, terminal);
    case 'problems':
      for (const problem of pinned.problems) terminal.tell(`${writeProblem(problem, terminal.paintTold)}\n`);
      return exitCodes.no.code;
    case 'unreachable':
      for (const { name, problem } of pinned.servers)
        terminal.tell(`recourse: the server '${harmless(name)}' cannot be reached: ${harmless(problem)}\n`);
      terminal.tell('recourse: nothing was pinned, and the lock is as it was; mend the server, then try again\n');
      return exitCodes.no.code;
    case 'refused':
      terminal.tell(`recourse: ${harmless(pinned.message)}\n`);
      return exitCodes.no.code;
    default:
      return unreachable(pinned);
  }
}

function printPinned(
  pinned: Pinned & { kind: 'pinned' },
  isCheck: boolean,
  json: boolean,
  terminal: Terminal,
): ExitCode {
  const { file, isSame, lock, leftOut, wasUnreadable } = pinned;
  const changes = changesOf(pinned.before, lock);
  const holds = isSame || !isCheck;
  const counts = {
    servers: lock.servers.size,
    tools: [...lock.servers.values()].reduce((sum, { size }) => sum + size, 0),
  };
  if (json) {
    const written = !isSame && !isCheck;
    terminal.print(`${JSON.stringify({ file, holds, written, ...counts, changes, left_out: leftOut })}\n`);
    return holds ? exitCodes.done.code : exitCodes.no.code;
  }
  if (wasUnreadable) terminal.tell(`recourse: the old ${harmless(file)} could not be read\n`);
  for (const each of leftOut) terminal.tell(`recourse: left out: ${harmless(each)}\n`);
  for (const change of changes) terminal.print(writeChange(change, terminal.paint));
  const size = `${counted(counts.tools, 'tool')} of ${counted(counts.servers, 'server')}`;
  const shown = harmless(file);
  const verdict = isSame
    ? terminal.paint('green', `✓ ${shown} is what the servers say: ${size}`)
    : isCheck
      ? terminal.paint('red', `✗ ${shown} is not what the servers say: look at the changes, then run recourse pin`)
      : terminal.paint('green', `✓ ${shown} is written: ${size}`);
  terminal.print(`${verdict}\n`);
  return holds ? exitCodes.done.code : exitCodes.no.code;
}

/** The changes by tool, in the order of their names. */
export function changesOf(before: PinnedTools | null, after: PinnedTools): readonly ToolChange[] {
  const [was, is] = [flat(before), flat(after)];
  return [...new Set([...was.keys(), ...is.keys()])].toSorted().flatMap((tool): readonly ToolChange[] => {
    const [old, now] = [was.get(tool), is.get(tool)];
    if (old === undefined) return [{ change: 'added', tool, fields: [] }];
    if (now === undefined) return [{ change: 'removed', tool, fields: [] }];
    if (old.sha256 === now.sha256 && differing(old, now).length === 0) return [];
    const fields = differing(old, now);
    // The hash covers more than the lock keeps.
    return [{ change: 'changed', tool, fields: fields.length === 0 ? ['something that is not kept'] : fields }];
  });
}

function flat(lock: PinnedTools | null): ReadonlyMap<string, PinnedTool> {
  const entries = [...(lock?.servers ?? [])].flatMap(([server, tools]) =>
    [...tools].map(([name, tool]) => [`${server}/${name}`, tool] as const),
  );
  return new Map(entries);
}

function differing({ sha256: _, ...was }: PinnedTool, { sha256: __, ...is }: PinnedTool): readonly string[] {
  const signs = { add: '+', remove: '-', replace: '~' } as const;
  return diffStates(was as Json, is as Json).map(({ op, path }) => `${signs[op]}${path.slice(1)}`);
}

const styles = { added: ['green', '+'], removed: ['red', '-'], changed: ['yellow', '~'] } as const;

function writeChange({ change, tool, fields }: ToolChange, paint: Paint): string {
  const [style, sign] = styles[change];
  const more = fields.length > maxFields ? [`… and ${fields.length - maxFields} more`] : [];
  const lines = [...fields.slice(0, maxFields), ...more].map((field) => `      ${paint('dim', harmless(field))}\n`);
  return `  ${paint(style, sign)} ${harmless(tool)}  ${change}\n${lines.join('')}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
