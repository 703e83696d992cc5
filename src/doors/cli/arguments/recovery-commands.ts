/** The commands about failures, as data; part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';
import { feedbackCommands } from './feedback-commands.ts';

export const recoveryCommands = {
  'golden run': {
    group: 'Write',
    says: 'run goldens: scripted failures, and what must come of them',
    more: [
      'Runs the files named, or else goldens/*.yaml beside recourse.yaml, with the playbook that recourse.yaml gives.',
      'Needs no gateway and no server, sends nothing and waits for nothing. Reports every difference.',
    ],
    argument: '[file…]',
    no: 'a golden comes out otherwise, or cannot be read',
    options: ['config', 'json'],
    examples: [
      ['recourse golden run', 'before every commit'],
      ['recourse golden run goldens/timeout-then-conflict.yaml', 'one of them'],
    ],
  },
  'golden record': {
    group: 'Write',
    says: 'make a golden from a call on record that failed',
    more: [
      'Writes the results of its attempts as the script, and what the playbook makes of them as what is expected.',
      'Arguments are written as calls show prints them. Only reads the store.',
    ],
    argument: 'call_id',
    no: 'there is no such call, it did not fail, or the file cannot be written',
    options: ['output', 'config', 'file'],
    means: { output: 'the file to write; default: standard output' },
    examples: [['recourse golden record call_01k4w… -o goldens/lost-refund.yaml', 'it must not happen again']],
  },
  replay: {
    group: 'Audit',
    says: 'decide the failures of a call again from its records, and compare',
    more: [
      'Makes verdicts, compensation, schedule and outcome again from the journal and the playbook on record, and says',
      'equal, or the first difference. Opens no connection and needs no gateway. Exits with 3 if the store lacks a part.',
    ],
    argument: 'call_id',
    no: 'there is no such call, or a decision comes out otherwise than it is recorded',
    options: ['config', 'file', 'json'],
    examples: [['recourse replay call_01k4w…', 'was it decided by the rules that were in force?']],
  },
  ...feedbackCommands,
} as const satisfies Record<string, CommandEntry>;
