/** The type of a command's entry, and the table of all options. Data only; loads nothing of the gateway. */
import { keyRoles } from '../../../core/call/identity.ts';

export interface OptionEntry {
  readonly short?: string;
  /** The placeholder for its value in the help; an option without one is a flag. */
  readonly value?: string;
  /** The allowed values. */
  readonly oneOf?: readonly string[];
  readonly says: string;
}

export const options = {
  file: { value: 'path', says: 'the store; else $RECOURSE_FILE, runtime.store, the state folder' },
  state: { value: 'state', says: 'only calls in this state, such as IN_DOUBT' },
  workflow: { value: 'name', says: 'only sessions of this workflow' },
  agent: { value: 'name', says: 'only calls of this agent' },
  tool: { value: 'name', says: 'only calls of this tool' },
  session: { value: 'id', says: 'only calls of this session' },
  limit: { value: 'count', says: 'how many calls, 1 to 10000; 20 if not given' },
  before: { value: 'call_id', says: 'only calls older than this one: the next page' },
  lines: { short: 'n', value: 'count', says: 'how many records to begin with, 0 to 10000; 10 if not given' },
  follow: { short: 'f', says: 'go on and print records as they come; Ctrl-C ends it' },
  config: { value: 'path', says: 'the configuration; else ./recourse.yaml, if there is one' },
  format: { value: 'mermaid|dot|svg', oneOf: ['mermaid', 'dot', 'svg'], says: 'mermaid if not given' },
  output: { short: 'o', value: 'path', says: 'write it to this file' },
  happened: { value: 'yes|no|unknown', oneOf: ['yes', 'no', 'unknown'], says: 'whether the call took effect' },
  result: { value: 'json', says: 'with yes: what the tool returned, as far as it is known' },
  by: { value: 'name', says: 'who says so; the user of this machine if not given' },
  args: { value: 'json|@file', says: 'approve it with these arguments instead' },
  reason: { value: 'text', says: 'why' },
  shown: { value: 'hash', says: 'decide only if it still is what approvals show had shown' },
  mode: {
    value: 'step|tools',
    oneOf: ['step', 'tools'],
    says: 'one tool for all actions, or one for each; step if not given',
  },
  'new-store': { says: 'begin with a new store although there was one here, or go on with an older copy of it' },
  listen: { value: 'host:port', says: 'where agents connect; 127.0.0.1:7411 if neither it nor the file says' },
  role: {
    value: 'agent|viewer|approver|admin',
    oneOf: keyRoles,
    says: 'what the key may do; agent if not given',
  },
  tenant: { value: 'name', says: 'whose keys; default if not given' },
  expires: { value: 'duration', says: 'when the key ends by itself, such as 30d; never if not given' },
  grace: { value: 'duration', says: 'how long the old key works on, such as 1h; not at all if not given' },
  url: {
    value: 'address',
    says: 'where the gateway listens; else what recourse.yaml says, else http://127.0.0.1:7411',
  },
  key: { value: 'key', says: 'the key; lists of processes show it: better $RECOURSE_KEY or --key-file' },
  'key-file': { value: 'path', says: 'a file that holds the key and nothing else' },
  model: { value: 'name', says: 'as which model the agent asks' },
  'idempotency-key': { value: 'text', says: 'names what is meant: the same key never runs a call twice' },
  wait: { value: 'seconds', says: 'how long to wait for the outcome, 0 to 3600; 30 if not given' },
  now: { value: 'time', says: 'offline, as if it were this time, such as 2026-05-18T09:00:00Z' },
  offline: { says: 'ask no gateway: from recourse.yaml and recourse.lock alone' },
  watch: { says: 'go on, and apply again whenever a file changes; Ctrl-C ends it' },
  force: { says: 'go on in spite of what recourse check calls an error; that goes on record' },
  all: { says: 'the long walk: one of each kind of reply' },
  check: { says: 'only compare; write nothing' },
  from: { value: 'path', says: 'only the servers of this file, whichever client it is of' },
  'dry-run': { says: 'print the file instead of writing it' },
  yes: { says: 'nothing is ever asked, so this changes nothing; for scripts that say it' },
  json: { says: 'for programs: one JSON object on each line, in a stable shape' },
  help: { short: 'h', says: 'this text; after a command, that of the command' },
  version: { short: 'v', says: 'the version' },
} as const satisfies Record<string, OptionEntry>;

export type OptionName = keyof typeof options;

export interface CommandEntry {
  readonly group: string;
  readonly says: string;
  /** More lines for the command's own help. */
  readonly more: readonly string[];
  /** The words after the command; one in [brackets] is optional, and one that ends in … may be repeated. */
  readonly argument: string | null;
  /** What exit code 1 means; null if it never occurs. */
  readonly no: string | null;
  readonly options: readonly OptionName[];
  /** Required options. */
  readonly needs?: readonly OptionName[];
  /** Descriptions of options that differ from the general ones. */
  readonly means?: Readonly<Partial<Record<OptionName, string>>>;
  readonly examples: readonly (readonly [line: string, says: string])[];
}
