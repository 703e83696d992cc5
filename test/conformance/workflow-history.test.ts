/** What a session's history says, and what time does to it. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { assign, createMachine } from 'xstate';
import { mount } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import type { HistoryEntry } from '../../src/shell/look/history.ts';
import { checkHistory } from '../support/workflow-history.ts';
import { coffee, counter, createHeld } from '../support/workflows.ts';

describe('the history', () => {
  test('[C1-history-1] has every attempt in order, refusals included, with digests before and after', async (t) => {
    const bar = await openWorkflow(t, [coffee()], { agent: 'waiter' });
    const session = await bar.open();
    refusal(await bar.ask('pay', {}, { session }), 'invalid_transition');
    refusal(await bar.ask('pay', {}, { session }), 'invalid_transition');
    success(await bar.ask('take_order', { drink: 'latte' }, { session }));
    refusal(await bar.ask('add_modifier', { modifier: 'moon' }, { session }), 'validation_failed');
    success(await bar.ask('pay', {}, { session }));
    const entries = await bar.history(session);
    assert.deepEqual(
      entries.map(({ kind, action, outcome, seq }) => [kind, action, outcome, seq]),
      [
        ['session_opened', null, null, 0],
        ['attempt', 'pay', 'invalid_transition', 0],
        ['attempt', 'pay', 'invalid_transition', 0],
        ['attempt', 'take_order', 'succeeded', 1],
        ['attempt', 'add_modifier', 'validation_failed', 1],
        ['attempt', 'pay', 'succeeded', 2],
      ],
    );
    let digest = entries[0]?.state_after;
    for (const entry of entries.slice(1)) {
      assert.equal(entry.state_before, digest);
      assert.equal(entry.state_after !== digest, entry.outcome === 'succeeded');
      assert.equal(entry.agent, 'waiter');
      assert.ok((entry.elapsed_ms ?? -1) >= 0);
      digest = entry.state_after;
    }
    assert.equal((await bar.look(session)).state_digest, digest);
  });

  test('[C1-history-4] tells the inputs of each attempt, and why it was refused or failed', async (t) => {
    const jam = async () => Promise.reject(new RangeError('the till is jammed'));
    const bar = await openWorkflow(t, [coffee({ refusals: { stop_after: 2 } })]);
    const session = await bar.open();
    success(await bar.ask('take_order', { drink: 'latte' }, { session }));
    for (let n = 0; n < 3; n++) success(await bar.ask('add_modifier', { modifier: 'soy' }, { session }));
    refusal(await bar.ask('add_modifier', { modifier: 'soy' }, { session }), 'invalid_transition');
    refusal(await bar.ask('add_modifier', { modifier: 'x'.repeat(9_000) }, { session }), 'invalid_transition');
    const entries = await bar.history(session);
    const [, order, , , , full, long, stopped] = entries;
    assert.deepEqual([order?.inputs, order?.reason], [{ drink: 'latte' }, null]);
    assert.deepEqual([full?.inputs, full?.detail['guards']], [{ modifier: 'soy' }, ['roomForMore']]);
    assert.match(full?.reason ?? '', /^action 'add_modifier' is not reachable from current state\./);
    assert.ok(typeof long?.inputs === 'string' && long.inputs.length <= 2_000, 'long inputs are cut');
    assert.deepEqual([stopped?.kind, stopped?.reason], ['session_stopped', 'refusal_limit']);
    const till = mount(createMachine({ id: 'till', initial: 'a', states: { a: { on: { pay: 'a' } } } }), {
      actions: { pay: { run: jam } },
    });
    const shop = await openWorkflow(t, [till]);
    const failed = refusal(await shop.ask('pay', { cents: 4 }), 'action_error');
    const [, attempt] = await shop.history(failed.session ?? '');
    assert.deepEqual([attempt?.inputs, attempt?.reason], [{ cents: 4 }, 'the till is jammed']);
  });

  test('[C1-history-5] names the action of what came back late', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    held.runs[0]?.fail(new Error('nothing was done'));
    const orphan = await eventually('it came back', async () =>
      (await gateway.history(session)).find(({ kind }) => kind === 'orphaned'),
    );
    assert.deepEqual([orphan?.action, orphan?.detail['outcome']], ['slow', 'action_error']);
    assert.equal(orphan?.reason, 'nothing was done');
  });

  test('[C1-history-2] comes in pages', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    for (let n = 0; n < 7; n++) success(await gateway.ask('increment', {}, { session }));
    const seen: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page = await gateway.sessions.history(session, { after, limit: 3 });
      assert.ok(!('error' in page) && page.entries.length <= 3);
      seen.push(...page.entries.map(({ seq }) => seq));
      after = page.next;
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('[C1-history-3] tells how long a refused attempt took, its validators included', async (t) => {
    const clock = createShiftedClock();
    const thinks = () => {
      clock.forward(3_600_000);
      return 'not today';
    };
    const gateway = await openWorkflow(t, [counter({ inputValidators: { look: thinks } })], { clock });
    const session = await gateway.open();
    refusal(await gateway.ask('look', {}, { session }), 'validation_failed');
    refusal(await gateway.ask('nothing', {}, { session }), 'unknown_action');
    const [, slow = -1, quick = -1] = (await gateway.history(session)).map(({ elapsed_ms: took }) => took ?? -1);
    assert.ok(slow >= 3_600_000 && quick >= 0 && quick < 3_600_000, `${slow} and ${quick} ms`);
  });
});

describe('a session that another process goes on with', () => {
  /** What a second process finds after one step of the first, and the history once it has acted. */
  type Second = Awaited<ReturnType<typeof openWorkflow>>;
  const goOn = async (t: TestContext, version: string, act: (second: Second, session: string) => Promise<unknown>) => {
    const first = await openWorkflow(t, [counter()]);
    const session = await first.open();
    success(await first.ask('increment', {}, { session }));
    await first.close();
    const second = await openWorkflow(t, [counter({ version })], { file: first.file });
    await act(second, session);
    const entries = await second.history(session);
    checkHistory(entries, await second.look(session));
    return entries.slice(2);
  };
  const told = (entries: readonly HistoryEntry[]) =>
    entries.map(({ kind, outcome, seq }) => [outcome ?? kind, seq] as const);

  test('[C1-resume-3] is on record as resumed, where it stood, before the first step and once', async (t) => {
    const entries = await goOn(t, '1', async ({ ask }, session) => {
      for (let n = 0; n < 2; n++) success(await ask('increment', {}, { session }));
    });
    assert.deepEqual(told(entries), [
      ['session_resumed', 1],
      ['succeeded', 2],
      ['succeeded', 3],
    ]);
    assert.equal(entries[0]?.state_after, entries[1]?.state_before);
    assert.equal(entries[0]?.at, entries[1]?.at, 'in one commit');
  });

  test('[C1-resume-3] is resumed by a step that is refused, and by a reset, too', async (t) => {
    const refused = await goOn(t, '1', async ({ ask }, session) => {
      refusal(await ask('nothing', {}, { session }), 'unknown_action');
      success(await ask('increment', {}, { session }));
    });
    assert.deepEqual(told(refused), [
      ['session_resumed', 1],
      ['unknown_action', 1],
      ['succeeded', 2],
    ]);
    const reset = await goOn(t, '1', async ({ sessions }, session) => success(await sessions.reset(session)));
    assert.deepEqual(told(reset), [
      ['session_resumed', 1],
      ['session_reset', 2],
    ]);
  });

  test('[C1-resume-3] is not resumed by who only looks, nor by a step that its gate refuses, but by an acceptance', async (t) => {
    const entries = await goOn(t, '2', async ({ ask, look, sessions }, session) => {
      await look(session);
      refusal(await ask('increment', {}, { session }), 'session_error');
      success(await sessions.accept(session));
    });
    assert.deepEqual(told(entries), [
      ['session_error', 1],
      ['session_resumed', 1],
      ['session_migrated', 2],
    ]);
  });
});

