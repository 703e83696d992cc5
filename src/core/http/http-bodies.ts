/**
 * JSON Schemas of the HTTP bodies, except replies of calls, by component name. Request schemas contain no references,
 * because the door validates with them.
 */
import { approvalAnswerBodies, approvalRequestBodies } from './approval-bodies.ts';
import { budgetAnswerBodies, budgetRequestBodies, writtenQuotas } from './budget-bodies.ts';
import { lookBodies } from './look/look-bodies.ts';
import { consoleRequestBodies } from './console/console-bodies.ts';
import { gateNames } from '../gates/gate.ts';
import { reaches, ruleEffects } from '../policy/policy.ts';
import { improvementAnswerBodies, improvementRequestBodies } from './improvement/improvement-bodies.ts';
import { modelAnswerBodies, modelRequestBodies } from './model-bodies.ts';
import {
  anything,
  closedObject,
  listOf,
  notNegative,
  oneOfNames,
  type Ref,
  type Schema,
  text,
  textOrNull,
  texts,
  wholeNumber,
} from './reply-schema-fields.ts';
import { reversalAnswerBodies } from './reversal/reversal-bodies.ts';
import { statusReport } from './status-body.ts';
import { ticketAnswerBodies, ticketRequestBodies } from './ticket-bodies.ts';
import { callStates, codes, effectClasses, effects } from '../taxonomy.ts';

export const sessionStatusNames = ['open', 'done', 'stopped', 'cancelled', 'closed'] as const;

const maxNameChars = 256;
const name: Schema = { type: 'string', minLength: 1, maxLength: maxNameChars };
const object: Schema = { type: 'object' };
const truth: Schema = { type: 'boolean' };
const time: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const position: Schema = { type: 'string', pattern: '^[0-9]{1,15}\\.[0-9]{1,15}$' };

/** What a call and a step share. */
const controls = {
  session: name,
  key: name,
  turn: name,
  expected_seq: wholeNumber,
  model: name,
  wait_seconds: notNegative,
  deadline_seconds: notNegative,
  evidence_refs: listOf(name),
};

export const requestBodies = {
  CallRequest: closedObject({ tool: name, args: anything, ...controls }, ['args', ...Object.keys(controls)]),
  StepRequest: closedObject({ action: name, inputs: { type: ['object', 'string'] }, ...controls }, [
    'inputs',
    ...Object.keys(controls),
  ]),
  EvaluateRequest: closedObject({ tool: name, args: anything, session: name, model: name, agent: name }, [
    'args',
    'session',
    'model',
    'agent',
  ]),
  SessionRequest: closedObject({ workflow: name, mode: oneOfNames(reaches) }, ['workflow', 'mode']),
  ForkRequest: closedObject({ seq: wholeNumber }, ['seq']),
  SettleRequest: closedObject(
    { happened: oneOfNames(['yes', 'no', 'unknown']), result: anything, force: truth, attempt: wholeNumber },
    ['result', 'force', 'attempt'],
  ),
  ...approvalRequestBodies,
  ...ticketRequestBodies,
  ...budgetRequestBodies,
  ...improvementRequestBodies,
  ...modelRequestBodies,
  ...consoleRequestBodies,
  ApplyRequest: closedObject({ force: truth }, ['force']),
  Nothing: closedObject({}),
} as const satisfies Record<string, Schema>;

export type RequestName = keyof typeof requestBodies;

/** One event of a stream; its data is JSON. */
const streamEvent = closedObject(
  { id: position, event: oneOfNames(['record', 'approval', 'call', 'end']), data: text },
  ['id'],
);

export function answerBodies(ref: Ref) {
  return {
    ...listBodies(ref),
    ...approvalAnswerBodies(ref),
    SessionView: closedObject({
      session: text,
      workflow: text,
      seq: wholeNumber,
      status: oneOfNames(sessionStatusNames),
      state: anything,
      state_digest: text,
      valid_next_actions: texts,
      next_action_schemas: { type: 'object', additionalProperties: orNull(object) },
      opened_at: time,
      last_used_at: time,
      expires_at: orNull(time),
    }),
    PlainSession: closedObject(
      {
        session: text,
        seq: wholeNumber,
        status: oneOfNames(['open']),
        valid_next_actions: texts,
        next_total: wholeNumber,
      },
      ['next_total'],
    ),
    OpenedSession: { anyOf: [ref('SessionView'), ref('PlainSession')] },
    Settled: closedObject({ call_id: text, happened: oneOfNames(['yes', 'no', 'unknown']), by: text }),
    Explanation: closedObject({
      tenant: text,
      agent: text,
      tool: text,
      decision: oneOfNames(['run', 'refuse', 'hold']),
      rungs: listOf(
        closedObject({
          gate: oneOfNames(gateNames),
          answer: oneOfNames(['passed', 'refused', 'held', 'softened', 'not_asked', 'absent']),
          saw: object,
          why: textOrNull,
          change: textOrNull,
        }),
      ),
      rules: listOf(
        closedObject({
          rule: wholeNumber,
          ref: text,
          result: oneOfNames(['other_tool', 'condition_false', 'broken', 'matched']),
          problem: textOrNull,
        }),
      ),
      reply: orNull(ref('ErrorReply')),
    }),
    PolicyView: closedObject({ policy: orNull(writtenPolicy()) }),
    PolicyApplied: closedObject({
      applied: { const: true },
      changed: truth,
      policy: textOrNull,
      agents: texts,
      changes: listOf(
        closedObject({
          change: oneOfNames(['added', 'removed', 'changed']),
          agent: textOrNull,
          details: listOf(
            closedObject({ says: text, direction: oneOfNames(['weaker', 'maybe_weaker', 'other', 'stronger']) }),
          ),
        }),
      ),
      forced: texts,
    }),
    StatusReport: statusReport(),
    Health: closedObject({ status: oneOfNames(['ready', 'starting', 'recovering', 'closing']) }),
    OpenapiDocument: object,
    StreamEvent: streamEvent,
    AuditRecord: closedObject({
      position,
      kind: text,
      meaning: text,
      at: time,
      call_id: textOrNull,
      session: textOrNull,
      session_seq: wholeNumber,
      hash: text,
      body: anything,
      payloads: listOf(closedObject({ part: text, text: textOrNull })),
    }),
    ...problemBodies(),
  };
}

