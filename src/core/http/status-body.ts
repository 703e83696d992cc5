/** JSON Schema of the body of `GET /v1/status`. */
import { gapKinds } from '../call/gap.ts';
import { gateNames } from '../gates/gate.ts';
import { modelStates } from '../model/model-status.ts';
import {
  closedObject,
  listOf,
  notNegative,
  oneOfNames,
  type Schema,
  text,
  textOrNull,
  texts,
  wholeNumber,
} from './reply-schema-fields.ts';

const truth: Schema = { type: 'boolean' };
const breakerStates = ['closed', 'open', 'half_open'];
const place = { file: text, line: wholeNumber, column: wholeNumber };

const truthOrNull: Schema = { anyOf: [truth, { type: 'null' }] };
const wholeOrNull: Schema = { anyOf: [wholeNumber, { type: 'null' }] };

const capabilities: Schema = {
  anyOf: [
    closedObject({
      streaming: truthOrNull,
      tools: truthOrNull,
      context_tokens: wholeOrNull,
      max_output_tokens: wholeOrNull,
    }),
    { type: 'null' },
  ],
};

const modelStatus = closedObject({
  name: text,
  kind: text,
  state: oneOfNames(modelStates),
  problem: textOrNull,
  models: listOf(closedObject({ name: text, declared: capabilities, said: capabilities })),
  aliases: { type: 'object', additionalProperties: text },
  used: closedObject({ calls: wholeNumber, input_tokens: wholeNumber, output_tokens: wholeNumber, cost: textOrNull }),
});

export function statusReport(): Schema {
  const upstream = closedObject({
    name: text,
    state: oneOfNames(['connecting', 'connected', 'waiting', 'closed']),
    tools: wholeNumber,
    problem: textOrNull,
  });
  const told = closedObject({ ...place, message: text, fix: text });
  return closedObject({
    ready: truth,
    in_flight: wholeNumber,
    store: oneOfNames(['available', 'unavailable']),
    uptime_seconds: wholeNumber,
    version: text,
    role: oneOfNames(['owner', 'forwarder']),
    mode: { anyOf: [oneOfNames(['enforce', 'audit']), { type: 'null' }] },
    policy: textOrNull,
    agents: texts,
    warnings: listOf(told),
    forced: listOf(told),
    drift: texts,
    tools: wholeNumber,
    workflows: texts,
    upstreams: listOf(upstream),
    extensions: listOf(
      closedObject({
        name: text,
        contract: wholeNumber,
        state: oneOfNames(['loaded', 'started', 'failed', 'stopped']),
        code: textOrNull,
        problem: textOrNull,
        needs: texts,
        adds: texts,
        built_in: truth,
      }),
    ),
    gates: listOf(closedObject({ gate: oneOfNames(gateNames), configured: truth })),
    gaps: listOf(closedObject({ kind: oneOfNames(Object.keys(gapKinds)), count: wholeNumber })),
    credentials: listOf(
      closedObject({
        name: text,
        provider: text,
        state: oneOfNames(['ok', 'failing', 'not_fetched']),
        since: text,
        reason: textOrNull,
        expires_at: textOrNull,
      }),
    ),
    models: listOf(modelStatus),
    recovery: listOf(
      closedObject({ upstream: text, breaker: oneOfNames(breakerStates), retries: wholeNumber, tokens: notNegative }),
    ),
  });
}
