/** The commands that cancel, as data; part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const key = "an operator's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;

export const cancelCommands = {
  'calls cancel': {
    group: 'Settle',
    says: 'cancel a call: it is stopped, and its caller hears what is known of the effect',
    more: [
      'A call that waits is never sent. One that runs is asked to stop; a write may have happened by then, so look at',
      'its effect. Needs the key of an admin, or of the agent whose call it is.',
    ],
    argument: 'call_id',
    no: 'there is no such call, or it has ended already',
    options: [...beside],
    means: { key },
    examples: [['recourse calls cancel call_01k4w…', 'then: recourse calls show call_01k4w…']],
  },
  'sessions cancel': {
    group: 'Settle',
    says: 'cancel a session for good, or one turn of it',
    more: ['What runs in it is stopped, what waits is never sent, and later calls are refused.'],
    argument: 'session_id',
    no: 'there is no such session, or it is over already',
    options: ['turn', ...beside],
    means: { key },
    examples: [
      ['recourse sessions cancel ses_4f2a…', 'all of it'],
      ['recourse sessions cancel ses_4f2a… --turn lunch', 'only what belongs to this turn'],
    ],
  },
} as const satisfies Record<string, CommandEntry>;
