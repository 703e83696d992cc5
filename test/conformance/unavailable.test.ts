/** CONTRACT section 9: the store cannot be written. Nothing runs that is not on record, and nobody has to restart. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import { httpStatusOf, type Limits, type Tool } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewayOnSmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { breakDisk, mendDisk, whyNoFileLimit } from '../support/limit-file-size.ts';
import { type OpenOptions, openGateway } from '../support/open-gateway.ts';
import { aTool, createCountingTool, createHeldTool } from '../support/tools.ts';

const soon: Partial<Limits> = { storeRetryMs: [5, 10], sweepEveryMs: 20 };

/** Opens a gateway; whatever happens, the disk is well again before it is closed. */
async function open(t: TestContext, tools: readonly Tool[], options: OpenOptions = {}) {
  t.after(mendDisk);
  return openGateway(t, tools, { limits: soon, ...options });
}

describe('while the disk fails', { skip: whyNoFileLimit() }, () => {
  test('[C9-store-1] a refusal is session_error / StoreUnavailable with effect none and 503', async (t) => {
    const gateway = await open(t, [aTool('act', () => 1)]);
    successOf(await gateway.call({ tool: 'act' }));
    breakDisk();
    const reply = errorOf(await gateway.call({ tool: 'nothing' }), 'session_error');
    assert.deepEqual([reply.class, reply.code, reply.effect], ['Session', 'StoreUnavailable', 'none']);
    assert.equal(httpStatusOf(reply), 503);
    assert.equal(reply.resolution.type, 'retry_after');
  });

  test('[C9-store-1] the first call of an agent, which has no session yet, is refused in the same way', async (t) => {
    const act = createCountingTool('act');
    const gateway = await open(t, [act.definition]);
    breakDisk();
    const reply = errorOf(await gateway.call({ tool: 'act' }), 'session_error');
    assert.deepEqual([reply.code, reply.effect, act.runs()], ['StoreUnavailable', 'none', 0]);
  });

  test('[C9-store-2] nothing runs whose intent is not on record, and the reply promises nothing', async (t) => {
    const act = createCountingTool('act');
    const look = createCountingTool('look', { effect: 'pure' });
    const gateway = await open(t, [act.definition, look.definition]);
    successOf(await gateway.call({ tool: 'act' }));
    breakDisk();
    const [write, read] = await Promise.all([gateway.call({ tool: 'act' }), gateway.call({ tool: 'look' })]);
    // The disk may have kept the intent before it failed: only for a read is it proven that nothing happens.
    assert.deepEqual(
      [errorOf(write, 'action_error').code, errorOf(write, 'action_error').effect],
      ['StoreUnavailable', 'unknown'],
    );
    assert.deepEqual(
      [errorOf(read, 'action_error').code, errorOf(read, 'action_error').effect],
      ['StoreUnavailable', 'none'],
    );
    assert.deepEqual([act.runs(), look.runs()], [1, 0]);
    mendDisk();
    successOf(await gateway.call({ tool: 'look' }));
    assert.equal(await gateway.reply(write.call_id), null, 'the record tells: it never came to be');
    assert.equal(act.runs(), 1);
  });

  test('[C9-store-3] [S001-class-6] an operator is told once, status says it, and both hear when it is over', async (t) => {
    const gateway = await open(t, [aTool('act', () => 1)]);
    successOf(await gateway.call({ tool: 'act' }));
    assert.equal(gateway.status().store, 'available');
    breakDisk();
    for (let n = 0; n < 3; n++) await gateway.call({ tool: 'act', args: { n } });
    assert.equal(gateway.status().store, 'unavailable');
    const told = gateway.notices.filter(({ kind }) => kind === 'store_unavailable');
    assert.equal(told.length, 1);
    assert.ok(told[0]?.kind === 'store_unavailable' && told[0].message.includes(gateway.file));
    mendDisk();
    successOf(await gateway.call({ tool: 'act' }));
    assert.equal(gateway.status().store, 'available');
    assert.equal(gateway.notices.filter(({ kind }) => kind === 'store_recovered').length, 1);
  });

  test('[C9-store-8] status says so from the first try that fails, and that it is over without any call', async (t) => {
    const gateway = await open(t, [aTool('act', () => 1)], { limits: { storeRetryMs: [600_000], sweepEveryMs: 20 } });
    successOf(await gateway.call({ tool: 'act' }));
    breakDisk();
    const asked = gateway.call({ tool: 'act', args: { n: 1 } });
    await eventually('it is known', async () => gateway.status().store === 'unavailable');
    mendDisk();
    await eventually('it is over', async () => gateway.status().store === 'available');
    assert.deepEqual(gateway.notices, [], 'nobody had given up');
    // Whoever waits for the next try need not wait for its time.
    successOf(await asked);
  });

  test('[C9-store-4] [S001-class-6] a call is tried again on the schedule, and succeeds if the store is back in time', async (t) => {
    const waits: number[] = [];
    const firstWait = Promise.withResolvers<void>();
    const clock = {
      ...nodeClock,
      schedule(delayMs: number, callback: () => void) {
        if (delayMs === 211 || delayMs === 422) waits.push(delayMs);
        if (delayMs === 211) firstWait.resolve();
        return nodeClock.schedule(delayMs, callback);
      },
    };
    const act = createCountingTool('act');
    const gateway = await open(t, [act.definition], { clock, limits: { storeRetryMs: [211, 422, 633] } });
    successOf(await gateway.call({ tool: 'act' }));
    breakDisk();
    const asked = gateway.call({ tool: 'act' });
    await firstWait.promise;
    mendDisk();
    successOf(await asked);
    assert.deepEqual([waits, act.runs()], [[211], 2]);
    assert.deepEqual(gateway.notices, [], 'a short absence is nobody’s business');
  });

  test('[C9-store-5] an outcome that cannot be recorded is not promised, and recorded once it can be', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await open(t, [slow.definition]);
    const asked = gateway.call({ tool: 'slow' });
    const run = await slow.begun();
    breakDisk();
    run.finish('it happened');
    const reply = errorOf(await asked, 'action_error');
    assert.deepEqual([reply.class, reply.code, reply.effect], ['Session', 'StoreUnavailable', 'unknown']);
    mendDisk();
    await eventually('the outcome on record', async () => (await gateway.stored(reply.call_id)).state === 'SUCCEEDED');
    assert.equal(successOf(await gateway.reply(reply.call_id)).result, 'it happened');
    // Without a call: the operator hears of it from the sweeper.
    await eventually('the notice', async () => gateway.notices.some(({ kind }) => kind === 'store_recovered'));
    assert.equal(gateway.status().store, 'available');
    assert.equal(slow.runs.length, 1);
  });

  test('[C9-store-6] a session cannot be opened, nor cancelled, and both say so', async (t) => {
    const gateway = await open(t, [aTool('act', () => 1)]);
    const session = await gateway.openSession();
    breakDisk();
    assert.equal(await gateway.cancel({ session }), 'store_unavailable');
    await assert.rejects(gateway.openSession(), /session could not be opened/);
    mendDisk();
    successOf(await gateway.call({ tool: 'act', session }));
  });
});

describe('while the disk is full', { skip: whyNoSmallDisk() }, () => {
  test('[C9-store-7] nothing runs, the reply is session_error with effect none, and room is all it takes', async (t) => {
    const disk = await startGatewayOnSmallDisk(t);
    successOf(await disk.ask({ tool: 'plain_act', args: { n: 1 } }));
    await disk.fill();
    for (const tool of ['plain_act', 'pure_act', 'nothing']) {
      const reply = errorOf(await disk.ask({ tool, args: {} }), 'session_error');
      assert.deepEqual([reply.code, reply.effect, httpStatusOf(reply)], ['StoreUnavailable', 'none', 503]);
    }
    const told = await disk.notice('store_unavailable');
    assert.ok(told.kind === 'store_unavailable' && told.fault === 'disk_full', JSON.stringify(told));
    await disk.free();
    successOf(await disk.ask({ tool: 'plain_act', args: { n: 2 } }));
    await disk.notice('store_recovered');
    assert.equal(disk.executions().length, 2, 'only what was on record ran');
    await disk.end();
  });
});
