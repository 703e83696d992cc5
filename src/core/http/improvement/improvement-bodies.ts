/** JSON Schemas of the HTTP bodies of the improvement loop, by component name. Part of http-bodies.ts. */
import { proposalStates, releaseStates } from '../../improvement/improvement-view.ts';
import {
  closedObject,
  listOf,
  oneOfNames,
  type Ref,
  type Schema,
  text,
  textOrNull,
  texts,
  wholeNumber,
} from '../reply-schema-fields.ts';

const maxNoteChars = 500;
const maxNameChars = 256;
const maxChangeChars = 256 << 10;
const maxFeedback = 50;

const note = { type: 'string', minLength: 1, maxLength: maxNoteChars } as const;
const name: Schema = { type: 'string', minLength: 1, maxLength: maxNameChars };
const written: Schema = { type: 'string', minLength: 1, maxLength: maxChangeChars };
const time: Schema = { type: 'string', format: 'date-time' };
const truth: Schema = { type: 'boolean' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export const improvementRequestBodies = {
  FeedbackRequest: closedObject({ call_id: name, note }),
  /** `playbook`: the section of that name, as YAML. `config`: a whole recourse.yaml. One of both. */
  ProposalRequest: closedObject(
    {
      feedback: { type: 'array', items: name, minItems: 1, maxItems: maxFeedback },
      playbook: written,
      config: written,
    },
    ['playbook', 'config'],
  ),
  ReleaseRequest: closedObject({ force: truth, note }, ['force', 'note']),
  RollbackRequest: closedObject({ note }, ['note']),
} as const satisfies Record<string, Schema>;

const outcome = closedObject({ outcome: text, compensations: texts, sends: wholeNumber, state: text, effect: text });
const compared = closedObject({ call_id: text, tool: text, was: outcome, then: outcome });

const report = closedObject({
  about: listOf(compared),
  changed: listOf(compared),
  replayed: wholeNumber,
  skipped: listOf(closedObject({ call_id: text, reason: text })),
  broken: listOf(closedObject({ name: text, ref: text, wrong: texts })),
  goldens: wholeNumber,
  judged: orNull(
    closedObject({
      calls: wholeNumber,
      changed: listOf(closedObject({ call_id: text, agent: text, tool: text, was: text, then: text, by: text })),
    }),
  ),
});

export function improvementAnswerBodies(ref: Ref) {
  return {
    FeedbackView: closedObject({
      feedback_id: text,
      call_id: text,
      tool: text,
      note: textOrNull,
      by: text,
      at: time,
      proposals: texts,
    }),
    ProposalView: closedObject({
      proposal_id: text,
      state: oneOfNames(proposalStates),
      feedback: texts,
      playbook: text,
      base: text,
      policy: textOrNull,
      breaks: wholeNumber,
      by: text,
      at: time,
    }),
    ReleaseView: closedObject({
      release_id: text,
      state: oneOfNames(releaseStates),
      proposal_id: text,
      playbook: text,
      policy: textOrNull,
      forced: truth,
      note: textOrNull,
      by: text,
      at: time,
    }),
    Improvements: closedObject({
      feedback: listOf(ref('FeedbackView')),
      proposals: listOf(ref('ProposalView')),
      releases: listOf(ref('ReleaseView')),
      released: textOrNull,
      steps: wholeNumber,
      head: textOrNull,
      problems: listOf(closedObject({ record: wholeNumber, problem: text })),
    }),
    /** One of the three; `released` is the playbook that is released now. */
    Improvement: closedObject({
      feedback: orNull(ref('FeedbackView')),
      proposal: orNull(ref('ProposalView')),
      release: orNull(ref('ReleaseView')),
      change: orNull(closedObject({ playbook: text, config: text }, ['playbook', 'config'])),
      report: orNull(report),
      released: textOrNull,
    }),
  };
}
