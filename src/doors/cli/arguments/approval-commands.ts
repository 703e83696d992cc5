/** The commands with which people decide what agents ask for, as data; a part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const otherKey = "an approver's; else the one beside the store, else $RECOURSE_KEY. Lists of processes show it";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;

export const approvalCommands = {
  'approvals ls': {
    group: 'Approve',
    says: 'what agents wait for, and what was decided, the newest first',
    more: ['Asks the gateway that runs. Whoever has a key of the tenant sees all of it, an agent its own.'],
    argument: null,
    no: 'the gateway refuses to tell',
    options: ['state', 'agent', 'session', 'limit', 'before', ...beside],
    means: {
      state: 'only those that are pending, granted, denied, used, expired, revoked or void',
      agent: 'only those of this agent',
      session: 'only those of this session',
      limit: 'how many approvals, 1 to 200; 20 if not given',
      before: 'only approvals older than this one: the next page',
      key: otherKey,
    },
    examples: [
      ['recourse approvals ls --state pending', 'what waits for a person'],
      ['recourse approvals ls --agent support-bot --json', 'those of one agent, for a program'],
    ],
  },
  'approvals show': {
    group: 'Approve',
    says: 'one approval: who wants to do what, by which rule a person is asked, and how long is left',
    more: ['What the policy masks is masked. The last lines are the commands that decide about exactly what is shown.'],
    argument: 'approval_id',
    no: 'there is no such approval',
    options: [...beside],
    means: { key: otherKey },
    examples: [['recourse approvals show apr_01k4w…', 'look before you decide']],
  },
  'approvals approve': {
    group: 'Approve',
    says: 'let a call run once, as it was asked for or with other arguments',
    more: [
      'Shows what is approved and sends back the hash of it: if it has changed meanwhile, nothing is approved. With --shown',
      'it must be what `approvals show` had shown. --args approves the call with other arguments; the agent is told.',
      'Who asked may not approve, and the key of an agent never does.',
    ],
    argument: 'approval_id',
    no: 'there is no such approval, it is decided or over, or somebody else must approve it',
    options: ['args', 'reason', 'shown', ...beside],
    means: { reason: 'why, for the record', key: otherKey },
    examples: [
      ['recourse approvals approve apr_01k4w…', 'as it was asked for'],
      ['recourse approvals approve apr_01k4w… --args \'{"amount":50}\'', 'with other arguments; @file reads them'],
    ],
  },
  'approvals deny': {
    group: 'Approve',
    says: 'say no to a call; the agent hears the reason',
    more: ['Equal calls of the agent are denied until the approval would have expired.'],
    argument: 'approval_id',
    no: 'there is no such approval, it is decided or over, or somebody else must decide it',
    options: ['reason', 'shown', ...beside],
    needs: ['reason'],
    means: { reason: 'why, for the agent and the record', key: otherKey },
    examples: [['recourse approvals deny apr_01k4w… --reason too-much', 'with a reason it can act on']],
  },
  'approvals revoke': {
    group: 'Approve',
    says: 'take back what was decided: no call begins under it any more, and none is sent again',
    more: ['A call that waits ends there. An equal call asks anew.'],
    argument: 'approval_id',
    no: 'there is no such approval, or no decision to take back',
    options: ['reason', ...beside],
    means: { reason: 'why, for the record', key: otherKey },
    examples: [['recourse approvals revoke apr_01k4w…', 'it was a mistake']],
  },
  'approvals watch': {
    group: 'Approve',
    says: 'a live screen of what waits: look, approve, deny, with single keys',
    more: [
      'Arrows or j and k move, enter shows everything, a approves and d denies, each after a question; q leaves.',
      'Goes on when the gateway is restarted. Where there is no terminal it prints a line for each change instead.',
    ],
    argument: null,
    no: 'the gateway refuses to tell',
    options: [...beside],
    means: { key: otherKey, json: 'no screen: one JSON object for each change, on a line of its own' },
    examples: [
      ['recourse approvals watch', 'keep it open beside your work'],
      ['recourse approvals watch --json', 'a feed for another program'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;
