/** JSON Schemas of the HTTP bodies by which people look at calls and at the journal. Part of http-bodies.ts. */
import { gateNames } from '../../gates/gate.ts';
import { callStates, effectClasses } from '../../taxonomy.ts';
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
} from '../reply-schema-fields.ts';

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const time: Schema = { type: 'string', format: 'date-time' };
const object: Schema = { type: 'object' };
const truth: Schema = { type: 'boolean' };
const position: Schema = { type: 'string', pattern: '^[0-9]{1,15}\\.[0-9]{1,15}$' };
const shown: Schema = closedObject({ kind: oneOfNames(['none', 'erased', 'altered', 'text']), value: anything }, [
  'value',
]);
const payload = closedObject({ part: text, text: textOrNull });

const callMoment = closedObject({
  position,
  change: text,
  at: time,
  call_id: text,
  agent: text,
  tool: text,
  session: textOrNull,
  state: oneOfNames(Object.keys(callStates)),
  code: textOrNull,
  verdict: textOrNull,
  gate: textOrNull,
  rule: textOrNull,
  attempt: orNull(wholeNumber),
  created_at: time,
});

export function callLookBodies(ref: Ref) {
  return {
    CallMoment: callMoment,
    CallStory: closedObject({
      call: ref('CallEntry'),
      args: shown,
      reply: shown,
      ladder: listOf(
        closedObject({
          gate: oneOfNames(gateNames),
          answer: oneOfNames(['passed', 'refused', 'held', 'softened', 'not_asked', 'absent']),
          saw: object,
          why: textOrNull,
          change: textOrNull,
        }),
      ),
      decided: orNull(closedObject({ record: position, at: time })),
      rule_ref: textOrNull,
      facts: orNull(object),
      timeline: listOf(closedObject({ after_ms: { type: 'number' }, what: text, says: text })),
      records: listOf(
        closedObject({
          position,
          kind: text,
          meaning: text,
          at: time,
          hash: text,
          body: anything,
          payloads: listOf(payload),
        }),
      ),
      approvals: texts,
      tickets: texts,
    }),
    CallReplay: closedObject(
      {
        replay: oneOfNames(['equal', 'different', 'impossible']),
        failures: wholeNumber,
        erased: texts,
        missing: text,
        difference: object,
      },
      ['failures', 'erased', 'missing', 'difference'],
    ),
    CallGolden: closedObject({ file: textOrNull, text: textOrNull, problem: textOrNull }),
    ...journalBodies(),
    ...healthBodies(),
  };
}

const journalBodies = () => ({
  JournalPage: closedObject({
    epochs: wholeNumber,
    records: listOf({
      anyOf: [
        closedObject({
          position,
          kind: text,
          call: textOrNull,
          // Bytes in base64, as they are hashed; a payload that was erased is null.
          header: text,
          hash: text,
          payloads: listOf(orNull(closedObject({ salt: text, bytes: text }))),
        }),
        // Of another tenant: its place in the chain, and the hash of its leaf in hex.
        closedObject({ position, chain: text, leaf: text, hash: text }),
      ],
    }),
    more: truth,
  }),
});

const healthBodies = () => ({
  ToolHealth: closedObject({
    calls: wholeNumber,
    complete: truth,
    since: orNull(time),
    tools: listOf(
      closedObject({
        tool: text,
        effect: oneOfNames(Object.keys(effectClasses)),
        description: text,
        served: truth,
        drift: textOrNull,
        calls: wholeNumber,
        succeeded: wholeNumber,
        refused: wholeNumber,
        failed: wholeNumber,
        in_doubt: wholeNumber,
        waiting: wholeNumber,
        p50_ms: orNull(notNegative),
        p95_ms: orNull(notNegative),
        verdicts: listOf(closedObject({ verdict: text, count: wholeNumber })),
        last_at: orNull(time),
      }),
    ),
  }),
});
