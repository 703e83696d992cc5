/** What a session's history says, and what time does to it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { mount } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { coffee, counter } from '../support/workflows.ts';

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
});
