/** CONTRACT sections 3 and 6: how long a call may take, and what becomes of a body that takes longer. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import { nodeIds } from '../../src/adapters/system-node/ids.ts';
import { isPending, tool, ToolDefinitionError } from '../../src/index.ts';
import { awaitSweep } from '../support/await-sweep.ts';
import { errorOf, pendingOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { type OpenedGateway, openGateway } from '../support/open-gateway.ts';
import { bodyOf, statesIn } from '../support/read-journal.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { aTool, createCountingTool, createHeldTool } from '../support/tools.ts';

const kindsOf = async (gateway: OpenedGateway, callId: string) =>
  (await gateway.records(callId)).map(({ kind }) => kind);

const orphanOf = (gateway: OpenedGateway, callId: string) =>
  eventually('the orphan on record', async () => (await kindsOf(gateway, callId)).includes('orphaned'));

const ofRecovery = /^(attempt_|failure_|compensation_|dispatch_|ticket_)/;

describe('a body that is out of time', () => {
  test('[C6-time-1] hears of it by its signal, and its caller gets the reply whether it obeys or not', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.05 });
    const gateway = await openGateway(t, [slow.definition]);
    const started = performance.now();
    const asked = gateway.call({ tool: 'slow' });
    const { context } = await slow.begun();
    assert.equal(context.signal.aborted, false);
    errorOf(await asked, 'action_timeout');
    assert.equal(context.signal.aborted, true);
    assert.ok(performance.now() - started >= 50, 'not before its time');
  });

  test('[C6-time-2] is measured by the monotonic clock: a jump of wall time ends nothing and takes nothing over', async (t) => {
    const clock = createShiftedClock();
    const slow = createHeldTool('slow', { timeout_seconds: 60 });
    const gateway = await openGateway(t, [slow.definition], { clock, limits: { sweepEveryMs: 5 } });
    const asked = gateway.call({ tool: 'slow' });
    const run = await slow.begun();
    clock.forward(48 * 3_600_000);
    await awaitSweep(gateway);
    run.finish('first');
    assert.equal(successOf(await asked).result, 'first');
    assert.deepEqual(statesIn(await gateway.records(run.context.call_id)), ['PREPARED', 'DISPATCHED', 'SUCCEEDED']);
  });

  test('[C6-orphan-1] and succeeds later settles the doubt: the record shows its success, and an orphan', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.03 });
    const gateway = await openGateway(t, [slow.definition]);
    const reply = errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    assert.equal((await gateway.stored(reply.call_id)).state, 'IN_DOUBT');
    (await slow.begun()).finish({ receipt: 4711 });
    await orphanOf(gateway, reply.call_id);
    const late = successOf(await gateway.reply(reply.call_id));
    assert.deepEqual(late.result, { receipt: 4711 });
    assert.equal(late.seq, 1);
    assert.deepEqual(
      (await kindsOf(gateway, reply.call_id)).filter((kind) => !ofRecovery.test(kind)),
      ['prepared', 'dispatched', 'doubted', 'settled', 'orphaned'],
    );
  });

  test('[C6-orphan-1] and proves later that nothing happened settles the doubt too', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.03 });
    const gateway = await openGateway(t, [slow.definition]);
    const reply = errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    const { context, fail } = await slow.begun();
    try {
      context.fail({ kind: '404_not_found', message: 'no such account' });
    } catch (error) {
      fail(error);
    }
    await orphanOf(gateway, reply.call_id);
    const late = errorOf(await gateway.reply(reply.call_id), 'action_error');
    assert.deepEqual([late.effect, late.code], ['none', 'NotFound']);
    assert.equal((await gateway.stored(reply.call_id)).state, 'FAILED');
  });

  test('[C6-orphan-2] and fails later without a proof leaves the doubt as it was', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.03 });
    const gateway = await openGateway(t, [slow.definition]);
    const reply = errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    (await slow.begun()).fail(new Error('line dropped'));
    await orphanOf(gateway, reply.call_id);
    assert.deepEqual(await gateway.reply(reply.call_id), reply);
    assert.equal((await gateway.stored(reply.call_id)).state, 'IN_DOUBT');
    const { attempt, state } = bodyOf(await gateway.records(reply.call_id), 'orphaned');
    assert.deepEqual({ attempt, state }, { attempt: 1, state: 'IN_DOUBT' });
  });

  test('[C6-orphan-2] and was a read stays failed: what comes later is kept, and changes nothing', async (t) => {
    const slow = createHeldTool('slow', { effect: 'pure', timeout_seconds: 0.03 });
    const gateway = await openGateway(t, [slow.definition]);
    const reply = errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    (await slow.begun()).finish('too late');
    await orphanOf(gateway, reply.call_id);
    assert.deepEqual(await gateway.reply(reply.call_id), reply);
    assert.equal((await gateway.stored(reply.call_id)).state, 'FAILED');
  });

  test('[C6-orphan-3] with a key answers with what is known at the time: the doubt first, the success later', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.03 });
    const gateway = await openGateway(t, [slow.definition]);
    const reply = errorOf(await gateway.call({ tool: 'slow', key: 'k' }), 'action_timeout');
    assert.deepEqual(await gateway.call({ tool: 'slow', key: 'k' }), { ...reply, replayed: true });
    (await slow.begun()).finish('done');
    await orphanOf(gateway, reply.call_id);
    assert.equal(successOf(await gateway.call({ tool: 'slow', key: 'k' })).result, 'done');
    assert.equal(slow.runs.length, 1);
  });

  test('[C3-busy-2] still takes its place until it comes back', async (t) => {
    const slow = createHeldTool('slow', { timeout_seconds: 0.03 });
    const gateway = await openGateway(t, [slow.definition], { limits: { maxInFlight: 1 } });
    const reply = errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    assert.equal(errorOf(await gateway.call({ tool: 'slow' }), 'session_error').code, 'Busy');
    (await slow.begun()).finish('late');
    await orphanOf(gateway, reply.call_id);
    errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    (await slow.begun(2)).finish('late');
  });
});

describe('a body that blocks', () => {
  test('[C6-time-3] for longer than its time gets action_timeout, although it came back before the timer', async (t) => {
    const block = tool({
      name: 'block',
      description: 'holds the thread',
      input: {},
      timeout_seconds: 0.02,
      blocking: false,
      run: () => {
        const until = performance.now() + 60;
        while (performance.now() < until);
        return 'too late';
      },
    });
    const gateway = await openGateway(t, [block]);
    const reply = errorOf(await gateway.call({ tool: 'block' }), 'action_timeout');
    assert.equal(reply.effect, 'unknown');
    await orphanOf(gateway, reply.call_id);
    assert.equal(successOf(await gateway.reply(reply.call_id)).result, 'too late');
  });

  test('[C6-time-4] is refused when the tool is defined, unless it says how it runs', () => {
    const define = (change: object) =>
      tool({ name: 'block', description: 'blocks', input: {}, run: () => 1, ...change } as never);
    assert.throws(
      () => define({}),
      (error) => {
        assert.ok(error instanceof ToolDefinitionError);
        assert.match(error.message, /^tool 'block': its run is not an async function.+isolate: true.+blocking: false/);
        return true;
      },
    );
    define({ blocking: false });
    define({ isolate: true });
  });

  test('[C6-time-5] in a worker of its own is really killed, and the next call has another worker', async (t) => {
    const loop = tool({
      name: 'loop',
      description: 'never ends unless told',
      input: {},
      isolate: true,
      timeout_seconds: 1,
      run: ({ forever }: { forever?: boolean }) => {
        while (forever);
        return 'ended';
      },
    });
    const gateway = await openGateway(t, [loop], { limits: { maxInFlight: 1 } });
    const isEnded = async () => /"result":"ended"/.test(JSON.stringify(await gateway.call({ tool: 'loop' })));
    const killed = await eventually('the end of a body that had begun', async () => {
      const reply = errorOf(await gateway.call({ tool: 'loop', args: { forever: true } }), 'action_timeout');
      await eventually('its place is free again, once the worker is gone', isEnded);
      // On a busy machine a worker may be killed before its body began, which proves that nothing happened.
      const { state } = await gateway.stored(reply.call_id);
      return state !== 'FAILED' && [state, reply.effect];
    });
    assert.deepEqual(killed, ['IN_DOUBT', 'unknown'], 'a kill proves nothing about the effect');
  });
});

describe('the send window', () => {
  /** Time that jumps between the intent and its acknowledgement, as for a process that was asleep. */
  async function openSleepy(t: TestContext, sleeps: number) {
    const act = createCountingTool('act');
    let left = 0;
    let asleepMs = 0;
    const random = (prefix: string) => {
      // The name of a transition is drawn right after the time was taken at which it is submitted.
      if (prefix === 'txn_' && left > 0) {
        left -= 1;
        asleepMs += 60_000;
      }
      return nodeIds.random(prefix);
    };
    const clock = { ...nodeClock, monotonicMs: () => nodeClock.monotonicMs() + asleepMs };
    const gateway = await openGateway(t, [act.definition], { clock, ids: { ...nodeIds, random } });
    const session = await gateway.openSession();
    left = sleeps;
    return { act, reply: await gateway.call({ tool: 'act', session }), gateway };
  }

  test('[C6-window-1] that was missed: this attempt is never sent, the next one is, once', async (t) => {
    const { act, reply, gateway } = await openSleepy(t, 1);
    successOf(reply);
    assert.deepEqual([act.runs(), act.contexts[0]?.attempt], [1, 2]);
    const states = statesIn(await gateway.records(reply.call_id));
    assert.deepEqual(states, ['PREPARED', 'DISPATCHED', 'RETRY_WAIT', 'DISPATCHED', 'SUCCEEDED']);
  });

  test('[C6-window-2] that is missed again and again: nothing is sent, and the reply says so', async (t) => {
    const { act, reply, gateway } = await openSleepy(t, 100);
    const error = errorOf(reply, 'action_error');
    assert.deepEqual([error.code, error.effect, error.error_type], ['ResourceBusy', 'none', 'NeverSent']);
    assert.equal((await gateway.stored(reply.call_id)).state, 'FAILED');
    assert.equal(act.runs(), 0);
  });
});

