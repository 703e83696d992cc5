/** How many workflow sessions are kept, whoever opens them, and after the limit was lowered. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { counter, createHeld } from '../support/workflows.ts';

type Gateway = Awaited<ReturnType<typeof openWorkflow>>;

const openOnes = async (gateway: Gateway, sessions: readonly string[]) => {
  const views = await Promise.all(sessions.map((session) => gateway.look(session)));
  return views.filter(({ status }) => status === 'open').map(({ session }) => session);
};

const openMany = (gateway: Gateway, count: number) => Promise.all(Array.from({ length: count }, () => gateway.open()));

describe('sessions beyond the limit', () => {
  test('[C1-capacity-2] twenty that are opened at once leave as many as are kept', async (t) => {
    const gateway = await openWorkflow(t, [counter()], { limits: { maxSessions: 3, sweepEveryMs: 3_600_000 } });
    const sessions = await openMany(gateway, 20);
    assert.equal(new Set(sessions).size, 20);
    assert.equal((await openOnes(gateway, sessions)).length, 3);
    const next = await gateway.open();
    const left = await openOnes(gateway, [...sessions, next]);
    assert.equal(left.length, 3);
    assert.ok(left.includes(next));
    for (const session of sessions) {
      const closed = (await gateway.history(session)).filter(({ kind }) => kind === 'session_closed');
      assert.equal(closed.length, left.includes(session) ? 0 : 1, 'each is closed once');
    }
  });

  test('[C1-capacity-2] only what can be freed is given: the others are Busy, and no step runs in what was given up', async (t) => {
    const held = createHeld({ timeout_seconds: 3_600 });
    const gateway = await openWorkflow(t, [held.workflow], { limits: { maxSessions: 3 } });
    const running = Array.from({ length: 12 }, () => gateway.ask('slow', {}));
    const answered = Promise.all(running);
    await eventually('three run', async () => held.runs.length === 3);
    refusal((await gateway.sessions.open('held')) as never, 'session_error');
    for (const run of held.runs) run.finish('x');
    const replies = await answered;
    const codes = replies.map((reply) => ('code' in reply ? reply.code : 'success')).sort();
    assert.deepEqual(codes, [...Array.from({ length: 9 }, () => 'Busy'), 'success', 'success', 'success']);
    await gateway.open();
  });

  test('[C1-capacity-2] a limit that was lowered is kept with the next opening', async (t) => {
    const before = await openWorkflow(t, [counter()]);
    const sessions = await openMany(before, 8);
    const used = sessions[0] ?? '';
    success(await before.ask('increment', {}, { session: used }));
    await before.close();
    const limits = { maxSessions: 3, sweepEveryMs: 3_600_000 };
    const after = await openWorkflow(t, [counter()], { file: before.file, limits });
    const next = await after.open();
    const left = await openOnes(after, [...sessions, next]);
    assert.equal(left.length, 3);
    assert.ok(left.includes(used) && left.includes(next), 'the longest unused ones make way');
  });

  test('[C1-capacity-2] the sweeper restores a limit that was lowered, but for sessions in which a step runs', async (t) => {
    const held = createHeld({ timeout_seconds: 3_600 });
    const before = await openWorkflow(t, [held.workflow]);
    const sessions = await openMany(before, 6);
    const busy = sessions.slice(0, 2);
    const running = busy.map((session) => before.ask('slow', {}, { session }));
    await eventually('both run', async () => held.runs.length === 2);
    const limits = { maxSessions: 1, sweepEveryMs: 20 };
    const after = await openWorkflow(t, [held.workflow], { file: before.file, limits });
    await eventually('the idle ones are closed', async () => (await openOnes(after, sessions)).length === 2);
    assert.deepEqual(await openOnes(after, sessions), busy);
    refusal((await after.sessions.open('held')) as never, 'session_error');
    for (const run of held.runs) run.finish('x');
    for (const reply of await Promise.all(running)) success(reply);
    await eventually('one is left', async () => (await openOnes(after, sessions)).length === 1);
  });

  test('[C1-capacity-2] do not take what a fork comes from: another makes way, and where there is none it is Busy', async (t) => {
    const gateway = await openWorkflow(t, [counter()], { limits: { maxSessions: 2 } });
    const source = await gateway.open();
    const other = await gateway.open();
    const fork = success(await gateway.sessions.fork(source));
    assert.deepEqual(await openOnes(gateway, [source, other, fork.session ?? '']), [source, fork.session]);

    const alone = await openWorkflow(t, [counter()], { limits: { maxSessions: 1 } });
    const only = await alone.open();
    const full = refusal(await alone.sessions.fork(only), 'session_error');
    assert.equal(full.code, 'Busy');
    assert.match(full.message, /^all 1 sessions are in use: .*or it is the one to be forked\./);
    success(await alone.ask('increment', {}, { session: only }));
  });
});
