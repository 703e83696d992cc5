/**
 * CONTRACT section 6: a write without a key takes the place of an equal one, only if whoever asked for that is gone.
 */
import assert from 'node:assert/strict';
import { backup, DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import { isPending } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { killBeforeReply, killMidCall } from '../support/kill-mid-call.ts';
import { type OpenedGateway, openGateway } from '../support/open-gateway.ts';
import { openWorkflow, success } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import type { Dead } from '../support/start-child.ts';
import { createHeldTool } from '../support/tools.ts';
import { counter } from '../support/workflows.ts';
import { createWorld, executionsIn, toolOf } from '../support/world.ts';

type Held = ReturnType<typeof createHeldTool>;

/** Asks, and goes away while the body runs. */
async function askAndLeave(gateway: OpenedGateway, held: Held, asked: { tool: string; args?: object }) {
  const client = new AbortController();
  const count = held.runs.length + 1;
  const reply = gateway.call(asked, { signal: client.signal });
  const run = await held.begun(count);
  client.abort();
  return { run, reply: errorOf(await reply, 'cancelled') };
}

const reopen = (t: TestContext, { log }: Dead, options: Parameters<typeof openGateway>[2] = {}) =>
  openGateway(
    t,
    createWorld(log, () => 'done by the next process'),
    { limits: { sweepEveryMs: 20 }, ...options },
  );

describe('after the client cancelled', () => {
  test('[C6-attach-11] an equal write is fenced, as often as it is asked, and never hears the first one refused', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const { run, reply } = await askAndLeave(gateway, pay, { tool: 'pay', args: { amount: 5 } });
    for (let times = 0; times < 3; times++) {
      const fenced = errorOf(await gateway.call({ tool: 'pay', args: { amount: 5 } }), 'fenced');
      assert.deepEqual([fenced.blocking_call_id, fenced.effect, fenced.replayed], [reply.call_id, 'none', undefined]);
      assert.deepEqual(fenced.resolution, { type: 'reconcile', call_id: reply.call_id });
    }
    assert.equal(pay.runs.length, 1);
    const kinds = (await gateway.records(reply.call_id)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['prepared', 'dispatched', 'doubted', 'ticket_opened', 'requester_left']);
    run.finish('paid');
  });

  for (const [happened, expected] of [
    ['yes', 'its result'],
    ['no', 'anew'],
    ['unknown', 'anew'],
  ] as const)
    test(`[C6-attach-11] settled by a person with '${happened}', an equal write ${expected === 'anew' ? 'runs anew' : 'gets its result'}`, async (t) => {
      const pay = createHeldTool('pay');
      const gateway = await openGateway(t, [pay.definition]);
      const { run, reply } = await askAndLeave(gateway, pay, { tool: 'pay' });
      assert.equal(await gateway.settle(reply.call_id, { happened, by: 'ada', force: true }), 'settled');
      const again = gateway.call({ tool: 'pay' });
      if (expected === 'anew') (await pay.begun(2)).finish('paid anew');
      const { call_id: id, replayed } = successOf(await again);
      assert.deepEqual([id === reply.call_id, replayed], expected === 'anew' ? [false, undefined] : [true, true]);
      assert.equal(pay.runs.length, expected === 'anew' ? 2 : 1);
      run.finish('late');
    });

  test('[C6-attach-1] an equal write gets the success that the body came back with meanwhile', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const { run, reply } = await askAndLeave(gateway, pay, { tool: 'pay' });
    run.finish('paid');
    await eventually('the late success', async () => (await gateway.stored(reply.call_id)).state === 'SUCCEEDED');
    const again = successOf(await gateway.call({ tool: 'pay' }));
    assert.deepEqual([again.result, again.replayed, again.call_id], ['paid', true, reply.call_id]);
    assert.equal(pay.runs.length, 1);
    const kinds = (await gateway.records(reply.call_id)).map(({ kind }) => kind);
    assert.deepEqual(kinds.slice(-3), ['settled', 'orphaned', 'attached']);
  });

  test('[C6-attach-10] who gets an earlier result hears whose it is, and the same once more runs anew', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const { run, reply } = await askAndLeave(gateway, pay, { tool: 'pay' });
    run.finish('paid');
    await eventually('the late success', async () => (await gateway.stored(reply.call_id)).state === 'SUCCEEDED');
    const { notices } = successOf(await gateway.call({ tool: 'pay' }));
    assert.deepEqual(
      notices?.map(({ code, human_message: text }) => [code, text]),
      [['EARLIER_RESULT', `result of call ${reply.call_id}; the same call once more runs anew`]],
    );
    const anew = gateway.call({ tool: 'pay' });
    (await pay.begun(2)).finish('paid once more');
    const { result, replayed, notices: none } = successOf(await anew);
    assert.deepEqual([result, replayed, none], ['paid once more', undefined, undefined]);
  });

  test('[C6-attach-2] two who ask at once: one takes the place, the other is a call of its own', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const { run, reply } = await askAndLeave(gateway, pay, { tool: 'pay' });
    run.finish('paid');
    await eventually('the late success', async () => (await gateway.stored(reply.call_id)).state === 'SUCCEEDED');
    const askers = Array.from({ length: 2 }, () => gateway.call({ tool: 'pay' }));
    (await pay.begun(2)).finish('the second payment');
    const replies = await Promise.all(askers);
    assert.equal(replies.filter((each) => each.call_id === reply.call_id).length, 1, 'one took the place');
    assert.equal(replies.filter((each) => 'result' in each && each.result === 'the second payment').length, 1);
    assert.equal(pay.runs.length, 2);
  });

  test('[C6-attach-3] a read runs again', async (t) => {
    const look = createHeldTool('look', { effect: 'pure' });
    const gateway = await openGateway(t, [look.definition]);
    const { run } = await askAndLeave(gateway, look, { tool: 'look' });
    const again = gateway.call({ tool: 'look' });
    (await look.begun(2)).finish('seen');
    assert.equal(successOf(await again).replayed, undefined);
    run.finish('late');
  });

  test('[C6-attach-4] a write that provably did nothing runs again', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const { run, reply } = await askAndLeave(gateway, pay, { tool: 'pay' });
    try {
      run.context.fail({ kind: '400_invalid', message: 'stopped before anything was sent' });
    } catch (error) {
      run.fail(error);
    }
    await eventually('the proof', async () => (await gateway.stored(reply.call_id)).state === 'FAILED');
    const again = gateway.call({ tool: 'pay' });
    (await pay.begun(2)).finish('paid');
    assert.equal(successOf(await again).replayed, undefined);
  });

  test('[C6-attach-4] a write that was stopped before it was sent runs again', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const reply = errorOf(await gateway.call({ tool: 'pay' }, { signal: AbortSignal.abort() }), 'cancelled');
    assert.equal(reply.effect, 'none');
    assert.equal(pay.runs.length, 0, 'nothing is sent for a client who is gone');
    const again = gateway.call({ tool: 'pay' });
    (await pay.begun()).finish('paid');
    assert.equal(successOf(await again).replayed, undefined);
  });

  test('[C6-attach-5] a write without a key is a call of its own beside one with a key', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const { run } = await askAndLeave(gateway, pay, { tool: 'pay', key: 'k' } as never);
    const other = gateway.call({ tool: 'pay' });
    (await pay.begun(2)).finish('paid');
    assert.equal(successOf(await other).replayed, undefined);
    run.finish('late');
  });

  for (const [what, change, who] of [
    ['other arguments', { args: { amount: 6 } }, {}],
    ['another session', { session: true }, {}],
    ['another agent', {}, { agent: 'bob' }],
    ['another tenant', {}, { tenant: 'acme' }],
    ['a key of its own', { key: 'k' }, {}],
  ] as const)
    test(`[C6-attach-5] a write with ${what} is a call of its own`, async (t) => {
      const pay = createHeldTool('pay');
      const gateway = await openGateway(t, [pay.definition]);
      const { run } = await askAndLeave(gateway, pay, { tool: 'pay', args: { amount: 5 } });
      const session = 'session' in change ? { session: await gateway.openSession() } : {};
      const other = gateway.call({ tool: 'pay', args: { amount: 5 }, ...change, ...session } as never, who);
      (await pay.begun(2)).finish('paid');
      assert.equal(successOf(await other).replayed, undefined);
      run.finish('late');
    });

  test('[C6-attach-6] beyond the attach window an equal write is a call of its own', async (t) => {
    const clock = createShiftedClock();
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition], { clock, limits: { attachWindowMs: 50_000 } });
    const { run } = await askAndLeave(gateway, pay, { tool: 'pay' });
    clock.pass(50_001);
    const later = gateway.call({ tool: 'pay' });
    (await pay.begun(2)).finish('paid');
    assert.equal(successOf(await later).replayed, undefined);
    run.finish('late');
  });
});

