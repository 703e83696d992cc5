/** A step that waits for its turn waits no longer than its caller, and not past its deadline. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import { isPending } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createHeld } from '../support/workflows.ts';

const patient = { stepQueueMs: 3_600_000 };
/** Whoever does not mind the wait or the deadline would be in line for an hour. */
const soon = { timeout: 120_000 };

async function withStepRunning(t: TestContext, clock = nodeClock) {
  const held = createHeld({ timeout_seconds: 3_600 });
  const gateway = await openWorkflow(t, [held.workflow], { limits: patient, clock });
  const session = await gateway.open();
  const running = gateway.ask('slow', {}, { session });
  await eventually('run 1 of the body', async () => held.runs.length === 1);
  return { held, gateway, session, running };
}

describe('a step in line', () => {
  test(
    '[C1-queue-3] that finds the queue full is action_in_flight at once; who is in it gets its turn',
    soon,
    async (t) => {
      const held = createHeld({ timeout_seconds: 3_600 });
      const limits = { maxQueuedSteps: 1, stepQueueMs: 3_600_000 };
      const gateway = await openWorkflow(t, [held.workflow], { limits });
      const session = await gateway.open();
      const first = gateway.ask('slow', {}, { session });
      await eventually('run 1 of the body', async () => held.runs.length === 1);
      const asked = [1, 2].map(() => gateway.ask('other', {}, { session }));
      const full = refusal(await Promise.race(asked), 'action_in_flight');
      held.runs[0]?.finish('done');
      assert.equal(full.in_flight_call_id, success(await first).call_id);
      const errors = (await Promise.all(asked)).map((reply) => ('error' in reply ? reply.error : 'success'));
      assert.deepEqual(errors.toSorted(), ['action_in_flight', 'success']);
    },
  );

  test('[C1-queue-7] is action_in_flight when its caller has waited long enough, and never runs', soon, async (t) => {
    const { held, gateway, session, running } = await withStepRunning(t);
    const told = [];
    for (const wait_seconds of [0, 0.05]) {
      const reply = refusal(await gateway.ask('slow', {}, { session, wait_seconds, key: 'k' }), 'action_in_flight');
      assert.deepEqual([reply.effect, reply.resolution.type], ['none', 'retry_after']);
      told.push(reply.in_flight_call_id);
    }
    held.runs[0]?.finish('first');
    const { call_id: first } = success(await running);
    assert.deepEqual(told, [first, first]);
    success(await gateway.ask('other', {}, { session, wait_seconds: 20 }));
    assert.equal(held.runs.length, 1);
    // What never began has not used its key up.
    const again = gateway.ask('slow', {}, { session, key: 'k' });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('second');
    assert.equal(success(await again).replayed, undefined);
  });

  test('[C1-queue-7] also while another process has the turn', soon, async (t) => {
    const { held, gateway, session, running } = await withStepRunning(t);
    const beside = await openWorkflow(t, [held.workflow], { limits: patient, file: gateway.file });
    refusal(await beside.ask('other', {}, { session, wait_seconds: 0.05 }), 'action_in_flight');
    const late = await beside.handleStep({ workflow: 'held', action: 'other', session, deadline_seconds: 0.05 });
    refusal(late, 'action_timeout');
    held.runs[0]?.finish('x');
    success(await running);
  });

  test('[C1-queue-7] the wait in line is part of the wait: what is left of it is for the outcome', soon, async (t) => {
    let passedMs = 0;
    const clock = { ...nodeClock, monotonicMs: () => nodeClock.monotonicMs() + passedMs };
    const { held, gateway, session, running } = await withStepRunning(t, clock);
    const queued = gateway.ask('slow', {}, { session, wait_seconds: 600 });
    // Who came later and is answered shows that it is in line.
    refusal(await gateway.ask('other', {}, { session, wait_seconds: 0 }), 'action_in_flight');
    passedMs = 601_000;
    held.runs[0]?.finish('first');
    success(await running);
    const reply = await queued;
    assert.ok(isPending(reply), JSON.stringify(reply));
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('second');
    await eventually('it is done', async () => {
      const done = await gateway.reply(reply.call_id);
      return done !== null && !isPending(done);
    });
  });

  test('[C1-queue-8] past its deadline gets what a call gets that could not be sent in its time', soon, async (t) => {
    const { held, gateway, session, running } = await withStepRunning(t);
    const ask = async (deadline_seconds: number) =>
      refusal(
        await gateway.handleStep({ workflow: 'held', action: 'other', session, deadline_seconds }),
        'action_timeout',
      );
    const late = await ask(0.05);
    assert.deepEqual([late.effect, late.timeout_seconds], ['none', 0.05]);
    const queued = await ask(0);
    held.runs[0]?.finish('x');
    success(await running);
    const free = await ask(0);
    const next = { valid_next_actions: [], resolution: null, call_id: '' };
    assert.deepEqual({ ...queued, ...next }, { ...free, ...next });
    assert.equal((await gateway.look(session)).seq, 1);
    const outcomes = (await gateway.history(session)).map(({ outcome }) => outcome);
    assert.equal(outcomes.filter((outcome) => outcome === 'action_timeout').length, 3);
  });
});
