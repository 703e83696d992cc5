/** The commands for policy, approvals and keys, as data; part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const operatorKey = "an operator's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";

export const policyCommands = {
  init: {
    group: 'Write',
    says: 'write a first recourse.yaml with the MCP servers that this machine already uses',
    more: [
      'Reads the files of Claude Desktop, Claude Code, Cursor, VS Code and Windsurf, and copies their servers.',
      'Starts the servers to list their tools, and ends them. Each tool gets an effect class in the file, shown as a',
      'table: what only reads is permitted by its name, what writes is deferred, anything else is denied. The tools are',
      'pinned in recourse.lock. A value that looks like a secret is not copied: ${NAME} stands in its place, and the',
      'names that must be set are listed. A file that is there is never overwritten.',
    ],
    argument: null,
    no: 'there is a recourse.yaml already, or a file cannot be read or written',
    options: ['from', 'dry-run', 'config', 'yes', 'json'],
    means: { config: 'the file to write; default ./recourse.yaml' },
    examples: [
      ['recourse init', 'then: recourse agents add my-agent, and recourse up'],
      ['recourse init --from .mcp.json --dry-run', 'look first, at one file'],
    ],
  },
  pin: {
    group: 'Write',
    says: 'write recourse.lock: the tools and schemas that the servers list now',
    more: [
      'Starts the servers of recourse.yaml, lists their tools and ends them. Conditions of rules are checked against the',
      'lock, and what changed since the last one is told tool by tool. If a server cannot be reached it stays as it is.',
    ],
    argument: null,
    no: 'a server cannot be reached; with --check, the lock is not what the servers say',
    options: ['check', 'config', 'json'],
    examples: [
      ['recourse pin', 'after a server was added or updated; commit the file'],
      ['recourse pin --check', 'for CI: has a server changed its tools?'],
    ],
  },
  explain: {
    group: 'Write',
    says: 'show how a call would be decided: each gate, what it saw, why, and what would change the decision',
    more: [
      'Nothing runs and nothing is recorded. Asks the gateway; if none listens, it is decided from recourse.yaml and',
      'recourse.lock, for a session that has just begun. Arguments are a JSON object, or name=value as often as needed:',
      'a value that is JSON is taken as such, anything else as text, so amount=5 is a number and id=\'"5"\' a text.',
    ],
    argument: 'tool [args…]',
    no: 'the call would not run',
    options: ['agent', 'session', 'model', 'offline', 'now', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    means: {
      agent: 'who would call; may be left out if recourse.yaml has only one',
      session: 'in this session; needs a gateway',
      key: operatorKey,
    },
    examples: [
      [
        'recourse explain files/write_file path=/etc/passwd --agent support-bot',
        'would it be denied, and by which line?',
      ],
      ['recourse explain payments/refund \'{"amount":900}\' --offline', 'before anything is started'],
    ],
  },
  'playbook show': {
    group: 'Write',
    says: 'show what is done about each failure of a tool, and why',
    more: [
      'For each verdict: what happens, after which pauses, and which line of the file says so. Without a tool it is the',
      "gateway's own playbook, for all four effect classes. Then the rules that no playbook changes, and the hash that is",
      'on record with each call. Needs no gateway, and without a recourse.yaml it shows the defaults.',
    ],
    argument: '[tool]',
    no: 'the configuration cannot be used, or there is no such tool',
    options: ['config', 'json'],
    examples: [
      ['recourse playbook show payments/refund', 'is it ever sent twice?'],
      ['recourse playbook show --json', 'the defaults and what the file changes, for a program'],
    ],
  },
  call: {
    group: 'Run',
    says: 'make one call through the gateway, as an agent',
    more: [
      'The key of the agent is taken from $RECOURSE_KEY or --key-file. Arguments are a JSON object, or name=value as often',
      'as needed: a value that is JSON is taken as such, anything else as text. If the answer is lost on the way, ask again',
      'with the idempotency key that is told then.',
    ],
    argument: 'tool [args…]',
    no: 'it was refused, it failed, or it is still running',
    options: ['session', 'idempotency-key', 'wait', 'model', 'config', 'url', 'key', 'key-file', 'json'],
    means: { session: 'in this session; default: the standing session of the agent' },
    examples: [
      ['recourse call files/read_file path=notes.txt', 'with $RECOURSE_KEY set'],
      ['recourse call payments/refund \'{"id":"ch_1"}\' --key-file agent.key --json', 'the reply as it is on the wire'],
    ],
  },
  apply: {
    group: 'Run',
    says: 'apply the policy of recourse.yaml to the running gateway',
    more: [
      'The files are checked first, as recourse check does; then the gateway reads them itself, and swaps the whole policy',
      'between two calls. If anything is wrong nothing changes. Servers, workflows and the store cannot be changed this way:',
      'restart for those. Prints what changed, weakened rules first.',
    ],
    argument: null,
    no: 'the configuration does not hold, or the gateway refused it; nothing has changed',
    options: ['watch', 'force', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    means: { key: operatorKey },
    examples: [
      ['recourse apply', 'after a rule was changed'],
      ['recourse apply --watch', 'while rules are being written'],
    ],
  },
  status: {
    group: 'Inspect',
    says: 'show whether the gateway is ready, and what it enforces',
    more: [
      'Readiness, mode, store, servers, policy, extensions, running calls and calls in doubt.',
      'If no gateway is listening, it reports what the store says.',
    ],
    argument: null,
    no: 'no gateway is listening, or it is not ready',
    options: ['config', 'file', 'url', 'key', 'key-file', 'json'],
    means: { key: operatorKey },
    examples: [
      ['recourse status', 'the one that recourse.yaml names'],
      ['recourse status --url https://tools.example.com --key-file viewer.key --json', 'another one, for a program'],
    ],
  },
  console: {
    group: 'Inspect',
    says: 'print a link that opens the web console of a running gateway',
    more: [
      'The link opens the console once, with the role of the key that asked for it, and is valid for 15 minutes.',
      'recourse up prints one when it is ready. The console is served at the address of the gateway.',
    ],
    argument: null,
    no: 'the gateway did not make one',
    options: ['config', 'file', 'url', 'key', 'key-file', 'json'],
    means: { key: operatorKey },
    examples: [
      ['recourse console', 'another link, as the operator'],
      ['recourse console --key-file viewer.key', 'one for somebody who may only look'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;

const approverKey = "an approver's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;

export const approvalCommands = {
  'approvals ls': {
    group: 'Approve',
    says: 'list pending and decided approvals, newest first',
    more: ['Asks the running gateway. People see the approvals of their tenant, an agent its own.'],
    argument: null,
    no: 'the gateway refuses to tell',
    options: ['state', 'agent', 'session', 'limit', 'before', ...beside],
    means: {
      state: 'only those that are pending, granted, denied, used, expired, revoked or void',
      agent: 'only those of this agent',
      session: 'only those of this session',
      limit: 'number of approvals, 1 to 200; default 20',
      before: 'only approvals older than this one: the next page',
      key: approverKey,
    },
    examples: [
      ['recourse approvals ls --state pending', 'what waits for a person'],
      ['recourse approvals ls --agent support-bot --json', 'those of one agent, for a program'],
    ],
  },
  'approvals show': {
    group: 'Approve',
    says: 'show one approval: the call, the rule that asks for it, and the time left',
    more: ['Masked fields stay masked. The last lines are the commands that decide about exactly what is shown.'],
    argument: 'approval_id',
    no: 'there is no such approval',
    options: [...beside],
    means: { key: approverKey },
    examples: [['recourse approvals show apr_01k4w…', 'look before you decide']],
  },
  'approvals approve': {
    group: 'Approve',
    says: 'approve a call: it runs once, as requested or with other arguments',
    more: [
      'Shows what is approved and sends its hash: if it has changed meanwhile, nothing is approved. With --shown',
      'it must be what `approvals show` had shown. --args approves the call with other arguments; the agent is told.',
      'The requester may not approve, and the key of an agent never can.',
    ],
    argument: 'approval_id',
    no: 'there is no such approval, it is decided or over, or somebody else must approve it',
    options: ['args', 'reason', 'shown', ...beside],
    means: { reason: 'why, for the record', key: approverKey },
    examples: [
      ['recourse approvals approve apr_01k4w…', 'as it was asked for'],
      ['recourse approvals approve apr_01k4w… --args \'{"amount":50}\'', 'with other arguments; @file reads them'],
    ],
  },
  'approvals deny': {
    group: 'Approve',
    says: 'deny a call; the agent is told the reason',
    more: ['Equal calls of the agent are denied until the approval would have expired.'],
    argument: 'approval_id',
    no: 'there is no such approval, it is decided or over, or somebody else must decide it',
    options: ['reason', 'shown', ...beside],
    needs: ['reason'],
    means: { reason: 'why, for the agent and the record', key: approverKey },
    examples: [['recourse approvals deny apr_01k4w… --reason too-much', 'with a reason it can act on']],
  },
  'approvals revoke': {
    group: 'Approve',
    says: 'revoke a decision: no call starts or is resent under it any more',
    more: ['A waiting call ends. An equal call asks for a new approval.'],
    argument: 'approval_id',
    no: 'there is no such approval, or no decision to take back',
    options: ['reason', ...beside],
    means: { reason: 'why, for the record', key: approverKey },
    examples: [['recourse approvals revoke apr_01k4w…', 'it was a mistake']],
  },
  'approvals watch': {
    group: 'Approve',
    says: 'watch pending approvals on a live screen: view, approve and deny with single keys',
    more: [
      'Arrows or j and k move, enter shows everything, a approves and d denies, each after a question; q leaves.',
      'Reconnects when the gateway restarts. Without a terminal it prints a line for each change instead.',
    ],
    argument: null,
    no: 'the gateway refuses to tell',
    options: [...beside],
    means: { key: approverKey, json: 'no screen: one JSON object per line for each change' },
    examples: [
      ['recourse approvals watch', 'keep it open beside your work'],
      ['recourse approvals watch --json', 'a feed for another program'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;

export const agentCommands = {
  'agents ls': {
    group: 'Keys',
    says: 'list the keys of agents and people, with their role and last use',
    more: ['Oldest first, ended keys included. The keys themselves are not stored and cannot be shown again.'],
    argument: null,
    no: null,
    options: ['agent', 'tenant', 'config', 'file', 'json'],
    means: { agent: 'only keys of this name' },
    examples: [
      ['recourse agents ls', 'everybody of the tenant default'],
      ['recourse agents ls --agent support-bot --json', 'the keys of one agent, for a program'],
    ],
  },
  'agents add': {
    group: 'Keys',
    says: 'create a key for an agent or a person; it is shown once',
    more: [
      'The key alone goes to standard output, the explanation to standard error. Works on the file of keys beside the store,',
      'whether or not a gateway runs, and before there is a store. agent: calls tools. viewer: looks. approver: also decides',
      'approvals. admin: also changes policy and keys, and settles calls.',
    ],
    argument: 'name',
    no: 'the tenant has no room for another key',
    options: ['role', 'tenant', 'expires', 'config', 'file', 'json'],
    examples: [
      ['recourse agents add support-bot', 'a key for one agent'],
      ['recourse agents add ann --role approver --expires 30d', 'a person, for a month'],
    ],
  },
  'agents rotate': {
    group: 'Keys',
    says: 'replace a key; the old one ends at once, or after --grace',
    more: [
      'With --grace both keys work for a while, for a routine change. Rotate a key that somebody else may have seen',
      'without it. A key that expires gets the same lifetime again. A key can be rotated once.',
    ],
    argument: 'key_id',
    no: 'there is no such key in the tenant, or it has ended',
    options: ['grace', 'tenant', 'config', 'file', 'json'],
    examples: [
      ['recourse agents rotate 3k9c7f20mzq4x8vt --grace 1h', 'an hour to put the new key in its place'],
      ['recourse agents rotate 3k9c7f20mzq4x8vt', 'the old key ends now'],
    ],
  },
  'agents revoke': {
    group: 'Keys',
    says: 'revoke a key; running gateways refuse it within a second',
    more: ['A revoked key stays revoked. Calls that it made before continue.'],
    argument: 'key_id',
    no: 'there is no such key in the tenant',
    options: ['tenant', 'config', 'file', 'json'],
    examples: [['recourse agents revoke 3k9c7f20mzq4x8vt', 'this key, and no other of its holder']],
  },
} as const satisfies Record<string, CommandEntry>;
