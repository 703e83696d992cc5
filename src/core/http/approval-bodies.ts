/** JSON Schemas of the HTTP bodies about approvals, completion and cancelling, by component name. Part of http-bodies.ts. */
import { approvalStates } from '../approval/approval.ts';
import { approvalChanges } from '../approval/approval-view.ts';
import {
  anything,
  closedObject,
  listOf,
  oneOfNames,
  type Ref,
  type Schema,
  text,
  textOrNull,
  texts,
  wholeNumber,
} from './reply-schema-fields.ts';

/** A reason is a sentence or two: it is shown to the agent and kept in the journal. */
export const maxReasonChars = 500;
const reason: Schema = { type: 'string', minLength: 1, maxLength: maxReasonChars };
const shown: Schema = { type: 'string', minLength: 1, maxLength: 256 };
const session: Schema = { type: 'string', minLength: 1, maxLength: 256 };
const time: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export const approvalRequestBodies = {
  ApproveRequest: closedObject({ args: anything, reason, shown }, ['args', 'reason', 'shown']),
  DenyRequest: closedObject({ reason, shown }, ['reason', 'shown']),
  RevokeRequest: closedObject({ reason }, ['reason']),
  CompleteRequest: closedObject({ session }, ['session']),
  CancelCallRequest: closedObject({}),
  CancelRequest: closedObject({ turn: session }, ['turn']),
} as const satisfies Record<string, Schema>;

export function approvalAnswerBodies(ref: Ref) {
  return {
    Cancelled: closedObject({ cancelled: oneOfNames(['call', 'turn', 'session']), id: text }),
    ApprovalView: closedObject(
      {
        approval_id: text,
        state: oneOfNames(Object.keys(approvalStates)),
        agent: text,
        tool: text,
        session: textOrNull,
        call_id: text,
        args: anything,
        edited_args: anything,
        rule_ref: text,
        reason: textOrNull,
        approvers: orNull(texts),
        needed: wholeNumber,
        approved_by: listOf(closedObject({ by: text, at: time })),
        decided: orNull(closedObject({ by: text, at: time, reason: textOrNull })),
        on_approve: oneOfNames(['wait', 'run']),
        opened_at: time,
        expires_at: time,
        shown: text,
      },
      ['edited_args'],
    ),
    ApprovalList: closedObject({ approvals: listOf(ref('ApprovalView')), next: textOrNull }),
    ApprovalEvent: closedObject({
      position: { type: 'string', pattern: '^[0-9]+\\.[0-9]+$' },
      change: oneOfNames(Object.values(approvalChanges)),
      at: time,
      approval: ref('ApprovalView'),
    }),
  };
}
