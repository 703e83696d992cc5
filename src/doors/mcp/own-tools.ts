/**
 * The gateway's own tools: `next` and `history` of a session, `await_approval`, `await_ticket`, `reverse`, and
 * `complete`. A declared tool or
 * action of the same name replaces ours.
 */
import type { Principal } from '../../core/call/call.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { ticketStates } from '../../core/recovery/ticket-view.ts';
import { approvalStates } from '../../core/approval/approval.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { McpDoorParts } from './parts.ts';
import { replyOutputSchema } from './output-schema.ts';

export const ownTools = {
  next: 'next',
  history: 'history',
  awaitApproval: 'await_approval',
  awaitTicket: 'await_ticket',
  reverse: 'reverse',
  complete: 'complete',
} as const;

export type OwnTool = (typeof ownTools)[keyof typeof ownTools];

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };

const session = {
  type: 'string',
  description: 'The session of an earlier reply; left out, the one of this connection.',
};

/** The fields of a refusal, beside those of the tool's result. */
const orRefusal = { error: text, code: text, message: text, call_id: text, session: textOrNull };

const listings: Readonly<Record<OwnTool, JsonObject>> = {
  next: {
    name: ownTools.next,
    description:
      'Tells which actions of the workflow are possible now, with the schemas of their inputs. Takes no step. The same as the resource recourse://next.',
    inputSchema: { type: 'object', properties: { session }, additionalProperties: false },
    outputSchema: {
      type: 'object',
      properties: {
        ...orRefusal,
        seq: { type: 'integer' },
        status: text,
        valid_next_actions: { type: 'array', items: text },
        next_action_schemas: { type: 'object' },
      },
      required: ['session'],
    },
    annotations: { readOnlyHint: true },
  },
  history: {
    name: ownTools.history,
    description:
      'Tells what happened in the session of the workflow, oldest first: every attempt with its inputs, refusals included with their reason. Takes no step. If `next` is a number, there is more: call again with it as `after`.',
    inputSchema: {
      type: 'object',
      properties: {
        session,
        after: {
          type: 'integer',
          minimum: 0,
          description: '`next` of an earlier answer; from the beginning, if left out.',
        },
        limit: { type: 'integer', minimum: 1, description: 'How many entries at most; 20 if left out.' },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        ...orRefusal,
        entries: { type: 'array', items: { type: 'object' } },
        next: { type: ['integer', 'null'] },
      },
      required: ['session'],
    },
    annotations: { readOnlyHint: true },
  },
  await_approval: {
    name: ownTools.awaitApproval,
    description:
      'Waits until a person has decided about an approval, or until the time is over, and says how it stands. The approval_id comes from a reply with code POLICY_DEFER. Once it is granted, send the same call again: then it runs.',
    inputSchema: {
      type: 'object',
      properties: {
        approval_id: { type: 'string', description: 'resolution.approval_id of the reply.' },
        wait_seconds: { type: 'number', minimum: 0, description: 'How long to wait at most; 0 only looks.' },
      },
      required: ['approval_id'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        approval_id: text,
        state: { enum: Object.keys(approvalStates) },
        tool: text,
        reason: textOrNull,
        expires_at: text,
        next: { type: 'string', description: 'What to do now.' },
        error: text,
        code: text,
        message: text,
        call_id: text,
        session: textOrNull,
      },
      required: ['call_id', 'session'],
    },
    annotations: { readOnlyHint: true },
  },
  await_ticket: {
    name: ownTools.awaitTicket,
    description:
      'Waits until a person has answered a ticket and the call that goes on for it has ended, or until the time is over, and says how it stands. The ticket_id comes from a reply with the resolution `escalated`, or from a fenced one. `reply` has the outcome of the call, once there is one.',
    inputSchema: {
      type: 'object',
      properties: {
        ticket_id: { type: 'string', description: 'resolution.ticket_id of the reply.' },
        wait_seconds: { type: 'number', minimum: 0, description: 'How long to wait at most; 0 only looks.' },
      },
      required: ['ticket_id'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        ticket_id: text,
        state: { enum: [...ticketStates] },
        answer: textOrNull,
        tool: text,
        next: { type: 'string', description: 'What to do now.' },
        reply: { description: 'The reply of the call that was settled or went on; null while there is none.' },
        ...orRefusal,
      },
      required: ['call_id', 'session'],
    },
    annotations: { readOnlyHint: true },
  },
  reverse: {
    name: ownTools.reverse,
    description:
      'Undoes an earlier call of yours, once. The reversal_token comes with its success, and is good for a while. Refused with the reason if it cannot be undone any more.',
    inputSchema: {
      type: 'object',
      properties: {
        reversal_token: { type: 'string', description: 'reversal_token of the reply of the call to undo.' },
      },
      required: ['reversal_token'],
      additionalProperties: false,
    },
    outputSchema: replyOutputSchema,
  },
  complete: {
    name: ownTools.complete,
    description:
      'Says that the work of a session is done. Refused with COMPLETION_BLOCKED, and with what stands in the way, while approvals are pending, calls are in doubt, or something that is required is missing.',
    inputSchema: {
      type: 'object',
      properties: {
        session: { type: 'string', description: 'The session of an earlier reply; left out, your own.' },
      },
      additionalProperties: false,
    },
    outputSchema: replyOutputSchema,
  },
};

/** The listings of our tools that are served to this agent. */
export function ownListings(parts: McpDoorParts, who: Principal): readonly JsonObject[] {
  return Object.values(ownTools)
    .filter((name) => ownTool(name, parts, who) !== null && isListed(name, parts, who))
    .map((name) => listings[name]);
}

const isListed = (name: OwnTool, { tickets }: McpDoorParts, who: Principal): boolean =>
  name !== ownTools.awaitTicket || tickets?.isServed(who) === true;

/** Our tool of this name; null if there is none, it is not served, or a declared one replaces it. */
export function ownTool(name: string | null, parts: McpDoorParts, who: Principal): OwnTool | null {
  const own = Object.values(ownTools).find((each) => each === name);
  return own === undefined || !isServed(own, parts, who) || isDeclared(own, parts, who) ? null : own;
}

function isServed(name: OwnTool, { workflow, approvals, tickets, ...parts }: McpDoorParts, who: Principal): boolean {
  switch (name) {
    case ownTools.next:
    case ownTools.history:
      return workflow !== null;
    case ownTools.awaitApproval:
      return approvals?.isServed(who) === true;
    case ownTools.awaitTicket:
      return tickets !== undefined;
    case ownTools.reverse:
      return parts.reversals?.isServed(who) === true;
    case ownTools.complete:
      return parts.completion?.isServed(who) === true;
    default:
      return unreachable(name);
  }
}

/** Actions count in step mode, too: a call by the action's name must not end the session. */
function isDeclared(name: string, { workflow, tools }: McpDoorParts, who: Principal): boolean {
  if (workflow?.service.workflows.get(workflow.name)?.actions.has(name) === true) return true;
  return tools !== null && (tools.isDeclared?.(name) ?? tools.catalogue(who).has(name));
}
