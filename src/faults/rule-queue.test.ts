/** Random faults: the same for the same seed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFaults } from '../../test/support/faults/open-faults.ts';
import { readRules } from './read-rules.ts';
import { createRuleQueue } from './rule-queue.ts';

const drawn = (seed: number, rate: number, count = 300) => {
  const queue = createRuleQueue({ seed, rate });
  return Array.from({ length: count }, () => queue.take('refund', null));
};

test('the same seed draws the same faults, another seed others', () => {
  assert.deepEqual(drawn(7, 0.3), drawn(7, 0.3));
  assert.notDeepEqual(drawn(7, 0.3), drawn(8, 0.3));
});

test('rate 0 draws none, rate 1 never none', () => {
  assert.ok(drawn(7, 0).every(({ fault }) => fault === 'none'));
  assert.ok(drawn(7, 1).every(({ fault }) => fault !== 'none'));
});

test('a rule does not move what later requests get', () => {
  const queue = createRuleQueue({ seed: 7, rate: 0.3 });
  const read = readRules('fault: 401', 'rules.yaml');
  assert.ok(read.ok && queue.add(read.rules));
  const taken = Array.from({ length: 300 }, () => queue.take('refund', null));
  assert.equal(taken[0]?.fault, '401');
  assert.deepEqual(taken.slice(1), drawn(7, 0.3).slice(1));
});

test('two upstreams with one seed treat the same requests alike', async (t) => {
  const series = async () => {
    const faults = await openFaults(t, { seed: 7, rate: 0.5 });
    for (let at = 0; at < 30; at++) await faults.ask(`/orders/o${at}`);
    const received = faults.entries().filter(({ kind }) => kind === 'received');
    return received.map(({ fault }) => fault);
  };
  const first = await series();
  assert.ok(new Set(first).size > 3);
  assert.deepEqual(await series(), first);
});
