/** The resolutions that a reply can advise, and their fields. Each code names its own. */
import type { EntryWithFields, Tagged } from './fields.ts';

export const resolutions = {
  rule_block: {
    title: 'Blocked by a rule',
    meaning: 'A rule forbids the call, and asking again changes nothing.',
    agent: 'Choose another action; do not rephrase the same call.',
    operator: 'Edit the rule that rule_id names if it is wrong.',
    fields: { rule_id: 'string' },
  },
  pending_approval: {
    title: 'Waits for an approval',
    meaning: 'A person must approve before this can go on.',
    agent: 'Mention the approval id, do something else meanwhile, and ask again once it is approved.',
    operator: 'Approve or reject it in the inbox.',
    fields: { approval_id: 'string' },
  },
  pending_approvals: {
    title: 'Waits for several approvals',
    meaning: 'More than one approval must be settled first.',
    agent: 'Mention the approval ids and ask again once they are settled.',
    operator: 'Approve or reject each of them in the inbox.',
    fields: { approval_ids: 'strings' },
  },
  retry_after: {
    title: 'Ask again later',
    meaning: 'The obstacle is expected to be gone after the stated time.',
    agent: 'Wait the stated number of seconds, then ask again.',
    operator: 'Nothing, unless it keeps coming back.',
    fields: { retry_after_seconds: 'seconds' },
  },
  budget_reset: {
    title: 'Budget opens again',
    meaning: 'The budget has a new window at the stated time.',
    agent: 'Stop spending, mention the time, and go on after it.',
    operator: 'Raise the budget if the work is worth it.',
    fields: { resets_at: 'instant' },
  },
  manual_audit: {
    title: 'A person should look',
    meaning: 'Something happened that no rule covers; it is on the record.',
    agent: 'Nothing; go on with your work.',
    operator: 'Look at the journal and decide whether a rule is missing.',
    fields: {},
  },
  choose_action: {
    title: 'Choose another action',
    meaning: 'The listed actions are possible now.',
    agent: 'Pick one of the actions.',
    operator: 'Nothing.',
    fields: { actions: 'strings' },
  },
  fix_input: {
    title: 'Correct the input',
    meaning: 'The listed fields are what stands in the way.',
    agent: 'Correct these fields and send the call again.',
    operator: 'Describe the fields better in the schema if agents often get them wrong.',
    fields: { fields: 'strings' },
  },
  reconcile: {
    title: 'Find out what happened',
    meaning: 'The named call may or may not have taken effect, and that must be settled first.',
    agent: 'Do not repeat the call; read the state of things, or wait until the named call is settled.',
    operator: 'Settle the call in doubt by what the upstream shows.',
    fields: { call_id: 'string' },
  },
  escalated: {
    title: 'Handed to a person',
    meaning: 'A ticket was opened and a person owns the next move.',
    agent: 'Mention the ticket and choose another action.',
    operator: 'Work on the ticket in its queue.',
    fields: { ticket_id: 'string', queue: 'string' },
  },
  replan: {
    title: 'Plan again',
    meaning: 'The call rests on something that is no longer so.',
    agent: 'Read the current state and make a new plan; do not send the old call.',
    operator: 'Nothing.',
    fields: { reason: 'string' },
  },
  authenticate: {
    title: 'Authenticate again',
    meaning: 'Somebody has to sign in before the call can go on.',
    agent: 'Pass the interaction id to the person you work for, then ask again.',
    operator: 'Complete the interaction, or renew the credential.',
    fields: { interaction_id: 'string' },
  },
} as const satisfies Record<string, EntryWithFields>;

export type ResolutionType = keyof typeof resolutions;
export type Resolution = Tagged<'type', typeof resolutions>;
