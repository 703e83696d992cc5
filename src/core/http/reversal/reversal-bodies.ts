/** JSON Schemas of the HTTP bodies about reversals, by component name. Part of http-bodies.ts. */
import { reversalStates, stepOutcomes } from '../../reversal/reversal.ts';
import {
  closedObject,
  listOf,
  notNegative,
  oneOfNames,
  type Schema,
  text,
  textOrNull,
  wholeNumber,
} from '../reply-schema-fields.ts';

const maxNameChars = 256;
const maxReasonChars = 300;
const name: Schema = { type: 'string', minLength: 1, maxLength: maxNameChars };
const reason: Schema = { type: 'string', minLength: 1, maxLength: maxReasonChars };
const time: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export const reversalRequestBodies = {
  /** One of `token` and `call`. */
  ReversalRequest: closedObject({ token: name, call: name, reason, wait_seconds: notNegative }, [
    'token',
    'call',
    'reason',
    'wait_seconds',
  ]),
  UndoSessionRequest: closedObject({ reason, wait_seconds: notNegative }, ['reason', 'wait_seconds']),
} as const satisfies Record<string, Schema>;

const step = closedObject({
  call_id: text,
  tool: text,
  outcome: oneOfNames(Object.keys(stepOutcomes)),
  why: textOrNull,
  reversed_by: textOrNull,
  at: time,
});

export const reversalAnswerBodies = () => ({
  ReversalView: closedObject({
    call_id: text,
    tool: text,
    reverser: text,
    state: oneOfNames(Object.keys(reversalStates)),
    expires_at: orNull(time),
    reversed_by: textOrNull,
    args: orNull({ type: 'object' }),
    problem: textOrNull,
  }),
  RollbackView: closedObject({
    session: text,
    state: oneOfNames(['running', 'finished']),
    by: text,
    reason: text,
    started_at: time,
    finished_at: orNull(time),
    steps: listOf(step),
    left: wholeNumber,
  }),
});
