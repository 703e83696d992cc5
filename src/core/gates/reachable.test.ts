import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facts } from '../../../test/support/builders.ts';
import { answerOf, inShop } from '../../../test/support/gate-facts.ts';
import type { Request } from '../call/call.ts';
import type { Facts } from './facts.ts';
import { reachable, reachableWithInputs } from './reachable.ts';

const shop = inShop();

/** What the gate answers without the inputs, and with them. */
const cases: readonly (readonly [string, Partial<Request>, Facts, string, string])[] = [
  ['passes every tool outside a workflow', {}, facts(), 'pass', 'pass'],
  ['passes an action that is legal here', { tool: 'look' }, shop, 'pass', 'pass'],
  ['refuses an action of another state', { tool: 'ship' }, shop, 'refuse InvalidTransition', 'pass'],
  [
    'passes a guard that looks at inputs until they are known',
    { args: { amount: 4 } },
    shop,
    'pass',
    'refuse InvalidTransition',
  ],
  ['passes inputs that the guard accepts', { args: { amount: 5 } }, shop, 'pass', 'pass'],
  [
    'judges the inputs as the validator left them',
    { args: { amount: 5 } },
    inShop(undefined, { arguments: { ok: true, args: { amount: 4 } } }),
    'pass',
    'refuse InvalidTransition',
  ],
  ['refuses a guard that throws', { tool: 'crash' }, shop, 'refuse GuardError', 'pass'],
];

for (const [behaviour, request, given, first, withInputs] of cases)
  test(behaviour, () => {
    assert.equal(answerOf(reachable, request, given), first);
    assert.equal(answerOf(reachableWithInputs, request, given), withInputs);
  });
