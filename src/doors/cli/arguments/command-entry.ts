/** The type of a command's entry, and the table of all options. Data only; loads nothing of the gateway. */
import { keyRoles } from '../../../core/call/identity.ts';
import { answerKinds } from '../../../core/ticket/answer-kinds.ts';

export interface OptionEntry {
  readonly short?: string;
  /** The placeholder for its value in the help; an option without one is a flag. */
  readonly value?: string;
  /** The allowed values. */
  readonly oneOf?: readonly string[];
  readonly says: string;
}

export const options = {
  file: { value: 'path', says: 'the store; default: $RECOURSE_FILE, runtime.store, then the state folder' },
  state: { value: 'state', says: 'only calls in this state, such as IN_DOUBT' },
  workflow: { value: 'name', says: 'only sessions of this workflow' },
  agent: { value: 'name', says: 'only calls of this agent' },
  tool: { value: 'name', says: 'only calls of this tool' },
  session: { value: 'id', says: 'only calls of this session' },
  limit: { value: 'count', says: 'number of calls, 1 to 10000; default 20' },
  before: { value: 'call_id', says: 'only calls older than this one: the next page' },
  lines: { short: 'n', value: 'count', says: 'number of records to start with, 0 to 10000; default 10' },
  follow: { short: 'f', says: 'keep printing new records until Ctrl-C' },
  config: { value: 'path', says: 'the configuration; default: ./recourse.yaml, if it exists' },
  format: { value: 'mermaid|dot|svg', oneOf: ['mermaid', 'dot', 'svg'], says: 'output format; default mermaid' },
  output: { short: 'o', value: 'path', says: 'write to this file' },
  happened: { value: 'yes|no|unknown', oneOf: ['yes', 'no', 'unknown'], says: 'whether the call took effect' },
  result: { value: 'json', says: 'with yes: what the tool returned, if known, as JSON' },
  by: { value: 'name', says: 'who reports it; default: the user of this machine' },
  args: { value: 'json|@file', says: 'approve with these arguments instead' },
  reason: { value: 'text', says: 'why' },
  turn: { value: 'id', says: 'only calls of this turn' },
  queue: { value: 'name', says: 'only tickets of this queue' },
  note: { value: 'text', says: 'what was done about it, for the record' },
  answer: { value: 'name', oneOf: answerKinds, says: 'one of the answers that tickets show lists' },
  'give-back': { says: 'nobody works on it any more' },
  text: { value: 'text', says: 'what the others should know' },
  shown: { value: 'hash', says: 'decide only if the approval is unchanged since approvals show printed this hash' },
  mode: {
    value: 'step|tools',
    oneOf: ['step', 'tools'],
    says: 'one tool for all actions, or one per action; default step',
  },
  'new-store': { says: 'start a new store although there was one here, or continue with an older copy of it' },
  listen: { value: 'host:port', says: 'address for agents; default: the one in the file, then 127.0.0.1:7411' },
  role: {
    value: 'agent|viewer|approver|admin',
    oneOf: keyRoles,
    says: 'role of the key; default agent',
  },
  tenant: { value: 'name', says: 'tenant of the keys; default "default"' },
  expires: { value: 'duration', says: 'lifetime of the key, such as 30d; default: no expiry' },
  grace: { value: 'duration', says: 'how long the old key stays valid, such as 1h; default: not at all' },
  url: {
    value: 'address',
    says: 'address of the gateway; default: the one in recourse.yaml, then http://127.0.0.1:7411',
  },
  key: { value: 'key', says: 'the key; visible in process lists, so prefer $RECOURSE_KEY or --key-file' },
  'key-file': { value: 'path', says: 'a file that contains only the key' },
  model: { value: 'name', says: 'the model that the agent uses' },
  'idempotency-key': { value: 'text', says: 'idempotency key: the same key never runs a call twice' },
  wait: { value: 'seconds', says: 'how long to wait for the outcome, 0 to 3600; default 30' },
  now: { value: 'time', says: 'decide offline as of this time, such as 2026-05-18T09:00:00Z' },
  offline: { says: 'decide from recourse.yaml and recourse.lock, without a gateway' },
  watch: { says: 'apply again whenever a file changes, until Ctrl-C' },
  force: { says: 'continue despite errors of check, or before a quarantine is over; recorded' },
  all: { says: 'the long version: one of each kind of reply' },
  check: { says: 'compare only; write nothing' },
  from: { value: 'path', says: 'only the servers of this client configuration file' },
  'dry-run': { says: 'print the file instead of writing it' },
  port: { value: 'number', says: 'port on 127.0.0.1; default 0: any free one' },
  ledger: { value: 'path', says: 'file of the ledger; default ./recourse-faults.jsonl' },
  faults: { value: 'path', says: 'a YAML file with rules to start with' },
  rate: { value: '0..1', says: 'probability of a random fault where no rule matches; default 0' },
  seed: { value: 'number', says: 'with --rate: the same seed gives the same faults; default: a random one, printed' },
  'on-repeat': {
    value: 'replay|conflict',
    oneOf: ['replay', 'conflict'],
    says: 'a repeated key gets the stored answer, or 409; default replay',
  },
  window: { value: 'duration', says: 'how long a key is remembered, such as 24h; default 24h' },
  playbook: { value: 'path', says: 'a YAML file with entries, as in the section playbook of recourse.yaml' },
  set: { value: 'verdict=entry', says: 'one entry, such as rate_limited=escalate_to_human' },
  changed: { value: 'path', says: 'a whole recourse.yaml, as it would be' },
  stdio: { says: 'also serve MCP over standard input and output' },
  once: { says: 'end when every kind of outcome has been shown once' },
  fast: { says: 'without pauses until then' },
  list: { says: 'print the faults and their settings, and end' },
  yes: { says: 'no effect: init never asks; accepted for scripts that pass it' },
  json: { says: 'one JSON object per line, in a stable format for programs' },
  help: { short: 'h', says: 'show this help; after a command, the help of the command' },
  version: { short: 'v', says: 'show the version' },
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
  /** Its first word alone means it too. */
  readonly isDefault?: true;
  /** Descriptions of options that differ from the general ones. */
  readonly means?: Readonly<Partial<Record<OptionName, string>>>;
  readonly examples: readonly (readonly [line: string, says: string])[];
}
