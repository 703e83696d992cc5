/** JSON Schemas of the HTTP bodies about the files of a policy and its coverage. Part of http-bodies.ts. */
import { ruleEffects } from '../../policy/policy.ts';
import {
  closedObject,
  listOf,
  oneOfNames,
  type Schema,
  text,
  textOrNull,
  wholeNumber,
} from '../reply-schema-fields.ts';

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const timeOrNull = orNull({ type: 'string', format: 'date-time' });
const truth: Schema = { type: 'boolean' };

const limit = closedObject({
  agent: textOrNull,
  match: text,
  rate: text,
  burst: wholeNumber,
  left: wholeNumber,
  next_in_seconds: orNull(wholeNumber),
  full_at: timeOrNull,
  ref: text,
});

export function policyLookBodies() {
  return {
    PolicyFile: closedObject({
      mode: orNull(oneOfNames(['enforce', 'audit'])),
      in_force: truth,
      files: listOf(
        closedObject({
          file: text,
          lines: listOf(closedObject({ line: wholeNumber, text: textOrNull })),
          complete: truth,
        }),
      ),
      problems: listOf(
        closedObject({
          severity: oneOfNames(['error', 'warning']),
          file: text,
          line: wholeNumber,
          column: wholeNumber,
          message: text,
          fix: text,
        }),
      ),
    }),
    LimitList: closedObject({ limits: listOf(limit) }),
    PolicyCoverage: closedObject({
      policy: textOrNull,
      since: timeOrNull,
      until: timeOrNull,
      decisions: wholeNumber,
      complete: truth,
      other: wholeNumber,
      elsewhere: wholeNumber,
      rules: listOf(
        closedObject({
          agent: text,
          ref: text,
          part: oneOfNames(['rule', 'default']),
          effect: oneOfNames(ruleEffects),
          match: text,
          ran: wholeNumber,
          denied: wholeNumber,
          deferred: wholeNumber,
          softened: wholeNumber,
          last_at: timeOrNull,
        }),
      ),
    }),
  };
}
