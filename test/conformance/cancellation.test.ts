/** CONTRACT sections 3, 6, 8 and 9: a call, a turn or a session is cancelled, and the reply says what is known. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpStatusOf } from '../../src/index.ts';
import { awaitSweep } from '../support/await-sweep.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { killMidCall } from '../support/kill-mid-call.ts';
import { openGateway } from '../support/open-gateway.ts';
import { createCountingTool, createHeldTool, effectClassNames } from '../support/tools.ts';
import { createWorld, executionsIn } from '../support/world.ts';

describe('a call that is cancelled by its id', () => {
  for (const effect of effectClassNames)
    test(`[C3-cancelled-1] [S001-class-8] and is ${effect} ends at once with ToolCancelled and an honest effect`, async (t) => {
      const slow = createHeldTool('slow', { effect });
      const gateway = await openGateway(t, [slow.definition]);
      const asked = gateway.call({ tool: 'slow' });
      const run = await slow.begun();
      assert.equal(await gateway.cancel({ call: run.context.call_id }), 'cancelled');
      const reply = errorOf(await asked, 'cancelled');
      assert.deepEqual([reply.class, reply.code, httpStatusOf(reply)], ['Cancellation', 'ToolCancelled', 409]);
      assert.equal(reply.effect, effect === 'pure' ? 'none' : 'unknown');
      assert.equal(run.context.signal.aborted, true);
      assert.deepEqual(await gateway.reply(reply.call_id), reply);
      run.finish('late');
    });

  test('[C3-cancelled-2] is found only by its own agent, and only while it runs', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const asked = gateway.call({ tool: 'slow' });
    const run = await slow.begun();
    const call = run.context.call_id;
    assert.equal(await gateway.cancel({ call }, { agent: 'eve' }), 'not_found');
    assert.equal(await gateway.cancel({ call }, { tenant: 'acme' }), 'not_found');
    assert.equal(await gateway.cancel({ call: 'call_unknown' }), 'not_found');
    run.finish('done');
    successOf(await asked);
    assert.equal(await gateway.cancel({ call }), 'already_ended');
    assert.equal(successOf(await gateway.reply(call)).result, 'done');
  });

  test('[C3-cancelled-3] and whose body succeeds later is settled by that success', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const asked = gateway.call({ tool: 'slow' });
    const run = await slow.begun();
    await gateway.cancel({ call: run.context.call_id });
    errorOf(await asked, 'cancelled');
    run.finish('it was too late to stop');
    await eventually('the late success', async () => (await gateway.stored(run.context.call_id)).state === 'SUCCEEDED');
    assert.equal(successOf(await gateway.reply(run.context.call_id)).result, 'it was too late to stop');
  });
});

describe('a turn that is cancelled', () => {
  test('[C8-turn-1] stops its running calls with TurnCancelled, and no others', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const session = await gateway.openSession();
    const mine = gateway.call({ tool: 'slow', args: { n: 1 }, session, turn: 't1' });
    const other = gateway.call({ tool: 'slow', args: { n: 2 }, session, turn: 't2' });
    await slow.begun(2);
    assert.equal(await gateway.cancel({ session, turn: 't1' }), 'cancelled');
    const reply = errorOf(await mine, 'cancelled');
    assert.deepEqual([reply.code, reply.effect], ['TurnCancelled', 'unknown']);
    for (const run of slow.runs) run.finish('done');
    successOf(await other);
  });

  test('[C8-turn-2] refuses its later calls with effect none; a turn of that name elsewhere goes on', async (t) => {
    const act = createCountingTool('act');
    const gateway = await openGateway(t, [act.definition]);
    const session = await gateway.openSession();
    await gateway.cancel({ session, turn: 't1' });
    const reply = errorOf(await gateway.call({ tool: 'act', session, turn: 't1' }), 'cancelled');
    assert.deepEqual([reply.code, reply.effect, httpStatusOf(reply)], ['TurnCancelled', 'none', 409]);
    assert.deepEqual(reply.valid_next_actions, ['act']);
    assert.equal(act.runs(), 0);
    successOf(await gateway.call({ tool: 'act', session, turn: 't2' }));
    successOf(await gateway.call({ tool: 'act', session }));
    successOf(await gateway.call({ tool: 'act', session: await gateway.openSession(), turn: 't1' }));
  });
});

describe('a session that is cancelled', () => {
  for (const effect of effectClassNames)
    test(`[C3-cancelled-4] stops a running ${effect} call with SessionCancelled and an honest effect`, async (t) => {
      const slow = createHeldTool('slow', { effect });
      const gateway = await openGateway(t, [slow.definition]);
      const session = await gateway.openSession();
      const asked = gateway.call({ tool: 'slow', session });
      const run = await slow.begun();
      assert.equal(await gateway.cancel({ session }), 'cancelled');
      const reply = errorOf(await asked, 'cancelled');
      assert.deepEqual([reply.code, reply.effect], ['SessionCancelled', effect === 'pure' ? 'none' : 'unknown']);
      run.finish('late');
    });

  test('[C3-cancelled-5] refuses its later calls, also after a restart; other sessions go on', async (t) => {
    const act = createCountingTool('act');
    const gateway = await openGateway(t, [act.definition]);
    const session = await gateway.openSession();
    await gateway.cancel({ session });
    const reply = errorOf(await gateway.call({ tool: 'act', session }), 'cancelled');
    assert.deepEqual([reply.code, reply.effect, reply.session], ['SessionCancelled', 'none', session]);
    assert.equal(reply.resolution.type, 'replan');
    successOf(await gateway.call({ tool: 'act' }));
    await gateway.close();
    const next = await openGateway(t, [act.definition]);
    assert.equal(errorOf(await next.call({ tool: 'act', session }), 'cancelled').code, 'SessionCancelled');
    successOf(await next.call({ tool: 'act', session: await next.openSession() }));
    assert.equal(act.runs(), 2);
  });

  test('[C3-cancelled-5] lets no call through that was asked at the same moment', async (t) => {
    const slow = createHeldTool('slow', { effect: 'pure' });
    const gateway = await openGateway(t, [slow.definition]);
    const session = await gateway.openSession();
    const asked = Array.from({ length: 10 }, (_, n) => gateway.call({ tool: 'slow', args: { n }, session }));
    const cancelled = gateway.cancel({ session });
    const later = Array.from({ length: 10 }, (_, n) => gateway.call({ tool: 'slow', args: { n: n + 10 }, session }));
    assert.equal(await cancelled, 'cancelled');
    for (const reply of await Promise.all([...asked, ...later]))
      assert.equal(errorOf(reply, 'cancelled').code, 'SessionCancelled');
    for (const run of slow.runs) run.finish('late');
  });

  test('[C3-cancelled-6] is cancelled only by its own agent', async (t) => {
    const act = createCountingTool('act');
    const gateway = await openGateway(t, [act.definition]);
    const session = await gateway.openSession();
    assert.equal(await gateway.cancel({ session }, { agent: 'eve' }), 'not_found');
    assert.equal(await gateway.cancel({ session, turn: 't' }, { tenant: 'acme' }), 'not_found');
    assert.equal(await gateway.cancel({ session: 'ses_unknown' }), 'not_found');
    successOf(await gateway.call({ tool: 'act', session }));
  });
});

describe('a call that waits to be sent again after a restart', () => {
  for (const effect of ['pure', 'keyed'] as const)
    for (const scope of ['call', 'session'] as const)
      test(`[C9-cancel-1] and is ${effect} is cancelled at once with its ${scope}, and never sent`, async (t) => {
        const dead = await killMidCall(t, effect);
        const open = (sweepEveryMs: number) =>
          openGateway(
            t,
            createWorld(dead.log, () => 'sent again'),
            { limits: { sweepEveryMs } },
          );
        const gateway = await open(3_600_000);
        const callId = dead.execution.call_id;
        const session = (await gateway.stored(callId)).session ?? '';
        const target = scope === 'call' ? { call: callId } : { session };
        assert.equal(await gateway.cancel(target), 'cancelled');
        const reply = errorOf(await gateway.reply(callId), 'cancelled');
        assert.equal(reply.code, scope === 'call' ? 'ToolCancelled' : 'SessionCancelled');
        assert.equal(reply.effect, effect === 'pure' ? 'none' : 'unknown');
        assert.equal((await gateway.stored(callId)).state, effect === 'pure' ? 'CANCELLED' : 'IN_DOUBT');
        await gateway.close();
        const next = await open(5);
        await awaitSweep(next);
        assert.equal(executionsIn(dead.log).length, 1);
      });
});
