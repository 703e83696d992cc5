/** CONTRACT section 6, keys: the same key and arguments are the same call, for as long as the key is kept. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpStatusOf, isSuccess } from '../../src/index.ts';
import { errorOf, pendingOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { openGateway } from '../support/open-gateway.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { aTool, createCountingTool, createHeldTool } from '../support/tools.ts';

const payment = { tool: 'pay', args: { amount: 5, to: 'ada' }, key: 'order-17' };

describe('the same key and arguments', () => {
  test('[C6-keys-1] after a success get the stored reply, replayed, and nothing runs', async (t) => {
    const pay = createCountingTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = successOf(await gateway.call(payment));
    assert.equal(first.replayed, undefined);
    for (let again = 0; again < 3; again++) assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    assert.equal(pay.runs(), 1);
  });

  test('[C6-keys-1] in another order, or from another session, are still the same', async (t) => {
    const pay = createCountingTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = successOf(await gateway.call(payment));
    const session = await gateway.openSession();
    const again = await gateway.call({ ...payment, args: { to: 'ada', amount: 5.0 }, session });
    assert.deepEqual(again, { ...first, replayed: true });
    assert.equal(pay.runs(), 1);
  });

  test('[C6-keys-1] after a failure get that failure, replayed', async (t) => {
    let runs = 0;
    const pay = aTool('pay', (_, { fail }) => {
      runs += 1;
      return fail({ kind: '400_invalid', message: 'no such account' });
    });
    const gateway = await openGateway(t, [pay]);
    const first = errorOf(await gateway.call(payment), 'action_error');
    assert.equal(first.effect, 'none');
    assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    assert.equal(runs, 1);
  });

  test('[C6-keys-1] after a doubt get the doubt, and never a second attempt', async (t) => {
    let runs = 0;
    const pay = aTool('pay', () => Promise.reject(new Error(`line dropped ${(runs += 1)}`)));
    const gateway = await openGateway(t, [pay]);
    const first = errorOf(await gateway.call(payment), 'action_error');
    assert.equal(first.effect, 'unknown');
    assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    assert.equal(runs, 1);
  });

  test('[C6-keys-3] while it runs get action_in_flight, if the caller does not wait', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = gateway.call(payment);
    const run = await pay.begun();
    const second = errorOf(await gateway.call(payment), 'action_in_flight');
    assert.deepEqual([second.class, second.code, httpStatusOf(second)], ['Workflow', 'ActionInFlight', 409]);
    assert.equal(second.in_flight_call_id, run.context.call_id);
    assert.notEqual(second.call_id, run.context.call_id, 'the refusal is a call of its own');
    assert.equal(second.resolution.type, 'retry_after');
    run.finish('paid');
    assert.equal(successOf(await first).call_id, run.context.call_id);
    assert.equal(pay.runs.length, 1);
  });

  test('[C6-keys-3] while it runs get its result, replayed, if the caller waits', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = gateway.call(payment);
    const run = await pay.begun();
    const second = gateway.call({ ...payment, wait_seconds: 10 });
    run.finish('paid');
    assert.deepEqual(await second, { ...successOf(await first), replayed: true });
    assert.equal(pay.runs.length, 1);
  });

  test('[C6-keys-3] while it runs get the call that is pending, if the wait is too short', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = gateway.call(payment);
    const run = await pay.begun();
    const second = pendingOf(await gateway.call({ ...payment, wait_seconds: 0.01 }));
    assert.equal(second.call_id, run.context.call_id);
    run.finish('paid');
    assert.equal(successOf(await first).call_id, second.call_id);
  });

  test('[C6-keys-3] a second asker who goes away stops nothing for the first', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = gateway.call(payment);
    const run = await pay.begun();
    const client = new AbortController();
    const second = gateway.call({ ...payment, wait_seconds: 3_600 }, { signal: client.signal });
    client.abort();
    assert.equal(pendingOf(await second).call_id, run.context.call_id, 'the reply comes at once');
    assert.equal(run.context.signal.aborted, false);
    run.finish('paid');
    successOf(await first);
  });

  test('[C6-keys-4] twenty times at once run once, and all who wait get the one result', async (t) => {
    const pay = createCountingTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const asked = Array.from({ length: 20 }, () => gateway.call({ ...payment, wait_seconds: 10 }));
    const replies = (await Promise.all(asked)).map((reply) => successOf(reply));
    assert.equal(pay.runs(), 1);
    assert.equal(new Set(replies.map(({ call_id: callId }) => callId)).size, 1);
    assert.equal(replies.filter(({ replayed }) => replayed !== true).length, 1, 'one of them ran it');
  });

  test('[C6-keys-4] twenty times at once run once, also if nobody waits', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const asked = Array.from({ length: 20 }, () => gateway.call(payment));
    const run = await pay.begun();
    const others = await eventually('the refusals of the others', async () => {
      const settled = await Promise.all(asked.map((each) => Promise.race([each, Promise.resolve(null)])));
      const refused = settled.filter((reply) => reply !== null);
      return refused.length === 19 && refused;
    });
    for (const other of others) assert.equal(errorOf(other, 'action_in_flight').in_flight_call_id, run.context.call_id);
    run.finish('paid');
    assert.equal((await Promise.all(asked)).filter((reply) => isSuccess(reply)).length, 1);
    assert.equal(pay.runs.length, 1);
  });

  test('[C6-keys-5] are the same call after a restart', async (t) => {
    const pay = createCountingTool('pay');
    const before = await openGateway(t, [pay.definition]);
    const first = successOf(await before.call(payment));
    await before.close();
    const after = await openGateway(t, [pay.definition]);
    assert.deepEqual(await after.call(payment), { ...first, replayed: true });
    assert.equal(errorOf(await after.call({ ...payment, args: {} }), 'validation_failed').code, 'KeyReused');
    assert.equal(pay.runs(), 1);
  });
});

describe('a key', () => {
  for (const [what, change] of Object.entries({
    'other arguments': { args: { amount: 6, to: 'ada' } },
    'another tool': { tool: 'refund' },
  }))
    test(`[C6-keys-6] used again with ${what} is KeyReused, and nothing runs`, async (t) => {
      const pay = createCountingTool('pay');
      const refund = createCountingTool('refund');
      const gateway = await openGateway(t, [pay.definition, refund.definition]);
      successOf(await gateway.call(payment));
      const reply = errorOf(await gateway.call({ ...payment, ...change }), 'validation_failed');
      assert.deepEqual([reply.class, reply.code, httpStatusOf(reply)], ['ToolTerminal', 'KeyReused', 422]);
      assert.deepEqual(reply.resolution, { type: 'fix_input', fields: ['key'] });
      assert.deepEqual(reply.details, { field: 'key', got: 'order-17' });
      assert.equal((await gateway.stored(reply.call_id)).state, 'DENIED', 'it is on record');
      assert.deepEqual([pay.runs(), refund.runs()], [1, 0]);
      assert.equal(successOf(await gateway.call(payment)).replayed, true, 'the first owner keeps the key');
    });

  test('[C6-keys-6] of a call that runs is KeyReused for other arguments, even for a caller who waits', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = gateway.call(payment);
    const run = await pay.begun();
    const other = await gateway.call({ ...payment, args: {}, wait_seconds: 10 });
    assert.equal(errorOf(other, 'validation_failed').code, 'KeyReused');
    run.finish(1);
    successOf(await first);
  });

  test('[C6-keys-7] belongs to one agent of one tenant', async (t) => {
    const pay = createCountingTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const owners = [{}, { agent: 'bob' }, { tenant: 'acme' }, { tenant: 'acme', agent: 'bob' }];
    const calls = new Set<string>();
    for (const who of owners) calls.add(successOf(await gateway.call(payment, who)).call_id);
    assert.deepEqual([calls.size, pay.runs()], [4, 4]);
    for (const who of owners) assert.equal(successOf(await gateway.call(payment, who)).replayed, true);
    assert.equal(pay.runs(), 4);
  });

  test('[C6-keys-8] is not taken by a denied call: corrected, the same key runs', async (t) => {
    const runs: unknown[] = [];
    const pay = aTool('pay', (args) => runs.push(args), { input: { type: 'object', required: ['amount'] } });
    const gateway = await openGateway(t, [pay]);
    errorOf(await gateway.call({ ...payment, args: {} }), 'validation_failed');
    errorOf(await gateway.call({ ...payment, tool: 'pey' }), 'unknown_action');
    errorOf(await gateway.call({ ...payment, session: 'ses_unknown' }), 'session_error');
    assert.equal(successOf(await gateway.call(payment)).replayed, undefined);
    assert.equal(runs.length, 1);
  });

  test('[C6-keys-8] refused for being busy runs when there is room', async (t) => {
    const slow = createHeldTool('slow');
    const pay = createCountingTool('pay');
    const gateway = await openGateway(t, [slow.definition, pay.definition], { limits: { maxInFlight: 1 } });
    const running = gateway.call({ tool: 'slow' });
    const run = await slow.begun();
    assert.equal(errorOf(await gateway.call(payment), 'session_error').code, 'Busy');
    run.finish(1);
    await running;
    assert.equal(successOf(await gateway.call(payment)).replayed, undefined);
  });

  test('[C6-keys-9] is forgotten after its retention, and not before', async (t) => {
    const clock = createShiftedClock();
    const pay = createCountingTool('pay');
    const limits = { keyRetentionMs: 100_000 };
    const gateway = await openGateway(t, [pay.definition], { clock, limits });
    const first = successOf(await gateway.call(payment));
    clock.pass(45_000);
    assert.deepEqual(await gateway.call(payment), { ...first, replayed: true });
    clock.pass(55_001);
    const second = successOf(await gateway.call({ ...payment, args: { amount: 1 } }));
    assert.equal(second.replayed, undefined);
    assert.notEqual(second.call_id, first.call_id);
    assert.deepEqual(await gateway.call({ ...payment, args: { amount: 1 } }), { ...second, replayed: true });
    assert.equal(pay.runs(), 2);
  });

  test('[C6-keys-10] is what tells deliberate equal calls from a retry: without one they are separate', async (t) => {
    const pay = createCountingTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const keyless = { tool: payment.tool, args: payment.args };
    const [one, two] = await Promise.all([gateway.call(keyless), gateway.call(keyless)]);
    assert.notEqual(successOf(one).call_id, successOf(two).call_id);
    assert.equal(pay.runs(), 2);
  });
});