describe('while the first requester is there', () => {
  test('[C6-attach-7] equal writes are separate calls, whether the first runs or has ended', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = gateway.call({ tool: 'pay' });
    await pay.begun();
    const second = gateway.call({ tool: 'pay' });
    for (const [at, run] of [await pay.begun(1), await pay.begun(2)].entries()) run.finish(at);
    assert.notEqual(successOf(await first).call_id, successOf(await second).call_id);
    const third = gateway.call({ tool: 'pay' });
    (await pay.begun(3)).finish(3);
    assert.equal(successOf(await third).replayed, undefined);
  });

  test('[C6-attach-7] a caller who only stopped waiting has not left: an equal write is separate', async (t) => {
    const pay = createHeldTool('pay');
    const gateway = await openGateway(t, [pay.definition]);
    const first = await gateway.call({ tool: 'pay', wait_seconds: 0.01 });
    assert.ok(isPending(first));
    const second = gateway.call({ tool: 'pay' });
    (await pay.begun(2)).finish(2);
    assert.notEqual(successOf(await second).call_id, first.call_id);
    (await pay.begun(1)).finish(1);
    await eventually('the first', async () => (await gateway.stored(first.call_id)).state === 'SUCCEEDED');
  });
});

describe('after a restart', () => {
  test('[C6-attach-8] an equal write is fenced by the doubt of the first, and runs nothing', async (t) => {
    const dead = await killMidCall(t, 'plain');
    const gateway = await reopen(t, dead);
    const reply = errorOf(await gateway.call({ tool: toolOf('plain'), args: { n: 1 } }), 'fenced');
    assert.deepEqual([reply.effect, reply.blocking_call_id], ['none', dead.execution.call_id]);
    assert.equal(executionsIn(dead.log).length, 1);
  });

  test('[C6-attach-8] an equal write waits for the one that is being sent again, and gets its result', async (t) => {
    const dead = await killMidCall(t, 'keyed');
    const gateway = await reopen(t, dead);
    const reply = successOf(await gateway.call({ tool: toolOf('keyed'), args: { n: 1 } }));
    assert.deepEqual([reply.replayed, reply.call_id], [true, dead.execution.call_id]);
    assert.deepEqual(
      executionsIn(dead.log).map(({ attempt }) => attempt),
      [1, 2],
    );
  });

  test('[C6-attach-8] an equal write gets the success whose reply was on record and reached nobody', async (t) => {
    const dead = await killBeforeReply(t, 'plain');
    const gateway = await reopen(t, dead);
    const reply = successOf(await gateway.call({ tool: toolOf('plain'), args: { n: 1 } }));
    assert.deepEqual([reply.result, reply.replayed], ['done by the child', true]);
    assert.equal(reply.call_id, dead.execution.call_id);
    assert.equal(executionsIn(dead.log).length, 1);
  });

  test('[C6-attach-3] a read whose reply reached nobody runs again', async (t) => {
    const dead = await killBeforeReply(t, 'pure');
    const gateway = await reopen(t, dead);
    const reply = successOf(await gateway.call({ tool: toolOf('pure'), args: { n: 1 } }));
    assert.deepEqual([reply.result, reply.replayed], ['done by the next process', undefined]);
  });

  test('[C6-attach-9] within the attach window it still holds, beyond it an equal write is a call of its own', async (t) => {
    const dead = await killMidCall(t, 'plain', {}, 'probeable');
    const clock = createShiftedClock();
    const gateway = await reopen(t, dead, { clock, limits: { attachWindowMs: 60_000 } });
    clock.pass(40_000);
    const within = await gateway.call({ tool: toolOf('plain'), args: { n: 1 } });
    assert.equal(errorOf(within, 'fenced').blocking_call_id, dead.execution.call_id);
    clock.pass(21_000);
    const beyond = successOf(await gateway.call({ tool: toolOf('probeable'), args: { n: 1 } }));
    assert.equal(beyond.replayed, undefined);
    assert.equal(executionsIn(dead.log).length, 3);
  });
});

