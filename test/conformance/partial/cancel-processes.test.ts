/**
 * CONTRACT sections 3 and 9: what another process of the same store runs is cancelled from here: a call by its id, a
 * turn, a session. What must be stopped is on record, so a process that dies meanwhile changes nothing about it.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { errorOf, pendingOf, successOf } from '../../support/check-reply.ts';
import { anAgent } from '../../support/a-policy.ts';
import { fileOf, openApprovals } from '../../support/open-approvals.ts';
import { aTransition, mustCommit } from '../store-fixtures.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { startChild } from '../../support/start-child.ts';
import { aTool, createHeldTool } from '../../support/tools.ts';
import { createWorld, executionsIn, toolOf } from '../../support/world.ts';

const hour = 3_600_000;
const codes = { call: 'ToolCancelled', turn: 'TurnCancelled', session: 'SessionCancelled' } as const;

/** Two gateways on one file: the owner of the store, and one that forwards its writes. */
async function openTwo(t: TestContext, effect: 'pure' | 'plain' | 'keyed' = 'plain') {
  const slow = createHeldTool('slow', { effect });
  const busy = aTool('busy', (_args, { fail }) => fail({ kind: '429', message: 'not now' }), {
    retry: { max_attempts: 3, backoff: 'fixed', base_ms: hour, jitter: 0 },
  });
  const owner = await openGateway(t, [slow.definition, busy]);
  const beside = await openGateway(t, [slow.definition, busy], { file: owner.file });
  assert.deepEqual([owner.role, beside.role], ['owner', 'forwarder']);
  return { slow, 'the owner': owner, 'a forwarder': beside };
}

describe('a call that another process runs', () => {
  for (const [runs, asked] of [
    ['the owner', 'a forwarder'],
    ['a forwarder', 'the owner'],
  ] as const)
    for (const scope of ['call', 'turn', 'session'] as const)
      test(`[C9-cancel-6] [C9-cancel-7] is run by ${runs} and cancelled in ${asked}, with its ${scope}`, async (t) => {
        const { slow, ...two } = await openTwo(t);
        const session = await two[runs].openSession();
        const outcome = two[runs].call({ tool: 'slow', session, turn: 't' });
        const { context, fail } = await slow.begun();
        const target = { call: { call: context.call_id }, turn: { session, turn: 't' }, session: { session } }[scope];
        assert.equal(await two[asked].cancel(target), 'cancelled');
        const reply = errorOf(await outcome, 'cancelled');
        assert.deepEqual([reply.class, reply.code, reply.effect], ['Cancellation', codes[scope], 'unknown']);
        assert.equal(context.signal.aborted, true);
        assert.equal((await two[asked].stored(context.call_id)).state, 'IN_DOUBT');
        fail(new Error('stopped'));
      });

  test('[C9-cancel-6] and is a read has no effect', async (t) => {
    const { slow, ...two } = await openTwo(t, 'pure');
    const outcome = two['a forwarder'].call({ tool: 'slow' });
    const { context, fail } = await slow.begun();
    assert.equal(await two['the owner'].cancel({ call: context.call_id }), 'cancelled');
    assert.equal(errorOf(await outcome, 'cancelled').effect, 'none');
    const kinds = (await two['the owner'].records(context.call_id)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'stop_asked').length, 1);
    fail(new Error('stopped'));
  });

  test('[C9-cancel-6] and that waits to be sent again is cancelled at once', async (t) => {
    const { slow: _, ...two } = await openTwo(t);
    const asked = { tool: 'busy', deadline_seconds: 7_200, wait_seconds: 0, key: 'k' };
    const { call_id: call } = pendingOf(await two['a forwarder'].call(asked));
    await eventually('the wait', async () => (await two['the owner'].stored(call)).state === 'RETRY_WAIT');
    assert.equal(await two['the owner'].cancel({ call }), 'cancelled');
    const reply = errorOf(await two['the owner'].reply(call), 'cancelled');
    assert.deepEqual([reply.code, reply.effect], ['ToolCancelled', 'none']);
    assert.equal((await two['the owner'].stored(call)).state, 'CANCELLED');
  });

  test('[C9-cancel-6] is found only by its own agent, and its success is not taken back', async (t) => {
    const { slow, ...two } = await openTwo(t);
    const outcome = two['a forwarder'].call({ tool: 'slow' });
    const { context, finish } = await slow.begun();
    const call = context.call_id;
    assert.equal(await two['the owner'].cancel({ call }, { agent: 'eve' }), 'not_found');
    assert.equal((await two['the owner'].stored(call)).stopAsked, undefined);
    finish('done');
    successOf(await outcome);
    assert.equal(await two['the owner'].cancel({ call }), 'already_ended');
  });
});

describe('a process that is killed before it stopped what it had to', () => {
  for (const effect of ['pure', 'keyed'] as const)
    test(`[C9-cancel-6] leaves a ${effect} call that nobody sends again`, async (t) => {
      const folder = path.dirname((await openGateway(t, [])).file);
      const [file, log] = [path.join(folder, 'two.db'), path.join(folder, 'two.log')];
      const owner = await openGateway(
        t,
        createWorld(log, () => 'sent again'),
        { file },
      );
      const request = { tool: toolOf(effect), args: {} };
      // It never looks what is cancelled.
      const limits = { sweepEveryMs: hour };
      const child = startChild(t, { file, log, calls: [{ request }], bodies: 'hang', limits });
      const { execution } = await child.next('began');
      const answer = owner.cancel({ call: execution.call_id });
      await eventually('the mark', async () => (await owner.stored(execution.call_id)).stopAsked === true);
      await child.kill();
      assert.equal(await answer, 'cancelled');
      const reply = errorOf(await owner.reply(execution.call_id), 'cancelled');
      assert.deepEqual([reply.code, reply.effect], ['ToolCancelled', effect === 'pure' ? 'none' : 'unknown']);
      const { state } = await owner.stored(execution.call_id);
      assert.equal(state, effect === 'pure' ? 'CANCELLED' : 'IN_DOUBT');
      assert.equal(executionsIn(log).length, 1);
    });

  for (const effect of ['pure', 'keyed'] as const)
    test(`[C9-cancel-6] leaves a ${effect} call to the next sweep, if whoever asked is gone as well`, async (t) => {
      const log = path.join(path.dirname(fileOf(t)), 'executions');
      const tools = createWorld(log, () => 'sent again');
      const { shell, file } = await openApprovals(t, tools, {
        agents: [anAgent('local', [['permit', toolOf(effect)]])],
      });
      const request = { tool: toolOf(effect), args: {} };
      const child = startChild(t, { file, log, calls: [{ request }], bodies: 'hang', limits: { sweepEveryMs: hour } });
      const { execution } = await child.next('began');
      const id = execution.call_id as CallId;
      // What is on record when the process that was asked dies right after.
      const { store } = shell.ports;
      await mustCommit(store, aTransition({ call: { kind: 'mark', id, requester: null, repeats: 0, stop: true } }));
      await child.kill();
      const isOver = async () => ['CANCELLED', 'IN_DOUBT'].includes((await store.call(id))?.state ?? '');
      await eventually('its end', isOver);
      const reply = await store.reply(id);
      assert.equal((JSON.parse(reply.kind === 'text' ? reply.text : '{}') as { code?: string }).code, 'ToolCancelled');
      assert.equal(executionsIn(log).length, 1);
    });
});
