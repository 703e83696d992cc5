/**
 * The table of commands. The command line is read by it and the help is written from it, so they cannot differ. Data
 * only; loads nothing of the gateway.
 */
import { agentCommands, approvalCommands, policyCommands } from './admin-commands.ts';
import { budgetCommands } from './budget-commands.ts';
import type { CommandEntry } from './command-entry.ts';
import { recoveryCommands } from './recovery-commands.ts';
import { ticketCommands } from './ticket-commands.ts';

export { type CommandEntry, type OptionEntry, type OptionName, options } from './command-entry.ts';

export const commands = {
  primer: {
    group: 'Learn',
    says: 'a demo: a refund whose answer is lost, in a retry loop and through a gateway',
    more: [
      'Runs a real gateway in this process on a temporary store: no network, nothing left behind, about a second.',
      'With --all it is a coffee order that meets one of each kind of reply to a call, explained.',
      'The output is the same on every run, byte for byte.',
    ],
    argument: null,
    no: 'a reply is not the one that the story expects',
    options: ['all', 'json'],
    examples: [
      ['recourse primer', 'what it is for, on one screen'],
      ['recourse primer --all', 'every kind of reply; read it from top to bottom'],
      ['recourse primer --all --json', 'the requests and replies as they are on the wire'],
    ],
  },
  demo: {
    group: 'Learn',
    says: 'a shop with two agents behind a gateway; prints one address to open in a browser',
    more: [
      'Starts a gateway on 127.0.0.1, services behind it and two scripted agents that really go through it: refunds,',
      'parcels, refusals, a retry, a refund that waits for you, a transfer in doubt. Approve, deny or settle it, and the',
      'agents go on from there. In a clone it is what npm start does. Nothing is read from or written to your project;',
      'Ctrl-C ends it and leaves nothing behind.',
    ],
    argument: null,
    no: 'the port is taken, or with --once an outcome is not the expected one',
    options: ['port', 'once', 'fast', 'json'],
    means: { port: 'port of the gateway, 0 to 65535; default 0, any free one' },
    examples: [
      ['recourse demo', 'see it first, in a browser'],
      ['recourse demo --once --fast --json', 'every kind of outcome once, for a program'],
    ],
  },
  check: {
    group: 'Write',
    says: 'check recourse.yaml, and search its workflows for errors',
    more: [
      'Reports every problem of the file at once, with its place and what to write instead. Then searches each workflow for',
      'dead ends, livelocks and unreachable states, and reports what it could not decide. Starts no server, runs no step.',
      'Takes a configuration, the name of one of its workflows, or a workflow module; default ./recourse.yaml.',
    ],
    argument: '[what]',
    no: 'there is a problem, or an error in a workflow is proven',
    options: ['config', 'json'],
    examples: [
      ['recourse check', 'before every commit'],
      ['recourse check refund.workflow.ts', 'one module by itself'],
    ],
  },
  test: {
    group: 'Write',
    says: 'run the tests of the policy',
    more: [
      'Runs the cases of the files named, or else of recourse.test.yaml and *.recourse.test.yaml beside recourse.yaml.',
      'Reports each case that is decided otherwise, with the rule and the reason, and which rules no case covers. Needs no',
      'gateway and no server: the tools are those of recourse.lock. Exits with 2 when a case fails.',
    ],
    argument: '[file…]',
    no: 'the configuration or a file of cases cannot be used',
    options: ['config', 'json'],
    examples: [
      ['recourse test', 'before every commit'],
      ['recourse test refunds.recourse.test.yaml --json', 'one file, for a program'],
    ],
  },
  render: {
    group: 'Write',
    says: 'draw a workflow',
    more: ['Takes the name of a workflow in recourse.yaml, or the path of a module. With --session the store is read.'],
    argument: 'workflow',
    no: 'the workflow cannot be loaded, or there is no such session',
    options: ['format', 'output', 'session', 'config', 'file'],
    means: { session: 'mark the current state of this session' },
    examples: [
      ['recourse render coffee --format svg -o coffee.svg', 'a picture for the README'],
      ['recourse render coffee --session ses_01k4w…', 'where does it stand?'],
    ],
  },
  serve: {
    group: 'Run',
    says: 'serve one workflow to one client as an MCP server, over standard input and output',
    more: [
      'The workflow is a name in recourse.yaml, or the path of a module that exports what mount() returned.',
      'Ends when its client does, or on Ctrl-C. Several processes may use one store: the first owns it, the others forward.',
    ],
    argument: 'workflow',
    no: 'the workflow or the configuration cannot be used',
    options: ['config', 'file', 'new-store', 'agent', 'mode'],
    means: { agent: 'the agent that the client is; default local' },
    examples: [
      ['recourse serve refunds', 'the workflow of this name in ./recourse.yaml'],
      ['recourse serve ./refunds.ts --mode tools', 'a module, with one tool for each action'],
    ],
  },
  stdio: {
    group: 'Run',
    says: 'serve everything in recourse.yaml to one client as an MCP server, over standard input and output',
    more: [
      'Serves the tools of all servers as server__tool and each workflow as workflow__step, over standard input and',
      'output, by the rules of the agent. Ends when its client does. Several processes may use one store, also beside up.',
    ],
    argument: null,
    no: 'the configuration cannot be used',
    options: ['config', 'file', 'new-store', 'agent', 'mode'],
    means: { agent: 'the agent that the client is; default: the only agent of the file, or local if it has none' },
    examples: [
      ['recourse stdio --agent helper', 'what ./recourse.yaml says, for this agent'],
      ['recourse stdio --config /srv/recourse.yaml', 'for a client that starts it anywhere'],
    ],
  },
  up: {
    group: 'Run',
    says: 'serve the servers and workflows of recourse.yaml over HTTP',
    more: [
      'All tools are served at /mcp, each workflow at /mcp/<workflow>, the HTTP API at /v1; it prints the addresses.',
      'Every client needs a key: recourse agents add creates one. The first start creates one for the operator.',
      'An error of recourse check stops it, unless --force is given.',
      'Ctrl-C lets running calls end; a second one does not wait.',
    ],
    argument: null,
    no: 'the configuration cannot be used, or the address is taken',
    options: ['config', 'file', 'new-store', 'listen', 'agent', 'mode', 'force'],
    means: {
      agent: 'requests without a key are of this agent; on 127.0.0.1 only',
      mode: 'each workflow as one tool for all actions, or one per action; default step',
    },
    examples: [
      ['recourse up', 'what ./recourse.yaml says'],
      ['recourse up --config staging.yaml --listen 127.0.0.1:8000', 'another file, another port'],
    ],
  },
  ...recoveryCommands,
  faults: {
    group: 'Run',
    says: 'run a payment service with faults on demand, to try a configuration against',
    more: [
      'Serves HTTP at / and MCP at /mcp, on 127.0.0.1 only, and prints both addresses in one line. POST /faults sets a',
      'fault: {"match": {"operation": "refund"}, "fault": "drop_after"}. GET /ledger/summary counts what really happened.',
      'The ledger is durable: it survives kill -9, and it is all that is left behind.',
    ],
    argument: null,
    no: 'the rules or the ledger cannot be used, or the port is taken',
    options: ['port', 'ledger', 'faults', 'rate', 'seed', 'on-repeat', 'window', 'stdio', 'list', 'json'],
    examples: [
      ['recourse faults --port 8099', 'then: POST http://127.0.0.1:8099/faults'],
      ['recourse faults --rate 0.3 --seed 7', 'random faults, the same on every run'],
      ['recourse faults --list', 'every fault in a sentence'],
    ],
  },
  ...policyCommands,
  ...approvalCommands,
  'calls ls': {
    group: 'Inspect',
    says: 'list the newest calls, with state and tool',
    more: ['Newest first. Works while a gateway owns the store, and after a crash; it only reads.'],
    argument: null,
    no: null,
    options: ['state', 'agent', 'tool', 'session', 'limit', 'before', 'config', 'file', 'json'],
    examples: [
      ['recourse calls ls --state IN_DOUBT', 'calls that may or may not have taken effect'],
      ['recourse calls ls --agent support-bot --limit 100', 'the last hundred of one agent'],
    ],
  },
  'calls in-doubt': {
    group: 'Inspect',
    says: 'list calls that may or may not have taken effect, and what settling each would do',
    more: [
      'Newest first, with age and arguments. A no counts only when no late execution can come any more: the list says from',
      'when. Works while a gateway owns the store, and after a crash; it only reads.',
    ],
    argument: null,
    no: null,
    options: ['agent', 'tool', 'session', 'limit', 'before', 'config', 'file', 'json'],
    examples: [['recourse calls in-doubt', 'then: recourse calls settle CALL --happened yes|no|unknown']],
  },
  'calls show': {
    group: 'Inspect',
    says: 'show one call: arguments, reply, gates, and every record about it',
    more: ['Parts that were erased are shown as erased. The beginning of an id is enough, if it is the only one.'],
    argument: 'call_id',
    no: 'the store has no such call',
    options: ['config', 'file', 'json'],
    examples: [['recourse calls show call_01k4w…', 'what happened to it, in order']],
  },
  'calls settle': {
    group: 'Settle',
    says: 'settle a call in doubt: it took effect, it did not, or that is not known',
    more: [
      'For calls that are IN_DOUBT. Find out first, in the system that the tool writes to: your answer is recorded with',
      'your name. Works while a gateway owns the store. yes: the next equal step gets the result. no: it may be tried again;',
      'while the call may still be carried out, a no needs --force.',
    ],
    argument: 'call_id',
    no: 'there is no such call, or it is not in doubt',
    options: ['happened', 'result', 'by', 'force', 'config', 'file', 'json'],
    needs: ['happened'],
    examples: [
      ['recourse calls settle call_01k4w… --happened no', 'it did not happen: whoever asks next may try again'],
      ['recourse calls settle call_01k4w… --happened yes --result 42', 'it happened, and this is what came of it'],
    ],
  },
  ...ticketCommands,
  ...budgetCommands,
  'sessions ls': {
    group: 'Inspect',
    says: 'list workflow sessions, with their status',
    more: ['Last used first. Works while a gateway owns the store, and after a crash; it only reads.'],
    argument: null,
    no: null,
    options: ['workflow', 'agent', 'state', 'limit', 'config', 'file', 'json'],
    means: {
      agent: 'only sessions of this agent',
      state: 'only sessions that are open, done, stopped, cancelled or closed',
      limit: 'number of sessions, 1 to 10000; default 20',
    },
    examples: [
      ['recourse sessions ls --state stopped', 'sessions that wait for a person'],
      ['recourse sessions ls --workflow refunds --agent support-bot', 'those of one agent'],
    ],
  },
  'sessions show': {
    group: 'Inspect',
    says: 'show one session: state, context, fences, timers and history',
    more: ['The state is shown whole, whatever the workflow shows to agents.'],
    argument: 'handle',
    no: 'the store has no such session',
    options: ['limit', 'config', 'file', 'json'],
    means: { limit: 'number of newest history entries, 1 to 10000; default 20' },
    examples: [['recourse sessions show ses_3f0c…', 'where it stands, and how it came there']],
  },
  'sessions tail': {
    group: 'Inspect',
    says: 'print the newest entries of a history; --follow keeps printing',
    more: ['Oldest first. With --follow a running step is printed again when it has ended.'],
    argument: 'handle',
    no: 'the store has no such session',
    options: ['lines', 'follow', 'config', 'file', 'json'],
    means: { lines: 'number of entries to start with, 0 to 10000; default 10' },
    examples: [['recourse sessions tail ses_3f0c… --follow', 'watch an agent at work']],
  },
  'sessions diff': {
    group: 'Inspect',
    says: 'compare the state of two steps, or of two sessions',
    more: [
      'Compares the state after step <seq> with that after another step, with the current state of another session, or, by',
      'default, with the current state of the same session. Each line is a path, with the value before and after.',
    ],
    argument: 'handle seq [seq|handle]',
    no: 'the store has no such session, or does not keep its state at that step',
    options: ['config', 'file', 'json'],
    examples: [
      ['recourse sessions diff ses_3f0c… 2 3', 'what the third step did'],
      ['recourse sessions diff ses_3f0c… 2 ses_77aa…', 'where a fork went another way'],
    ],
  },
  ...agentCommands,
  'audit verify': {
    group: 'Audit',
    says: 'verify every hash of the journal, from the first record to the last',
    more: [
      'Reads page by page, and names each record that is wrong.',
      'It cannot detect records that were cut off at the end: keep the printed head elsewhere, and compare.',
    ],
    argument: null,
    no: 'the journal does not hold',
    options: ['config', 'file', 'json'],
    examples: [['recourse audit verify --file backup.db', 'is this backup what was written?']],
  },
  'audit tail': {
    group: 'Audit',
    says: 'print the newest records; --follow keeps printing',
    more: ['Oldest first. Shows what happened and when; calls show has arguments and replies.'],
    argument: null,
    no: null,
    options: ['lines', 'follow', 'config', 'file', 'json'],
    examples: [
      ['recourse audit tail -n 50', 'the last fifty records'],
      ['recourse audit tail --follow --json', 'a feed for another program'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;

export type CommandName = keyof typeof commands;

export const commandNames = Object.keys(commands) as readonly CommandName[];
