/**
 * The table of commands. The command line is read by it and the help is written from it, so they cannot differ. Data
 * only; loads nothing of the gateway.
 */
import { agentCommands, approvalCommands, policyCommands } from './admin-commands.ts';
import type { CommandEntry } from './command-entry.ts';

export { type CommandEntry, type OptionEntry, type OptionName, options } from './command-entry.ts';

export const commands = {
  primer: {
    group: 'Learn',
    says: 'a refund whose answer is lost: three times in a retry loop, once through a gateway',
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
  check: {
    group: 'Write',
    says: 'is recourse.yaml right, and can its workflows go wrong?',
    more: [
      'Tells every problem of the file at once, with its place and what to write instead. Then searches each workflow for',
      'dead ends, livelocks and what is never reached, and says what it could not decide. Starts no server, runs no step.',
      'Takes a configuration, the name of one of its workflows, or a module of a workflow; ./recourse.yaml if not given.',
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
    says: 'does the policy decide as its tests say?',
    more: [
      'Runs the cases of the files named, or else of recourse.test.yaml and *.recourse.test.yaml beside recourse.yaml.',
      'Tells each case that is decided otherwise, by which rule and why, and which rules no case exercises. Needs no',
      'gateway and no server: tools are as recourse.lock has them. Exits with 2 when a case fails.',
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
    means: { session: 'mark where this session stands' },
    examples: [
      ['recourse render coffee --format svg -o coffee.svg', 'a picture for the README'],
      ['recourse render coffee --session ses_01k4w…', 'where does it stand?'],
    ],
  },
  serve: {
    group: 'Run',
    says: 'one workflow for one client, over standard input and output, as an MCP server',
    more: [
      'The workflow is a name in recourse.yaml, or the path of a module that exports what mount() returned.',
      'Ends when its client does, or on Ctrl-C. Several may work on one store: the first owns it, the others forward.',
    ],
    argument: 'workflow',
    no: 'the workflow or the configuration cannot be used',
    options: ['config', 'file', 'new-store', 'agent', 'mode'],
    means: { agent: 'as whom the client calls; local if not given' },
    examples: [
      ['recourse serve refunds', 'the workflow of this name in ./recourse.yaml'],
      ['recourse serve ./refunds.ts --mode tools', 'a module, with one tool for each action'],
    ],
  },
  stdio: {
    group: 'Run',
    says: 'everything of recourse.yaml for one client that starts a command, as an MCP server',
    more: [
      'Serves the tools of all servers as server__tool and each workflow as workflow__step, over standard input and',
      'output, by the rules of the agent. Ends when its client does. Several may work on one store, beside up as well.',
    ],
    argument: null,
    no: 'the configuration cannot be used',
    options: ['config', 'file', 'new-store', 'agent', 'mode'],
    means: { agent: 'as whom the client calls; if not given the only agent of the file, local if it has none' },
    examples: [
      ['recourse stdio --agent helper', 'what ./recourse.yaml says, for this agent'],
      ['recourse stdio --config /srv/recourse.yaml', 'for a client that starts it anywhere'],
    ],
  },
  up: {
    group: 'Run',
    says: 'the servers of recourse.yaml behind one address, with every workflow at its own',
    more: [
      'All tools are served at /mcp, each workflow at /mcp/<workflow>, the HTTP API at /v1; it prints the addresses.',
      'Everybody needs a key: recourse agents add makes one. The first start makes one for the operator.',
      'What recourse check calls an error stops it, unless --force is given.',
      'Ctrl-C lets running calls end; a second one does not wait.',
    ],
    argument: null,
    no: 'the configuration cannot be used, or the address is taken',
    options: ['config', 'file', 'new-store', 'listen', 'agent', 'mode', 'force'],
    means: {
      agent: 'whoever brings no key is this agent; on 127.0.0.1 only',
      mode: 'each workflow as one tool for all actions, or one for each; step if not given',
    },
    examples: [
      ['recourse up', 'what ./recourse.yaml says'],
      ['recourse up --config staging.yaml --listen 127.0.0.1:8000', 'another file, another port'],
    ],
  },
  ...policyCommands,
  ...approvalCommands,
  'calls ls': {
    group: 'Look',
    says: 'the newest calls, with their state and tool',
    more: ['Newest first. Works while a gateway owns the store, and after a crash; it only reads.'],
    argument: null,
    no: null,
    options: ['state', 'agent', 'tool', 'session', 'limit', 'before', 'config', 'file', 'json'],
    examples: [
      ['recourse calls ls --state IN_DOUBT', 'calls that may or may not have taken effect'],
      ['recourse calls ls --agent support-bot --limit 100', 'the last hundred of one agent'],
    ],
  },
  'calls show': {
    group: 'Look',
    says: 'one call: arguments, reply, gates, and every record about it',
    more: ['Parts that were erased are shown as erased. The beginning of an id is enough, if it is the only one.'],
    argument: 'call_id',
    no: 'the store has no such call',
    options: ['config', 'file', 'json'],
    examples: [['recourse calls show call_01k4w…', 'what happened to it, in order']],
  },
  'calls settle': {
    group: 'Mend',
    says: 'end the doubt about a call: it took effect, it did not, or nobody will know',
    more: [
      'For calls that are IN_DOUBT. Find out first, in the system that the tool writes to: what you say is on record with',
      'your name. Works while a gateway owns the store. yes: the next equal step takes the result. no: it may be tried again.',
    ],
    argument: 'call_id',
    no: 'there is no such call, or it is not in doubt',
    options: ['happened', 'result', 'by', 'config', 'file', 'json'],
    needs: ['happened'],
    examples: [
      ['recourse calls settle call_01k4w… --happened no', 'it did not happen: whoever asks next may try again'],
      ['recourse calls settle call_01k4w… --happened yes --result 42', 'it happened, and this is what came of it'],
    ],
  },
  'sessions ls': {
    group: 'Look',
    says: 'the workflow sessions, with where they stand',
    more: ['The last used first. Works while a gateway owns the store, and after a crash; it only reads.'],
    argument: null,
    no: null,
    options: ['workflow', 'agent', 'state', 'limit', 'config', 'file', 'json'],
    means: {
      agent: 'only sessions of this agent',
      state: 'only sessions that are open, done, stopped, cancelled or closed',
      limit: 'how many sessions, 1 to 10000; 20 if not given',
    },
    examples: [
      ['recourse sessions ls --state stopped', 'sessions that wait for a person'],
      ['recourse sessions ls --workflow refunds --agent support-bot', 'those of one agent'],
    ],
  },
  'sessions show': {
    group: 'Look',
    says: 'one session: state, context, fences, timers, and its history',
    more: ['The state is shown whole, whatever the workflow shows to agents.'],
    argument: 'handle',
    no: 'the store has no such session',
    options: ['limit', 'config', 'file', 'json'],
    means: { limit: 'how many entries of its history, the newest, 1 to 10000; 20 if not given' },
    examples: [['recourse sessions show ses_3f0c…', 'where it stands, and how it came there']],
  },
  'sessions tail': {
    group: 'Look',
    says: 'the newest entries of a history; --follow goes on as they come',
    more: ['Oldest of them first. With --follow a step that is running is printed once more when it has ended.'],
    argument: 'handle',
    no: 'the store has no such session',
    options: ['lines', 'follow', 'config', 'file', 'json'],
    means: { lines: 'how many entries to begin with, 0 to 10000; 10 if not given' },
    examples: [['recourse sessions tail ses_3f0c… --follow', 'watch an agent at work']],
  },
  'sessions diff': {
    group: 'Look',
    says: 'what differs in the state between two steps, or between two sessions',
    more: [
      'From the state after step <seq> to that after another step, to where another session stands now, or, if nothing',
      'else is said, to where the same session stands now. Each line is a path, with what was there and what is.',
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
    group: 'Prove',
    says: 'recompute every hash of the journal, from the first record to the last',
    more: [
      'Reads page by page, however long the journal is, and names each record that is wrong.',
      'It cannot see that records were cut off at the very end: keep the head it prints somewhere else, and compare.',
    ],
    argument: null,
    no: 'the journal does not hold',
    options: ['config', 'file', 'json'],
    examples: [['recourse audit verify --file backup.db', 'is this backup what was written?']],
  },
  'audit tail': {
    group: 'Prove',
    says: 'the newest records; --follow goes on as they come',
    more: ['Oldest of them first. Shows what happened and when; arguments and replies are in calls show.'],
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
