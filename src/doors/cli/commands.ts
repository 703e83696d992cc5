/**
 * Which commands and options are there? Data only: the command line is read by it and the help is written from it, so
 * that they cannot differ. Must not load anything of the gateway.
 */
export interface OptionEntry {
  readonly short?: string;
  /** What stands for the value in the help; an option without one is a flag. */
  readonly value?: string;
  readonly says: string;
}

export const options = {
  file: { value: 'path', says: 'the store; else $RECOURSE_FILE, else ./recourse.db' },
  state: { value: 'state', says: 'only calls in this state, such as IN_DOUBT' },
  agent: { value: 'name', says: 'only calls of this agent' },
  tool: { value: 'name', says: 'only calls of this tool' },
  session: { value: 'id', says: 'only calls of this session' },
  limit: { value: 'count', says: 'how many calls, 1 to 10000; 20 if not given' },
  before: { value: 'call_id', says: 'only calls older than this one: the next page' },
  lines: { short: 'n', value: 'count', says: 'how many records to begin with, 0 to 10000; 10 if not given' },
  follow: { short: 'f', says: 'go on and print records as they come; Ctrl-C ends it' },
  json: { says: 'for programs: one JSON object on each line, in a stable shape' },
  help: { short: 'h', says: 'this text; after a command, that of the command' },
  version: { short: 'v', says: 'the version' },
} as const satisfies Record<string, OptionEntry>;

export type OptionName = keyof typeof options;

export interface CommandEntry {
  readonly group: string;
  readonly says: string;
  /** A few lines more, for the command's own help. */
  readonly more: readonly string[];
  readonly argument: string | null;
  /** When it exits with 1; null if it never does. */
  readonly no: string | null;
  readonly options: readonly OptionName[];
  readonly examples: readonly (readonly [line: string, says: string])[];
}

export const commands = {
  primer: {
    group: 'Learn',
    says: 'a coffee order that meets every kind of reply, explained',
    more: [
      'Runs a real gateway in this process on a temporary store: no network, nothing left behind, about a second.',
      'The output is the same on every run, byte for byte.',
    ],
    argument: null,
    no: 'a reply is not the one that the story expects',
    options: ['json'],
    examples: [
      ['recourse primer', 'read it from top to bottom'],
      ['recourse primer --json', 'the requests and replies as they are on the wire'],
    ],
  },
  'calls ls': {
    group: 'Look',
    says: 'the newest calls, with their state and tool',
    more: ['Newest first. Works while a gateway owns the store, and after a crash; it only reads.'],
    argument: null,
    no: null,
    options: ['state', 'agent', 'tool', 'session', 'limit', 'before', 'file', 'json'],
    examples: [
      ['recourse calls ls --state IN_DOUBT', 'calls that may or may not have taken effect'],
      ['recourse calls ls --agent support-bot --limit 100', 'the last hundred of one agent'],
    ],
  },
  'calls show': {
    group: 'Look',
    says: 'one call: arguments, reply, gates, and every record about it',
    more: ['Parts that were erased are shown as erased.'],
    argument: 'call_id',
    no: 'the store has no such call',
    options: ['file', 'json'],
    examples: [['recourse calls show call_01k4w…', 'what happened to it, in order']],
  },
  'audit verify': {
    group: 'Prove',
    says: 'recompute every hash of the journal, from the first record to the last',
    more: [
      'Reads page by page, however long the journal is, and names each record that is wrong.',
      'It cannot see that records were cut off at the very end: keep the head it prints somewhere else, and compare.',
    ],
    argument: null,
    no: 'the journal does not hold',
    options: ['file', 'json'],
    examples: [['recourse audit verify --file backup.db', 'is this backup what was written?']],
  },
  'audit tail': {
    group: 'Prove',
    says: 'the newest records; --follow goes on as they come',
    more: ['Oldest of them first. Shows what happened and when; arguments and replies are in calls show.'],
    argument: null,
    no: null,
    options: ['lines', 'follow', 'file', 'json'],
    examples: [
      ['recourse audit tail -n 50', 'the last fifty records'],
      ['recourse audit tail --follow --json', 'a feed for another program'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;

export type CommandName = keyof typeof commands;

export const commandNames = Object.keys(commands) as readonly CommandName[];
