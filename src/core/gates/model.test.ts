import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facts } from '../../../test/support/builders.ts';
import { answerOf, aPolicyFact } from '../../../test/support/gate-facts.ts';
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
