/** CONTRACT section 6: a process dies in the middle of a call, and the next one settles it by its effect class. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { isPending, isSuccess } from '../../src/index.ts';
import { errorOf, pendingOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { folderOf, type OpenedGateway, openGateway } from '../support/open-gateway.ts';
import { bodyOf, statesIn } from '../support/read-journal.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { killMidCall } from '../support/kill-mid-call.ts';
import { type Dead, startChild } from '../support/start-child.ts';
import { createWorld, executionsIn, toolOf } from '../support/world.ts';

const reopen = (
  t: TestContext,
  { log }: Dead,
  options: Parameters<typeof openGateway>[2] = {},
): Promise<OpenedGateway> =>
  openGateway(
    t,
    createWorld(log, () => 'done by the next process'),
    { limits: { sweepEveryMs: 20 }, ...options },
  );

const settled = (gateway: OpenedGateway, callId: string) =>
  eventually('the reply after the restart', async () => {
    const reply = await gateway.reply(callId);
    return reply !== null && !isPending(reply) && reply;
  });

describe('a call found dispatched at start', () => {
  for (const effect of ['plain', 'probeable'] as const)
    test(`[C6-restart-1] that is ${effect} is in doubt, is never sent again, and its reply says so`, async (t) => {
      const dead = await killMidCall(t, effect, {}, 'pure');
      const gateway = await reopen(t, dead);
      const reply = errorOf(await gateway.reply(dead.execution.call_id), 'action_error');
      assert.equal(reply.effect, 'unknown');
      assert.equal(reply.error_type, 'GatewayStopped');
      assert.deepEqual(reply.resolution, { type: 'reconcile', call_id: dead.execution.call_id });
      assert.equal((await gateway.stored(dead.execution.call_id)).state, 'IN_DOUBT');
      assert.deepEqual(statesIn(await gateway.records(dead.execution.call_id)), ['PREPARED', 'DISPATCHED', 'IN_DOUBT']);
      assert.ok(gateway.notices.some((notice) => notice.kind === 'recovered' && notice.inDoubt === 1));
      // The sweeper has been there, and sent only the read again.
      successOf(await settled(gateway, dead.witness.call_id));
      assert.equal(executionsIn(dead.log).filter(({ tool }) => tool === toolOf(effect)).length, 1);
    });

  test('[C6-restart-2] that is pure is sent again and succeeds', async (t) => {
    const dead = await killMidCall(t, 'pure');
    const gateway = await reopen(t, dead);
    const reply = successOf(await settled(gateway, dead.execution.call_id));
    assert.equal(reply.result, 'done by the next process');
    assert.deepEqual(
      executionsIn(dead.log).map(({ attempt }) => attempt),
      [1, 2],
    );
    const states = statesIn(await gateway.records(dead.execution.call_id));
    assert.deepEqual(states, ['PREPARED', 'DISPATCHED', 'RETRY_WAIT', 'DISPATCHED', 'SUCCEEDED']);
  });

  test('[C6-restart-3] that is keyed is sent again inside its window, with the same idempotency key', async (t) => {
    const dead = await killMidCall(t, 'keyed');
    const gateway = await reopen(t, dead);
    successOf(await settled(gateway, dead.execution.call_id));
    const executions = executionsIn(dead.log);
    assert.deepEqual(
      executions.map(({ attempt }) => attempt),
      [1, 2],
    );
    assert.equal(new Set(executions.map((each) => each.idempotency_key)).size, 1);
    assert.equal(new Set(executions.map((each) => each.call_id)).size, 1);
  });

  test('[C6-restart-3] that is keyed is in doubt beyond its window, and not sent again', async (t) => {
    const dead = await killMidCall(t, 'keyed', { deadline_seconds: 80_000 });
    const clock = createShiftedClock();
    // An hour is the window; a sixth of it stays unused.
    clock.forward(3_001_000);
    const gateway = await reopen(t, dead, { clock });
    assert.equal(errorOf(await gateway.reply(dead.execution.call_id), 'action_error').effect, 'unknown');
    assert.equal((await gateway.stored(dead.execution.call_id)).state, 'IN_DOUBT');
    assert.equal(executionsIn(dead.log).length, 1);
  });

  for (const effect of ['pure', 'keyed'] as const) {
    const ends = effect === 'pure' ? (['FAILED', 'none'] as const) : (['IN_DOUBT', 'unknown'] as const);
    test(`[C6-restart-4] that is ${effect} and past its deadline is not sent again: it ends ${ends[0]}`, async (t) => {
      const dead = await killMidCall(t, effect, { deadline_seconds: 20 });
      const clock = createShiftedClock();
      clock.forward(21_000);
      const gateway = await reopen(t, dead, { clock });
      const reply = errorOf(await gateway.reply(dead.execution.call_id), 'action_error');
      assert.deepEqual([(await gateway.stored(dead.execution.call_id)).state, reply.effect], ends);
      assert.equal(executionsIn(dead.log).length, 1);
    });
  }

  test('[C6-restart-5] is not left dispatched, however many there are', async (t) => {
    const file = path.join(folderOf(t), 'recourse.db');
    const log = path.join(folderOf(t), 'world.log');
    const effects = ['plain', 'keyed', 'pure', 'probeable'] as const;
    const calls = Array.from({ length: 40 }, (_, n) => ({
      request: { tool: toolOf(effects[n % 4] ?? 'plain'), args: { n } },
    }));
    const child = startChild(t, { file, log, calls, bodies: 'hang' });
    await child.next('began', 40);
    await child.kill();
    const gateway = await openGateway(
      t,
      createWorld(log, () => 'done'),
      { limits: { sweepEveryMs: 20, sweepBatch: 7 } },
    );
    const notice = gateway.notices.find(({ kind }) => kind === 'recovered');
    assert.deepEqual(notice, { kind: 'recovered', calls: 40, inDoubt: 20 });
    const first = executionsIn(log).slice(0, 40);
    const ends = await Promise.all(first.map(({ call_id: callId }) => settled(gateway, callId)));
    assert.equal(ends.filter((reply) => isSuccess(reply)).length, 20);
    const plain = executionsIn(log).filter(({ tool }) => tool === toolOf('plain') || tool === toolOf('probeable'));
    assert.equal(plain.length, 20, 'no plain or probeable call ran twice');
  });
});

describe('a key after a restart', () => {
  for (const effect of ['plain', 'keyed'] as const)
    test(`[C6-restart-6] of a ${effect} call that was under way answers for it and starts nothing new`, async (t) => {
      const dead = await killMidCall(t, effect, { key: 'k' });
      const gateway = await reopen(t, dead);
      const asked = { tool: toolOf(effect), args: { n: 1 }, key: 'k', wait_seconds: 10 };
      const reply = await gateway.call(asked);
      assert.ok(!isPending(reply) && reply.replayed === true);
      assert.equal(reply.call_id, dead.execution.call_id);
      assert.equal(executionsIn(dead.log).length, effect === 'plain' ? 1 : 2);
    });

  test('[C6-restart-6] of a call that waits to be sent again is in flight for those who do not wait', async (t) => {
    const dead = await killMidCall(t, 'keyed', { key: 'k' });
    const gateway = await reopen(t, dead, { limits: { sweepEveryMs: 3_600_000 } });
    const asked = { tool: toolOf('keyed'), args: { n: 1 }, key: 'k' };
    assert.equal(errorOf(await gateway.call(asked), 'action_in_flight').in_flight_call_id, dead.execution.call_id);
    pendingOf(await gateway.call({ ...asked, wait_seconds: 0.01 }));
    pendingOf(await gateway.reply(dead.execution.call_id));
  });
});

describe('the record of a restart', () => {
  test('[C6-restart-7] tells what the reply is based on: the attempt, the event, the effect', async (t) => {
    const dead = await killMidCall(t, 'plain');
    const gateway = await reopen(t, dead);
    const doubted = bodyOf(await gateway.records(dead.execution.call_id), 'doubted');
    assert.deepEqual(doubted, { attempt: 1, effect: 'unknown', event: 'abandoned', state: 'IN_DOUBT' });
  });

  test('[C6-restart-8] a call that the first process answered has the very same reply in the next one', async (t) => {
    const file = path.join(folderOf(t), 'recourse.db');
    const log = path.join(folderOf(t), 'world.log');
    const calls = [{ request: { tool: toolOf('plain'), args: {} } }, { request: { tool: 'nothing' } }, { request: 7 }];
    const child = startChild(t, { file, log, calls, bodies: 'return' });
    const replies = [await child.next('replied', 1), await child.next('replied', 2), await child.next('replied', 3)];
    await child.kill();
    const gateway = await openGateway(
      t,
      createWorld(log, () => 'again'),
    );
    for (const { reply } of replies) assert.deepEqual(await gateway.reply(reply.call_id), reply);
    assert.equal(executionsIn(log).length, 1);
  });
});
