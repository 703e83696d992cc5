/** The commands for tickets, as data; part of the table in commands.ts. */
import { cancelCommands } from './cancel-commands.ts';
import type { CommandEntry } from './command-entry.ts';
import { reversalCommands } from './reversal-commands.ts';

const key = "an operator's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;

export const ticketCommands = {
  ...cancelCommands,
  ...reversalCommands,
  'tickets ls': {
    group: 'Settle',
    says: 'list open tickets: what only a person can settle, last opened first',
    more: ['Asks the running gateway. Shows the tickets of the tenant of your key; an agent sees none.'],
    argument: null,
    no: 'the gateway refuses to tell',
    options: ['queue', 'all', 'limit', 'before', ...beside],
    means: {
      all: 'closed ones too',
      limit: 'number of tickets, 1 to 200; default 20',
      before: 'only tickets opened before this one: the next page',
      key,
    },
    examples: [
      ['recourse tickets ls', 'what waits for a person'],
      ['recourse tickets ls --queue payments --all --json', 'everything of one queue, for a program'],
    ],
  },
  'tickets show': {
    group: 'Settle',
    says: 'show one ticket: the call, what the agent was told, and what can be answered',
    more: ['Masked fields stay masked.'],
    argument: 'ticket_id',
    no: 'there is no such ticket',
    options: [...beside],
    means: { key },
    examples: [['recourse tickets show tkt_01k4w…_in_doubt', 'look before you act']],
  },
  'tickets take': {
    group: 'Settle',
    says: 'say that you work on a ticket',
    more: ['Your name goes on record. Needs the key of an approver or an admin.'],
    argument: 'ticket_id',
    no: 'there is no such ticket, it is closed, or others answer its queue',
    options: ['give-back', ...beside],
    means: { key },
    examples: [['recourse tickets take tkt_01k4w…_policy_denied', 'it is yours']],
  },
  'tickets comment': {
    group: 'Settle',
    says: 'write something about a ticket, for the other people',
    more: ['Agents do not see comments.'],
    argument: 'ticket_id',
    no: 'there is no such ticket, or others answer its queue',
    options: ['text', ...beside],
    needs: ['text'],
    means: { key },
    examples: [['recourse tickets comment tkt_01k4w…_policy_denied --text asked-the-bank', 'a comment']],
  },
  'tickets resolve': {
    group: 'Settle',
    says: 'answer a ticket, so that its call goes on, is settled, or is given up',
    more: [
      'What is possible depends on how the call stands: recourse tickets show lists it, with what each answer does.',
      'retry, replace and approve run the call as a new one, once; its agent gets the result. it_happened, it_did_not',
      'and never_known settle a call in doubt, and need the key of an admin.',
    ],
    argument: 'ticket_id',
    no: 'there is no such ticket, it is closed, or that is no answer as its call stands',
    options: ['answer', 'args', 'result', 'force', 'note', ...beside],
    needs: ['answer'],
    means: {
      args: 'with replace: the arguments to run it with',
      result: 'with it_happened: what the tool returned, if known, as JSON',
      force: 'before the quarantine of a doubt is over; recorded',
      key,
    },
    examples: [
      ['recourse tickets resolve tkt_01k4w…_policy_denied --answer retry --note access-granted', 'run it again'],
      [`recourse tickets resolve tkt_01k4w…_in_doubt --answer it_happened`, 'settle a doubt'],
    ],
  },
  'tickets watch': {
    group: 'Settle',
    says: 'print tickets as they open, change and close, until Ctrl-C',
    more: [],
    argument: null,
    no: 'the gateway refuses to tell',
    options: ['queue', ...beside],
    means: { key },
    examples: [['recourse tickets watch --queue policy_review', 'one line for each change']],
  },
  inbox: {
    group: 'Settle',
    says: 'list what waits for a person: approvals and tickets, what is due first at the top',
    more: ['Of the tenant of your key.'],
    argument: null,
    no: 'the gateway refuses to tell',
    options: ['limit', ...beside],
    means: { limit: 'number of items, 1 to 200; default 20', key },
    examples: [['recourse inbox', 'what to do next']],
  },
  'tickets close': {
    group: 'Settle',
    says: 'close a ticket: the same as to answer give_up',
    more: [
      'Your name and the note go on record. Closing settles no call: a call in doubt stays in doubt until somebody says',
      'what became of it. Needs the key of an approver or an admin.',
    ],
    argument: 'ticket_id',
    no: 'there is no such ticket, or it is closed already',
    options: ['note', ...beside],
    means: { key },
    examples: [['recourse tickets close tkt_01k4w…_policy_denied --note access-granted', 'with a note']],
  },
} as const satisfies Record<string, CommandEntry>;
