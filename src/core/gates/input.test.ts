import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf } from '../../../test/support/gate-facts.ts';
import type { InputRule } from '../call/catalogue.ts';
import type { Facts } from './facts.ts';
import type { Gate } from './gate.ts';
import { input, namedEvidence } from './input.ts';

const errors = [{ path: '/amount', expected: 'number', got: 'x' }];
const judging = (rule: InputRule, more: Partial<Facts> = {}) =>
  facts({ catalogue: aCatalogue(aTool({ input: rule })), ...more });
const validator = { kind: 'validator' } as const;
const evidence = ['call_1'];
const found = { ok: true, hash: 'h', refs: [], own: [], contents: [], isFresh: false } as const;

const cases: readonly (readonly [string, Gate, object, Facts, string])[] = [
  ['passes a tool that takes anything', input, {}, facts(), 'pass'],
  ['passes arguments that fit the schema', input, {}, judging({ kind: 'schema', check: () => [] }), 'pass'],
  ['refuses arguments that do not', input, {}, judging({ kind: 'schema', check: () => errors }), 'refuse InputInvalid'],
  ['needs what the validator says', input, {}, judging(validator), 'need arguments'],
  ['passes what the validator accepts', input, {}, judging(validator, { arguments: { ok: true, args: {} } }), 'pass'],
  [
    'refuses what the validator refuses',
    input,
    {},
    judging(validator, { arguments: { ok: false, errors } }),
    'refuse InputInvalid',
  ],
  ['passes a call without evidence', namedEvidence, {}, facts(), 'pass'],
  ['needs the evidence that a call names', namedEvidence, { evidence }, facts(), 'need evidence'],
  ['passes evidence that is there', namedEvidence, { evidence }, facts({ evidence: found }), 'pass'],
  [
    'refuses evidence that is not',
    namedEvidence,
    { evidence },
    facts({ evidence: { ok: false, errors } }),
    'refuse InputInvalid',
  ],
];

for (const [behaviour, gate, request, given, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(gate, request, given), expected));