describe('a timer', () => {
  const timed = () =>
    mount(
      createMachine({
        id: 'timed',
        initial: 'waiting',
        states: {
          waiting: { after: { 60_000: 'late' }, on: { go: 'gone' } },
          late: { on: { excuse: 'gone' } },
          gone: { type: 'final' },
        },
      }),
      { actions: { go: { run: async () => ({}) }, excuse: { run: async () => ({}) } } },
    );

  test('[C1-timer-1] fires when its time has come, before the next step is judged, as an entry of its own', async (t) => {
    const clock = createShiftedClock();
    const gateway = await openWorkflow(t, [timed()], { clock, limits: { sweepEveryMs: 86_400_000 } });
    const session = await gateway.open();
    assert.deepEqual(await gateway.next(session), ['go']);
    clock.forward(60_001);
    const reply = refusal(await gateway.ask('go', {}, { session }), 'invalid_transition');
    assert.deepEqual(reply.valid_next_actions, ['excuse']);
    const fired = (await gateway.history(session)).find(({ kind }) => kind === 'timer_fired');
    assert.deepEqual([fired?.seq, fired?.agent], [1, 'local']);
    assert.notEqual(fired?.state_before, fired?.state_after);
    success(await gateway.ask('excuse', {}, { session }));
  });

  test('[C1-timer-2] fires although nobody asks, and in another process than the one that set it', async (t) => {
    const clock = createShiftedClock();
    const first = await openWorkflow(t, [timed()], { clock, limits: { sweepEveryMs: 86_400_000 } });
    const session = await first.open();
    await first.close();
    clock.forward(60_001);
    const second = await openWorkflow(t, [timed()], { clock, file: first.file, limits: { sweepEveryMs: 20 } });
    await eventually('the timer fires', async () => (await second.look(session)).seq === 1);
    assert.deepEqual(await second.next(session), ['excuse']);
  });

  test('[C1-timer-3] of a state that was left does not fire', async (t) => {
    const clock = createShiftedClock();
    const gateway = await openWorkflow(t, [timed()], { clock });
    const session = await gateway.open();
    success(await gateway.ask('go', {}, { session }));
    clock.forward(3_600_000);
    assert.equal((await gateway.look(session)).status, 'done');
    assert.equal((await gateway.look(session)).seq, 1);
  });

  test('[C1-timer-4] that fell due while a body ran counts already in what that step says is next', async (t) => {
    const clock = createShiftedClock();
    const stays = { actions: assign({}) };
    const late = (end: () => unknown) => ({ atomic: true, run: async () => (clock.forward(60_001), end()) });
    const machine = createMachine({
      id: 'overtaken',
      initial: 'waiting',
      states: {
        waiting: { after: { 60_000: 'late' }, on: { fail: stays, stay: stays } },
        late: { on: { excuse: 'waiting' } },
      },
    });
    const actions = {
      fail: late(() => Promise.reject(new Error('no'))),
      stay: late(() => ({})),
      excuse: { input: { type: 'object', required: ['why'] }, run: async () => ({}) },
    };
    const limits = { sweepEveryMs: 86_400_000 };
    const gateway = await openWorkflow(t, [mount(machine, { actions })], { clock, limits });
    for (const action of ['fail', 'stay']) {
      const session = await gateway.open();
      const reply = await gateway.ask(action, {}, { session });
      assert.ok(!('pending' in reply));
      assert.deepEqual(reply.valid_next_actions, ['excuse'], action);
      if ('state' in reply) assert.equal((reply.state as { value: string }).value, 'late', 'state and next agree');
      if ('next_action_schemas' in reply) assert.deepEqual(Object.keys(reply.next_action_schemas ?? {}), ['excuse']);
      assert.equal(
        (await gateway.history(session)).some(({ kind }) => kind === 'timer_fired'),
        false,
        'none has fired',
      );
      success(await gateway.ask('excuse', { why: 'rain' }, { session }));
    }
  });

  test('[C1-timer-5] whose code fails stops its session, and says that no step did', async (t) => {
    const clock = createShiftedClock();
    const fail = () => {
      throw new Error('no');
    };
    const machine = createMachine({
      id: 'broken',
      initial: 'waiting',
      context: { n: 0 },
      states: {
        waiting: { after: { 60_000: { target: 'late', actions: assign({ n: fail }) } }, on: { go: 'late' } },
        late: {},
      },
    });
    const run = async () => (clock.forward(60_001), Promise.reject(new Error('no')));
    const workflow = mount(machine, { actions: { go: { atomic: true, run } } });
    const gateway = await openWorkflow(t, [workflow], { clock, limits: { sweepEveryMs: 86_400_000 } });
    const session = await gateway.open();
    assert.deepEqual(refusal(await gateway.ask('go', {}, { session }), 'action_error').valid_next_actions, []);
    const { message } = refusal(await gateway.ask('go', {}, { session }), 'session_error');
    assert.equal(
      message,
      "the session was stopped for repair: a timer's time came, and its state could not follow; reset or fork it.",
    );
  });
});