export type BodyName = RequestName | keyof ReturnType<typeof answerBodies>;

const otherBodies = (ref: Ref) => ({
  ...reversalAnswerBodies(),
  ...ticketAnswerBodies(ref),
  ...budgetAnswerBodies(ref),
  ...improvementAnswerBodies(ref),
  ...modelAnswerBodies(ref),
  ...lookBodies(ref, sessionStatusNames),
});

function listBodies(ref: Ref) {
  return {
    ...otherBodies(ref),
    CallList: closedObject({ calls: listOf(ref('CallEntry')), next: textOrNull }),
    CallEntry: closedObject({
      call_id: text,
      agent: text,
      tool: text,
      session: textOrNull,
      turn: textOrNull,
      key: textOrNull,
      state: oneOfNames(Object.keys(callStates)),
      effect_class: oneOfNames(Object.keys(effectClasses)),
      effect: oneOfNames(Object.keys(effects)),
      attempts: wholeNumber,
      created_at: time,
      updated_at: time,
      deadline_at: time,
      repeats: wholeNumber,
    }),
    SessionList: closedObject({ sessions: listOf(ref('SessionEntry')), complete: truth }),
    SessionEntry: closedObject({
      session: text,
      agent: text,
      workflow: text,
      seq: wholeNumber,
      status: oneOfNames(sessionStatusNames),
      reason: textOrNull,
      opened_at: time,
      last_used_at: time,
    }),
    HistoryPage: closedObject({ session: text, entries: listOf(ref('HistoryEntry')), next: orNull(wholeNumber) }),
    HistoryEntry: closedObject({
      entry: wholeNumber,
      kind: text,
      at: time,
      agent: text,
      action: textOrNull,
      call_id: textOrNull,
      outcome: textOrNull,
      code: textOrNull,
      inputs: {},
      reason: textOrNull,
      elapsed_ms: orNull(notNegative),
      seq: wholeNumber,
      state_before: textOrNull,
      state_after: textOrNull,
      detail: object,
    }),
    ToolList: closedObject({ agent: text, tools: listOf(ref('ToolEntry')) }),
    ToolEntry: closedObject({
      name: text,
      description: text,
      effect: oneOfNames(Object.keys(effectClasses)),
      input_schema: orNull(object),
    }),
  };
}

const place = { file: text, line: wholeNumber, column: wholeNumber };

function writtenPolicy(): Schema {
  const terms = closedObject({
    roles: orNull(texts),
    needed: wholeNumber,
    expires_ms: wholeNumber,
    on_approve: oneOfNames(['wait', 'run']),
    client_may_approve: truth,
  });
  const quotas = writtenQuotas(terms);
  const decides = { effect: oneOfNames(ruleEffects), ref: text, terms };
  const rule = closedObject({ ...decides, match: text, when: textOrNull, reason: textOrNull }, ['terms']);
  const completion = closedObject({ require: texts, when: textOrNull, condition: textOrNull, ref: text });
  const agent = closedObject(
    {
      agent: text,
      ref: text,
      default: orNull(closedObject(decides, ['terms'])),
      rules: listOf(rule),
      ceiling: orNull(closedObject({ reach: oneOfNames(reaches), ref: text })),
      models: orNull(closedObject({ allow: texts, ref: text })),
      redact: texts,
      completion,
      ...quotas,
    },
    ['completion', ...Object.keys(quotas)],
  );
  const roles = { type: 'object', additionalProperties: texts };
  const mode = oneOfNames(['enforce', 'audit']);
  return closedObject({ mode, ref: text, agents: listOf(agent), roles, ...quotas }, ['roles', ...Object.keys(quotas)]);
}

const problemFields = { type: text, title: text, status: wholeNumber, detail: text };

function problemBodies() {
  const ofFiles = ['Validation', 'ExtensionHost'] as const;
  const validation = (Object.keys(codes) as (keyof typeof codes)[]).filter((code) =>
    ofFiles.some((each) => each === codes[code].class),
  );
  return {
    PolicyRefused: closedObject({
      ...problemFields,
      class: oneOfNames(ofFiles),
      code: oneOfNames(validation),
      problems: listOf(
        closedObject({ code: oneOfNames(validation), ...place, text, message: text, fix: text }, ['text']),
      ),
      forcible: truth,
    }),
  };
}
