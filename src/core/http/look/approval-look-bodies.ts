/** JSON Schema of the HTTP body about what an approval is about. Part of http-bodies.ts. */
import { evidenceStandings } from '../../approval/approval-context.ts';
import { reaches } from '../../policy/policy.ts';
import { effectClasses } from '../../taxonomy.ts';
import {
  anything,
  closedObject,
  listOf,
  oneOfNames,
  type Schema,
  text,
  textOrNull,
  texts,
} from '../reply-schema-fields.ts';

const time: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export const approvalLookBodies = () => ({
  ApprovalContext: closedObject({
    approval_id: text,
    happens: texts,
    effect_class: orNull(oneOfNames(Object.keys(effectClasses))),
    reach: orNull(oneOfNames(reaches)),
    last: orNull(closedObject({ call_id: text, at: time, args: anything })),
    evidence: listOf(
      closedObject({
        call_id: text,
        tool: text,
        args: anything,
        read_at: time,
        now: oneOfNames(evidenceStandings),
        problem: textOrNull,
      }),
    ),
  }),
});
