/** The compensations for a failure, and how each can end. The playbook chooses among them. */
import type { EntryWithFields, Tagged } from './fields.ts';

export const compensations = {
  retry_with_backoff: {
    title: 'Retry with backoff',
    meaning: 'The same call is sent again after each of the stated pauses, where a resend is safe.',
    agent: 'Nothing; the gateway retries, and you should not.',
    operator: "Adjust the schedule in the tool's retry rules if needed.",
    fields: { max_attempts: 'count', backoff_ms: 'milliseconds' },
  },
  refresh_evidence: {
    title: 'Refresh the evidence',
    meaning: 'The reads that the call relies on are made again; it goes on only if they show the same.',
    agent: 'If the evidence changed, plan again.',
    operator: 'Nothing.',
    fields: { then: 'retry_or_abort' },
  },
  escalate_to_human: {
    title: 'Escalate to a person',
    meaning: 'A ticket goes to the stated queue.',
    agent: 'Choose another action while the ticket is open.',
    operator: 'Work on the ticket.',
    fields: { queue: 'string' },
  },
  issue_reversal: {
    title: 'Reverse it',
    meaning: 'The call is settled first and, if it took effect, undone by its reversal token.',
    agent: 'Nothing; the outcome tells whether it was reversed.',
    operator: 'If the reversal was refused, a ticket says why.',
    fields: { reason: 'string' },
  },
  deprecate_tool_call: {
    title: 'Give up this call',
    meaning: 'The call is given up, and the agent should plan from how things now stand.',
    agent: 'Read the current state and plan again.',
    operator: 'Nothing.',
    fields: { reason: 'string', replan: 'true' },
  },
} as const satisfies Record<string, EntryWithFields>;

export const dispatchOutcomes = {
  succeeded_after_compensation: {
    title: 'Succeeded after compensation',
    meaning: 'The call succeeded in the end.',
    agent: 'Go on with the result.',
    operator: 'Nothing; the journal shows how many sends it took.',
    fields: { result: 'json' },
  },
  deprecated: {
    title: 'Given up',
    meaning: 'The call was given up and will not be sent again.',
    agent: 'Read the current state and plan again.',
    operator: 'Nothing.',
    fields: { reason: 'string', replan: 'true' },
  },
  escalated: {
    title: 'Escalated',
    meaning: 'A person owns the next move.',
    agent: 'Mention the ticket and choose another action.',
    operator: 'Work on the ticket.',
    fields: { queue: 'string', ticket_id: 'string' },
  },
  reversed: {
    title: 'Reversed',
    meaning: 'The call had taken effect and was undone.',
    agent: 'Plan as if the call had not been made.',
    operator: 'Nothing.',
    fields: { reason: 'string' },
  },
  exhausted: {
    title: 'Exhausted',
    meaning: 'Every permitted send failed.',
    agent: 'Follow the resolution; further sends of your own are no remedy.',
    operator: 'Compare the first and the final error; they may have different causes.',
    fields: { final_error: 'tool_error', first_error: 'tool_error', attempts: 'count' },
  },
} as const satisfies Record<string, EntryWithFields>;

export type CompensationKind = keyof typeof compensations;
export type Compensation = Tagged<'kind', typeof compensations>;
export type DispatchOutcomeKind = keyof typeof dispatchOutcomes;
export type DispatchOutcome = Tagged<'kind', typeof dispatchOutcomes>;
