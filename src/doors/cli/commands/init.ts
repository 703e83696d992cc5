/**
 * The command `init`: prints what was written, the effect class of each tool, the variables to set, and the next
 * commands.
 */
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type Column, writeTable } from '../print/table.ts';
import { harmless, type Terminal } from '../terminal.ts';

export interface InitOrder {
  readonly config: string | undefined;
  readonly from: string | undefined;
  readonly isDry: boolean;
  /** Called before servers are started, which takes a while. */
  readonly onStarting: (servers: readonly string[]) => void;
}

interface InitiatedServer {
  readonly name: string;
  readonly from: string;
  /** Why its tools could not be listed; null if they were. */
  readonly problem: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly effect: string;
    readonly onError: string | null;
    readonly decision: string;
    readonly why: string;
  }[];
  /** Tools that no rule can name. */
  readonly unnamed: readonly string[];
  /** Tools that are not offered, with the reason. */
  readonly leftOut: readonly string[];
}

export type Initiated =
  | {
      readonly kind: 'made';
      readonly file: string;
      readonly text: string;
      /** The agent that the file declares. */
      readonly agent: string;
      readonly servers: readonly InitiatedServer[];
      /** Null if there is nothing to pin. An existing lock is kept. */
      readonly lock: { readonly file: string; readonly isWritten: boolean } | null;
      readonly skipped: readonly { readonly name: string; readonly from: string; readonly reason: string }[];
      readonly unreadable: readonly string[];
      readonly variables: readonly { readonly name: string; readonly meaning: string; readonly isSet: boolean }[];
      /** Configuration for clients that start a command. */
      readonly snippets: readonly { readonly files: readonly string[]; readonly text: string }[];
    }
  | { readonly kind: 'refused'; readonly message: string };

export type InitProject = (order: InitOrder) => Promise<Initiated>;

type Made = Extract<Initiated, { kind: 'made' }>;

export async function runInit(command: Command, init: InitProject, terminal: Terminal): Promise<ExitCode> {
  const { said, config, flags, json } = command;
  const isDry = flags.has('dry-run');
  const onStarting = (servers: readonly string[]) => {
    const named = servers.map(harmless).join(', ');
    if (!json) terminal.tell(`Starting ${counted(servers.length)}, to list the tools: ${named}\n`);
  };
  const made = await init({ config, from: said.from, isDry, onStarting });
  if (made.kind === 'refused') {
    terminal.tell(`recourse: ${harmless(made.message)}\n`);
    return exitCodes.no.code;
  }
  if (json) {
    terminal.print(`${JSON.stringify(asJson(made, isDry))}\n`);
    return exitCodes.done.code;
  }
  if (isDry) terminal.print(made.text);
  tellFound(made, terminal);
  if (isDry) return exitCodes.done.code;
  const { file, lock, servers, agent } = made;
  const files = lock?.isWritten ? `${harmless(file)} and ${harmless(lock.file)} are` : `${harmless(file)} is`;
  terminal.print(`${terminal.paint('green', `✓ ${files} written`)}, with ${counted(servers.length)}. Next:\n`);
  terminal.print(`  recourse agents add ${agent}\n  recourse up\n`);
  for (const snippet of made.snippets) terminal.print(writeSnippet(snippet));
  return exitCodes.done.code;
}

/** For clients that start a command instead of connecting to an address. */
function writeSnippet({ files, text }: Made['snippets'][number]): string {
  const where = files.map(harmless).join(' and ');
  const lines = text.split('\n').map((line) => `  ${harmless(line)}\n`);
  return [`Or let the client start it: put this into ${where}, in place of the servers there:\n`, ...lines].join('');
}

const counted = (servers: number): string => (servers === 1 ? 'one server' : `${servers} servers`);

function asJson({ file, text, lock, servers, skipped, unreadable, variables }: Made, isDry: boolean): object {
  const tools = servers.flatMap(({ name, tools: own }) =>
    own.map((tool) => ({
      tool: `${name}/${tool.name}`,
      effect: tool.effect,
      on_error: tool.onError,
      decision: tool.decision,
      why: tool.why,
    })),
  );
  return {
    file,
    written: !isDry,
    lock: lock?.isWritten ? lock.file : null,
    servers: servers.map(({ name, from, problem }) => ({ name, from, problem })),
    tools,
    left_out: servers.flatMap(({ name, leftOut, unnamed }) => [
      ...leftOut,
      ...unnamed.map((tool) => `${name}/${tool}: its name means something else in a rule`),
    ]),
    skipped,
    unreadable,
    variables: variables.map(({ name, meaning, isSet }) => ({ name, meaning, is_set: isSet })),
    ...(isDry ? { text } : {}),
  };
}

/** Prints what was found, and what the agent may do as a result. */
function tellFound({ servers, skipped, unreadable, variables, lock, file }: Made, terminal: Terminal): void {
  const { tell, paintTold: paint } = terminal;
  for (const each of unreadable) tell(`recourse: could not be read: ${harmless(each)}\n`);
  for (const { name, from, problem, unnamed, leftOut } of servers) {
    tell(`  ${paint(problem === null ? 'green' : 'yellow', '+')} ${harmless(name)}  from ${harmless(from)}\n`);
    if (problem !== null)
      tell(`      its tools could not be listed, and none of them is permitted: ${harmless(problem)}\n`);
    for (const each of leftOut) tell(`      left out: ${harmless(each)}\n`);
    for (const each of unnamed)
      tell(`      not declared, because its name means something else in a rule: ${harmless(each)}\n`);
  }
  for (const { name, from, reason } of skipped)
    tell(`  ${paint('yellow', '-')} ${harmless(name)}  from ${harmless(from)}, not taken over: ${harmless(reason)}\n`);
  const rows = servers.flatMap(({ name, tools }) => tools.map((tool) => ({ ...tool, name: `${name}/${tool.name}` })));
  if (rows.length > 0) tell(writeTable(columns, rows, paint));
  const unset = variables.filter(({ isSet }) => !isSet);
  if (unset.length > 0) {
    tell('Set these before recourse up; their values were not copied:\n');
    for (const { name, meaning } of unset) tell(`  ${paint('cyan', name)}  ${harmless(meaning)}\n`);
  }
  if (servers.some(({ problem }) => problem !== null))
    tell(
      `Of servers whose tools are not known nothing may be called. Mend them, move ${harmless(file)} away and run recourse init again.\n`,
    );
  if (lock?.isWritten === false)
    tell(`recourse: ${harmless(lock.file)} is left as it is: run recourse pin to renew it\n`);
}

type Row = InitiatedServer['tools'][number];

const columns: readonly Column<Row>[] = [
  { title: 'TOOL', text: ({ name }) => name },
  { title: 'EFFECT', text: ({ effect, onError }) => (onError === null ? effect : `${effect}, on_error ${onError}`) },
  {
    title: 'RULE',
    text: ({ decision }) => decision,
    style: ({ decision }) => (decision === 'permit' ? 'green' : 'yellow'),
  },
  { title: 'WHY', text: ({ why }) => why },
];
