/** The command `init`: says what was written, what was taken over, what must be set, and which two commands come next. */
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Command } from './read-command-line.ts';
import { harmless, type Terminal } from './terminal.ts';

export interface InitOrder {
  readonly config: string | undefined;
  readonly from: string | undefined;
  readonly isDry: boolean;
}

export type Initiated =
  | {
      readonly kind: 'made';
      readonly file: string;
      readonly text: string;
      /** The one that is declared. */
      readonly agent: string;
      readonly servers: readonly { readonly name: string; readonly from: string }[];
      readonly skipped: readonly { readonly name: string; readonly from: string; readonly reason: string }[];
      readonly unreadable: readonly string[];
      readonly variables: readonly { readonly name: string; readonly meaning: string; readonly isSet: boolean }[];
      /** The store was added to .gitignore. */
      readonly ignored: boolean;
    }
  | { readonly kind: 'refused'; readonly message: string };

export type InitProject = (order: InitOrder) => Promise<Initiated>;

export async function runInit(command: Command, init: InitProject, terminal: Terminal): Promise<ExitCode> {
  const { said, config, flags, json } = command;
  const isDry = flags.has('dry-run');
  const made = await init({ config, from: said.from, isDry });
  if (made.kind === 'refused') {
    terminal.tell(`recourse: ${harmless(made.message)}\n`);
    return exitCodes.no.code;
  }
  const { file, text, servers, skipped, unreadable, variables, ignored, agent } = made;
  if (json) {
    const names = variables.map(({ name, meaning, isSet }) => ({ name, meaning, is_set: isSet }));
    const shape = { file, written: !isDry, servers, skipped, unreadable, variables: names, gitignore: ignored };
    terminal.print(`${JSON.stringify(isDry ? { ...shape, text } : shape)}\n`);
    return exitCodes.done.code;
  }
  if (isDry) terminal.print(text);
  const { tell, paintTold: paint } = terminal;
  for (const each of unreadable) tell(`recourse: could not be read: ${harmless(each)}\n`);
  for (const { name, from } of servers) tell(`  ${paint('green', '+')} ${harmless(name)}  from ${harmless(from)}\n`);
  for (const { name, from, reason } of skipped)
    tell(`  ${paint('yellow', '-')} ${harmless(name)}  from ${harmless(from)}, not taken over: ${harmless(reason)}\n`);
  const unset = variables.filter(({ isSet }) => !isSet);
  if (unset.length > 0) {
    tell('Set these before recourse up; their values were not copied:\n');
    for (const { name, meaning } of unset) tell(`  ${paint('cyan', name)}  ${harmless(meaning)}\n`);
  }
  if (ignored) tell('.gitignore: recourse.db* is added, for the store and its keys\n');
  if (isDry) return exitCodes.done.code;
  const found = servers.length === 1 ? 'one server' : `${servers.length} servers`;
  terminal.print(`${terminal.paint('green', `✓ ${harmless(file)} is written`)}, with ${found}. Next:\n`);
  terminal.print(`  recourse agents add ${agent}\n  recourse up\n`);
  return exitCodes.done.code;
}
