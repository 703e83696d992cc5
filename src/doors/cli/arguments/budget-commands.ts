/** The commands for budgets, as data; part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const key = "an operator's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;
const session = 'of a budget that counts by session: which session';
const note = 'why, for the record';

export const budgetCommands = {
  'budgets ls': {
    group: 'Inspect',
    says: 'show each budget as a bar: spent, held, left, and when it resets',
    more: [
      'Asks the running gateway. recourse budgets does the same. With the key of an agent: the budgets that its calls are',
      'charged to. Budgets that count by session are shown for the session that --session names.',
    ],
    argument: null,
    no: 'the gateway refuses to tell',
    options: ['agent', 'session', ...beside],
    means: {
      agent: 'only budgets that calls of this agent are charged to',
      session: 'also budgets that count by session, as they stand in this one',
      key,
    },
    isDefault: true,
    examples: [
      ['recourse budgets', 'what is left'],
      ['recourse budgets ls --agent support-bot --json', 'those of one agent, for a program'],
    ],
  },
  'budgets set': {
    group: 'Settle',
    says: 'say what has been spent of a budget in its present window',
    more: [
      'Your name and the note go on record, with what was there before. What calls hold stays held. The amount is in the',
      'unit of the budget: 120, or 120 USD. Needs the key of an admin.',
    ],
    argument: 'budget amount…',
    no: 'there is no such budget, or the amount does not fit it',
    options: ['note', 'session', ...beside],
    means: { note, session, key },
    examples: [["recourse budgets set support-bot/daily 120 USD --note 'refund was paid back'", 'with a note']],
  },
  'budgets reset': {
    group: 'Settle',
    says: 'say that nothing has been spent of a budget in its present window',
    more: ['As budgets set with 0. What calls hold stays held. Needs the key of an admin.'],
    argument: 'budget',
    no: 'there is no such budget',
    options: ['note', 'session', ...beside],
    means: { note, session, key },
    examples: [['recourse budgets reset support-bot/daily', 'starts again at 0; its window ends as before']],
  },
} as const satisfies Record<string, CommandEntry>;