describe('a deadline', () => {
  test('[C6-deadline-1] that has passed before the call was sent: it expires unsent, with effect none', async (t) => {
    const act = createCountingTool('act');
    const gateway = await openGateway(t, [act.definition]);
    const reply = errorOf(await gateway.call({ tool: 'act', deadline_seconds: 0 }), 'action_timeout');
    assert.deepEqual([reply.effect, reply.resolution.type], ['none', 'choose_action']);
    assert.deepEqual(statesIn(await gateway.records(reply.call_id)), ['PREPARED', 'EXPIRED']);
    assert.deepEqual(await gateway.reply(reply.call_id), reply);
    assert.equal(act.runs(), 0);
  });

  test('[C6-deadline-2] that comes before the timeout of the tool ends the attempt', async (t) => {
    const slow = createHeldTool('slow', { effect: 'pure', timeout_seconds: 600 });
    const gateway = await openGateway(t, [slow.definition]);
    const reply = errorOf(await gateway.call({ tool: 'slow', deadline_seconds: 1 }), 'action_timeout');
    assert.ok(reply.timeout_seconds <= 1, `${reply.timeout_seconds}`);
    (await slow.begun()).finish('late');
  });

  test('[C6-deadline-3] is told to the body, with all else it may know', async (t) => {
    const act = createCountingTool('act');
    const gateway = await openGateway(t, [act.definition], { agent: 'ada', tenant: 'acme' });
    const before = Date.now();
    const reply = successOf(await gateway.call({ tool: 'act', deadline_seconds: 100 }));
    const context = act.contexts[0];
    assert.ok(context !== undefined);
    const { call_id: callId, attempt, idempotency_key: key, session, agent, tenant, deadline } = context;
    assert.deepEqual([callId, attempt, key], [reply.call_id, 1, reply.call_id]);
    assert.deepEqual([session, agent, tenant], [reply.session, 'ada', 'acme']);
    const deadlineAtMs = Date.parse(deadline);
    assert.ok(deadlineAtMs >= before + 100_000 && deadlineAtMs <= Date.now() + 100_000, deadline);
  });

  test('[C6-deadline-4] and a wait may be any fraction of a second', async (t) => {
    const act = createCountingTool('act', { timeout_seconds: 100.000_4 });
    const gateway = await openGateway(t, [act.definition]);
    const seconds = fc.double({ min: 60, max: 86_400, noNaN: true });
    await fc.assert(
      fc.asyncProperty(seconds, seconds, async (deadline, wait) => {
        successOf(await gateway.call({ tool: 'act', deadline_seconds: deadline, wait_seconds: wait }));
      }),
      { numRuns: 25 },
    );
    successOf(await gateway.call({ tool: 'act', deadline_seconds: 12.3456 }));
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, -1e-9, 1e300]) {
      const reply = errorOf(await gateway.call({ tool: 'act', deadline_seconds: wrong }), 'validation_failed');
      assert.equal(reply.errors[0]?.path, '/deadline_seconds');
    }
    const tiny = await gateway.call({ tool: 'act', deadline_seconds: Number.MIN_VALUE, wait_seconds: 60 });
    assert.ok('action' in tiny || ('error' in tiny && tiny.error === 'action_timeout'), JSON.stringify(tiny));
  });
});

describe('a wait', () => {
  test('[C2-pending-2] that is too short stops nothing: the call goes on and has its reply', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const first = pendingOf(await gateway.call({ tool: 'slow', wait_seconds: 0 }));
    const run = await slow.begun();
    assert.equal(run.context.signal.aborted, false);
    run.finish('done');
    const reply = await eventually('the reply', async () => {
      const found = await gateway.reply(first.call_id);
      return found !== null && !isPending(found) && found;
    });
    assert.equal(successOf(reply).result, 'done');
  });

  test('[C2-pending-2] that is long enough gets the reply itself', async (t) => {
    const quick = aTool('quick', () => 'done');
    const gateway = await openGateway(t, [quick]);
    assert.equal(successOf(await gateway.call({ tool: 'quick', wait_seconds: 30 })).replayed, undefined);
  });
});
