/** The commands for tickets, as data; part of the table in commands.ts. */
import { cancelCommands } from './cancel-commands.ts';
import type { CommandEntry } from './command-entry.ts';

const key = "an operator's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;

export const ticketCommands = {
  ...cancelCommands,
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
    says: 'show one ticket: the call, what the agent was told, and what closing means',
    more: ['Masked fields stay masked.'],
    argument: 'ticket_id',
    no: 'there is no such ticket',
    options: [...beside],
    means: { key },
    examples: [['recourse tickets show tkt_01k4w…_in_doubt', 'look before you act']],
  },
  'tickets close': {
    group: 'Settle',
    says: 'close a ticket: somebody took care of it',
    more: [
      'Your name and the note go on record. Closing settles no call: a call in doubt stays in doubt until',
      'recourse calls settle says what became of it. Needs the key of an admin.',
    ],
    argument: 'ticket_id',
    no: 'there is no such ticket, or it is closed already',
    options: ['note', ...beside],
    means: { key },
    examples: [['recourse tickets close tkt_01k4w…_policy_denied --note access-granted', 'with a note']],
  },
} as const satisfies Record<string, CommandEntry>;
