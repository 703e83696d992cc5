/** Budgets in a terminal: amounts of any size, and the share that is used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BudgetView } from '../../../core/budget/budget-view.ts';
import { amountOf, barOf } from './write-budget.ts';

const budget = (unit: string, max: number, spent: number, held = 0) =>
  ({ unit, max, spent, held, allowed: 0 }) as BudgetView;

test('an amount is written as it is, also one beyond every budget', () => {
  assert.equal(amountOf(8_800_000_000, { unit: 'IDR' }), '8800000000.00 IDR');
  assert.equal(amountOf(0.1 + 0.2, { unit: 'USD' }), '$0.30');
  assert.equal(amountOf(3, { unit: 'calls' }), '3 calls');
});

test('a bar says the whole percent that are used, and never is longer than all of it', () => {
  assert.equal(barOf(budget('USD', 1, 0.29)), `${'█'.repeat(6)}${'░'.repeat(14)}  29%`);
  assert.equal(barOf(budget('USD', 1, 0.1, 0.2)), `██▒▒▒▒${'░'.repeat(14)}  30%`);
  assert.equal(barOf(budget('USD', 1, 2.5)), `${'█'.repeat(20)} 250%`);
  assert.equal(barOf(budget('calls', 0, 0)), `${'█'.repeat(20)} 100%`);
});
