/** The commands that undo calls, as data; part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const key = "an admin's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;
const yes = 'do it; without it only what would be sent is shown';

export const reversalCommands = {
  reverse: {
    group: 'Settle',
    says: 'undo a call by the reversal that its tool declares',
    more: [
      'Shows what would be sent. With --yes it is sent through all gates, once: your name goes on record, and both',
      'calls name each other. A refusal says why and opens a ticket. Needs the key of an admin.',
    ],
    argument: 'call_id',
    no: 'there is no such call, or it was not undone',
    options: ['yes', 'reason', ...beside],
    means: { yes, reason: 'why, for the record', key },
    examples: [
      ['recourse reverse call_01k4w…', 'look first'],
      ['recourse reverse call_01k4w… --yes --reason booked-twice', 'undo it'],
    ],
  },
  'sessions rollback': {
    group: 'Settle',
    says: 'undo the calls of a session, the last first, and list what could not be undone',
    more: [
      'Closes the session, and goes on past what cannot be undone. Started again it goes on, and tries again what was',
      'refused or in doubt. Without --yes it tells how a rollback stands. Needs the key of an admin.',
    ],
    argument: 'session',
    no: 'there is no such session, or something was left',
    options: ['yes', 'reason', ...beside],
    means: { yes: 'do it; without it only how a rollback stands is shown', reason: 'why, for the record', key },
    examples: [['recourse sessions rollback ses_01k4w… --yes', 'undo everything']],
  },
} as const satisfies Record<string, CommandEntry>;
