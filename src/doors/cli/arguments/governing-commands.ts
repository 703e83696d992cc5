/** The commands to begin with, to write policy with, and to ask a gateway that runs, as data; a part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const otherKey = "an operator's; else the one beside the store, else $RECOURSE_KEY. Lists of processes show it";

export const governingCommands = {
  init: {
    group: 'Write',
    says: 'write a recourse.yaml to begin with, with the MCP servers that this machine already uses',
    more: [
      'Looks into the files of Claude Desktop, Claude Code, Cursor, VS Code and Windsurf, and takes each server over.',
      'Starts the servers to list their tools, and ends them. Each tool gets an effect class in the file, shown as a',
      'table: what only reads is permitted by its name, what writes is deferred, anything else is denied. The tools are',
      'pinned in recourse.lock. A value that looks like a secret is not copied: ${NAME} stands in its place, and the',
      'names that must be set are listed. A file that is there is never overwritten.',
    ],
    argument: null,
    no: 'there is a recourse.yaml already, or a file cannot be read or written',
    options: ['from', 'dry-run', 'config', 'yes', 'json'],
    means: { config: 'the file to write; else ./recourse.yaml' },
    examples: [
      ['recourse init', 'then: recourse agents add my-agent, and recourse up'],
      ['recourse init --from .mcp.json --dry-run', 'look first, at one file'],
    ],
  },
  pin: {
    group: 'Write',
    says: 'write recourse.lock: the tools and their schemas as the servers list them now',
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
    says: 'what would be decided about a call: each gate, what it saw, why, and what would have to change',
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
      key: otherKey,
    },
    examples: [
      [
        'recourse explain files/write_file path=/etc/passwd --agent support-bot',
        'would it be denied, and by which line?',
      ],
      ['recourse explain payments/refund \'{"amount":900}\' --offline', 'before anything is started'],
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
    no: 'it was refused, it failed, or it is still under way',
    options: ['session', 'idempotency-key', 'wait', 'model', 'config', 'url', 'key', 'key-file', 'json'],
    means: { session: 'in this session; else in the standing one of the agent' },
    examples: [
      ['recourse call files/read_file path=notes.txt', 'with $RECOURSE_KEY set'],
      ['recourse call payments/refund \'{"id":"ch_1"}\' --key-file agent.key --json', 'the reply as it is on the wire'],
    ],
  },
  apply: {
    group: 'Run',
    says: 'put the policy of recourse.yaml into force in the gateway that runs',
    more: [
      'The files are checked first, as recourse check does; then the gateway reads them itself, and swaps the whole policy',
      'between two calls. If anything is wrong nothing changes. Servers, workflows and the store cannot be changed so:',
      'restart for those. Tells what changed, what weakens the policy first.',
    ],
    argument: null,
    no: 'the configuration does not hold, or the gateway refused it; nothing has changed',
    options: ['watch', 'force', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    means: { key: otherKey },
    examples: [
      ['recourse apply', 'after a rule was changed'],
      ['recourse apply --watch', 'while rules are being written'],
    ],
  },
  status: {
    group: 'Look',
    says: 'is the gateway ready, and what does it enforce?',
    more: [
      'Readiness, mode, store, servers, policy, what is read and not enforced yet, calls under way and in doubt.',
      'If nobody listens it tells what the store says.',
    ],
    argument: null,
    no: 'nobody listens, or the gateway is not ready',
    options: ['config', 'file', 'url', 'key', 'key-file', 'json'],
    means: { key: otherKey },
    examples: [
      ['recourse status', 'the one that recourse.yaml names'],
      ['recourse status --url https://tools.example.com --key-file viewer.key --json', 'another one, for a program'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;
