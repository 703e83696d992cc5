import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf, aStep, inShop } from '../../../test/support/gate-facts.ts';
import type { CallId } from '../call/call.ts';
import type { FenceFact } from '../workflow/step.ts';
import type { Facts } from './facts.ts';
import { fence } from './fence.ts';

const doubt = (change: Partial<FenceFact> = {}): FenceFact => ({
  operation: 'pay',
  callId: 'call_9' as CallId,
  session: null,
  fingerprint: '',
  inDoubt: true,
  ...change,
});
const fenced = (...fences: readonly FenceFact[]) => inShop(aStep({ fences }));
const body = { workflow: aStep().workflow, fences: [doubt()] };
const both = aCatalogue(aTool(), aTool({ name: 'look' }));

const cases: readonly (readonly [string, string, Facts, string])[] = [
  ['passes every tool outside a workflow', 'pay', facts(), 'pass'],
  ['passes an action of which nothing is in doubt', 'pay', fenced(), 'pass'],
  ['refuses an action while an equal step is in doubt', 'pay', fenced(doubt()), 'refuse Fenced'],
  ['passes other actions meanwhile', 'look', fenced(doubt()), 'pass'],
  ['passes once the doubt is settled', 'pay', fenced(doubt({ inDoubt: false })), 'pass'],
  ['finds the fence behind one that is settled', 'pay', fenced(doubt({ inDoubt: false }), doubt()), 'refuse Fenced'],
  ['refuses a tool that the body of a step calls, by the fences of its step', 'pay', facts({ body }), 'refuse Fenced'],
  ['passes other tools of such a body', 'look', facts({ body, catalogue: both }), 'pass'],
];

for (const [behaviour, tool, given, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(fence, { tool }, given), expected));
