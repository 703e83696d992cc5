import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf, aPolicyFact } from '../../../test/support/gate-facts.ts';
import { aModelUse } from '../../../test/support/models/a-model-use.ts';
import type { ModelProblem } from '../model/model-use.ts';
import type { Facts } from './facts.ts';
import { model } from './model.ts';

const allowing = (...allow: readonly string[]) =>
  facts({ policy: aPolicyFact([['permit', 'pay']], { models: { allow, ref: 'recourse.yaml:8' } }) });

const cases: readonly (readonly [string, string | null, Facts, string])[] = [
  ['passes without a policy', 'opus', facts(), 'pass'],
  [
    'passes an agent that policy does not know: that is for policy to say',
    'opus',
    facts({ policy: { mode: 'enforce', agent: null, ref: 'x:1' } }),
    'pass',
  ],
  ['passes any model where none is listed', null, facts({ policy: aPolicyFact([]) }), 'pass'],
  ['passes a model that is listed', 'opus', allowing('opus'), 'pass'],
  ['refuses a model that is not listed', 'haiku', allowing('opus'), 'refuse MODEL_DENIED'],
  ['refuses a call that names no model', null, allowing('opus'), 'refuse MODEL_DENIED'],
];

for (const [behaviour, named, given, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(model, { model: named }, given), expected));

const lacks: ModelProblem = {
  kind: 'lacks',
  code: 'MissingToolCalling',
  model: 'small',
  says: "model 'small' calls no tools, and the request brings tools",
  qualified: ['large', 'larger'],
};
const undeclared: ModelProblem = { kind: 'undeclared', model: 'smal', known: ['small', 'large'] };

/** A request of the tool `chat`, which asks for the model `small`. */
function chat(problem: ModelProblem | null, allow: readonly string[] | null, named: string | null = null) {
  const tool = aTool({ name: 'chat', models: aModelUse('small', problem) });
  const models = allow === null ? {} : { models: { allow, ref: 'recourse.yaml:8' } };
  const given = facts({ catalogue: aCatalogue(tool), policy: aPolicyFact([['permit', 'chat']], models) });
  const request = aRequest({ tool: 'chat', model: named });
  return { answer: model.check(request, given, []), saw: model.saw(request, given) };
}

function refusalOf(...of: Parameters<typeof chat>) {
  const { answer } = chat(...of);
  assert.ok(answer.kind === 'refuse', answer.kind);
  return answer.refusal;
}

test('passes a request for a model that is permitted, whoever sends it without a name of its own', () =>
  assert.equal(chat(null, ['small']).answer.kind, 'pass'));

test('refuses a request for a model that is not permitted, by the name of that model', () => {
  const refusal = refusalOf(null, ['large']);
  assert.equal(refusal.code, 'MODEL_DENIED');
  assert.equal(refusal.message, "denied: model 'small' is not permitted");
});

test('refuses a request for a permitted model if the model that sends it is not', () =>
  assert.equal(refusalOf(null, ['small'], 'huge').message, "denied: model 'huge' is not permitted"));

test('a model that is not permitted is denied before anything is said of what it can do', () =>
  assert.equal(refusalOf(lacks, ['large']).code, 'MODEL_DENIED'));

test('a model that is not declared is invalid input, at its place, with those that are', () => {
  const refusal = refusalOf(undeclared, null);
  assert.ok(refusal.error === 'validation_failed');
  assert.deepEqual(refusal.errors, [
    { path: '/model', expected: 'one of the declared models: small, large', got: 'smal' },
  ]);
});

test('a model that lacks something is told with the models that do not, and nothing was sent', () =>
  assert.deepEqual(refusalOf(lacks, null), {
    error: 'action_error',
    class: 'ProviderCapability',
    code: 'MissingToolCalling',
    message: "action 'chat' was not carried out: model 'small' calls no tools, and the request brings tools",
    resolution: { type: 'replan', reason: 'ask one of the models that can: large, larger' },
    error_type: 'MissingToolCalling',
    error_message: "model 'small' calls no tools, and the request brings tools",
    verdict: 'invalid_request',
    compensation: null,
    outcome: null,
  }));

test('says so if no model that is permitted can answer', () =>
  assert.deepEqual(refusalOf({ ...lacks, qualified: [] }, null).resolution, {
    type: 'replan',
    reason: 'none of the configured models that are permitted can answer this request',
  }));

test('tells explain which model was asked for and what it lacks', () =>
  assert.deepEqual(chat(lacks, null).saw, {
    model: null,
    allowed: null,
    asked: 'small',
    lacks: 'MissingToolCalling',
  }));
