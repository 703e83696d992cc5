/** The commands of the improvement loop, as data; part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

const key = "an operator's key; default: beside the store, then $RECOURSE_KEY. Visible in process lists";
const beside = ['config', 'file', 'url', 'key', 'key-file', 'json'] as const;

export const feedbackCommands = {
  'feedback add': {
    group: 'Improve',
    says: 'say that a call was handled wrong',
    more: ['Your name and the note go on record. Nothing changes by it: the next step is a proposal.'],
    argument: 'call_id',
    no: 'there is no such call, or the key is not that of an operator',
    options: ['note', ...beside],
    needs: ['note'],
    means: { note: 'what was wrong, for the record', key },
    examples: [['recourse feedback add call_01k4w… --note was-not-escalated', 'a failure that went wrong']],
  },
  'feedback ls': {
    group: 'Improve',
    says: 'list feedback, proposals and releases',
    more: ['The last first, and which playbook is released.'],
    argument: null,
    no: 'the gateway refuses to tell',
    options: [...beside],
    means: { key },
    examples: [['recourse feedback ls', 'what was proposed, and what is in force']],
  },
  'feedback show': {
    group: 'Improve',
    says: 'show feedback, a proposal or a release',
    more: ['Of a proposal: what would come out otherwise, call by call, and which goldens.'],
    argument: 'id',
    no: 'there is none with this id',
    options: [...beside],
    means: { key },
    examples: [['recourse feedback show prop_01k4w…', 'before you release it']],
  },
  'feedback propose': {
    group: 'Improve',
    says: 'propose a change, and see what would come out otherwise',
    more: [
      'Replays the calls that the feedback is about, the last calls that failed, and the goldens beside recourse.yaml.',
      'Sends nothing and changes nothing. --changed compares a whole recourse.yaml, with what its rules would say.',
    ],
    argument: 'feedback_id…',
    no: 'there is no such feedback, or the change cannot be used',
    options: ['playbook', 'set', 'changed', ...beside],
    means: { key },
    examples: [
      ['recourse feedback propose fb_01k4w… --set rate_limited=escalate_to_human', 'one entry of the playbook'],
      ['recourse feedback propose fb_01k4w… --changed next.yaml', 'a whole file, with its rules'],
    ],
  },
  'feedback release': {
    group: 'Improve',
    says: 'release a proposal: its playbook may be put in force',
    more: [
      'Write the change into recourse.yaml, then: recourse apply. A proposal under which goldens come out otherwise needs',
      '--force, which is on record. If another release came first, propose it again.',
    ],
    argument: 'proposal_id',
    no: 'there is no such proposal, another release came first, or goldens come out otherwise',
    options: ['force', 'note', ...beside],
    means: { force: 'although goldens come out otherwise; recorded', note: 'why, for the record', key },
    examples: [['recourse feedback release prop_01k4w…', 'from here on apply takes it']],
  },
  'feedback rollback': {
    group: 'Improve',
    says: 'take back the last release',
    more: ['The playbook before it counts again. Write it back into recourse.yaml, then: recourse apply.'],
    argument: 'release_id',
    no: 'there is no such release, or it is not the last one in force',
    options: ['note', ...beside],
    means: { note: 'why, for the record', key },
    examples: [['recourse feedback rollback rel_01k4w… --note more-doubts-than-before', 'with the reason']],
  },
  'feedback verify': {
    group: 'Improve',
    says: 'verify that the steps on record follow each other',
    more: ['Reads the store, without a gateway. Each step names the hash of the one before it.'],
    argument: null,
    no: 'a step was changed, taken out or put in',
    options: ['config', 'file', 'json'],
    examples: [['recourse feedback verify', 'who changed what, from the first step on']],
  },
} as const satisfies Record<string, CommandEntry>;
