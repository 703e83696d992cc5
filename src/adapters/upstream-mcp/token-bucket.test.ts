import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTokenBucket } from './token-bucket.ts';

test('the burst is free, what exceeds it is rested for, and rest is earned back', () => {
  let now = 0;
  const gate = createTokenBucket(10, 100, () => now);
  assert.equal(gate.spend(10), 0);
  assert.equal(gate.spend(5), 50);
  now += 50;
  assert.equal(gate.spend(1), 10);
  now += 1_000_000;
  assert.equal(gate.spend(10), 0, 'no more than the burst is saved');
  assert.equal(gate.spend(1), 10);
});

test('what is given back can be spent again, and is never more than the burst', () => {
  const gate = createTokenBucket(10, 100, () => 0);
  assert.equal(gate.spend(10), 0);
  assert.equal(gate.spend(-1), 0);
  assert.equal(gate.spend(1), 0);
  for (let times = 0; times < 50; times++) gate.spend(-1);
  assert.equal(gate.spend(11), 10);
});

test('who rests as told never reads more than the burst and the pace allow', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 100 }), (costs) => {
      let now = 0;
      let spent = 0;
      const gate = createTokenBucket(20, 100, () => now);
      for (const cost of costs) {
        spent += cost;
        now += gate.spend(cost);
        assert.ok(spent <= 20 + (now / 1_000) * 100 + 1e-6);
      }
    }),
  );
});
