/**
 * CONTRACT section 6 and PROTOCOL, invariant 20: a clock that is wrong for a while makes nothing forgotten, and nothing
 * run again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { successOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { createCountingTool, createHeldTool } from '../support/tools.ts';

const payment = { tool: 'pay', args: { amount: 5 }, key: 'order-17' };
const dayMs = 86_400_000;

describe('a clock that jumps', () => {
  for (const days of [8, 400, 36_500])
    test(`[C6-clock-1] ahead by ${days} days for a moment forgets no key, then or later`, async (t) => {
      const clock = createShiftedClock();
      const pay = createCountingTool('pay');
      const gateway = await openGateway(t, [pay.definition], { clock });
      const first = successOf(await gateway.call(payment));
      clock.forward(days * dayMs);
      for (let other = 0; other < 5; other++) await gateway.call({ tool: 'pay', args: { other } });
      assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
      clock.forward(-days * dayMs);
      for (let other = 0; other < 5; other++) await gateway.call({ tool: 'pay', args: { other } });
      assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    });

  test('[C6-clock-1] ahead, across restarts while it is wrong and when it is right again', async (t) => {
    const pay = createCountingTool('pay');
    const clock = createShiftedClock();
    let gateway = await openGateway(t, [pay.definition], { clock });
    const first = successOf(await gateway.call(payment));
    for (const days of [8, 30, -38]) {
      await gateway.close();
      clock.forward(days * dayMs);
      gateway = await openGateway(t, [pay.definition], { clock });
      await gateway.call({ tool: 'pay', args: { days } });
      assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    }
  });

  test('[C6-clock-1] ahead in one of two processes on the store', async (t) => {
    const pay = createCountingTool('pay');
    const [right, wrong] = [createShiftedClock(), createShiftedClock()];
    wrong.forward(8 * dayMs);
    const owner = await openGateway(t, [pay.definition], { clock: right });
    const first = successOf(await owner.call(payment));
    const forwarder = await openGateway(t, [pay.definition], { clock: wrong });
    assert.equal(forwarder.role, 'forwarder');
    for (const gateway of [forwarder, owner]) {
      await gateway.call({ tool: 'pay', args: { other: gateway.role } });
      assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    }
  });

  test('[C6-clock-2] ahead hides nobody who left: an equal write still takes their place', async (t) => {
    const clock = createShiftedClock();
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition], { clock });
    const gone = new AbortController();
    const asked = gateway.call({ tool: 'pay' }, { signal: gone.signal });
    const run = await pay.begun();
    gone.abort();
    await asked;
    run.finish('paid');
    clock.forward(8 * dayMs);
    await gateway.call({ tool: 'pay', wait_seconds: 1 });
    assert.equal(pay.runs.length, 1, 'nothing ran again');
  });
});