describe('a step of a workflow', () => {
  for (const between of ['nothing', 'a step', 'a reset'] as const)
    test(`[C6-attach-12] that equals one whose requester left is ${between === 'nothing' ? 'answered by it' : 'another'} with ${between} between`, async (t) => {
      const first = await openWorkflow(t, [counter()]);
      const session = await first.open();
      success(await first.ask('increment', {}, { session }));
      // What a crash would leave at this moment: nobody knows whether the reply was delivered.
      const file = `${first.file}.left`;
      const source = new DatabaseSync(first.file, { readOnly: true });
      await backup(source, file);
      source.close();
      const undelivered = new DatabaseSync(file);
      undelivered.exec('UPDATE epochs SET answered = 0');
      undelivered.close();
      const gateway = await openWorkflow(t, [counter()], { file });
      if (between === 'a step') success(await gateway.ask('increment', {}, { session, key: 'second' }));
      if (between === 'a reset') success(await gateway.sessions.reset(session));
      const again = success(await gateway.ask('increment', {}, { session }));
      const { seq, state } = await gateway.look(session);
      assert.deepEqual(
        [again.replayed, again.seq, again.state],
        [between === 'nothing' ? true : undefined, seq, state],
      );
      assert.equal(seq, { nothing: 1, 'a step': 3, 'a reset': 3 }[between]);
    });
});
