/**
 * A session is changed from outside its steps, or only looked at: accepted, reset, by several at once, while a step
 * runs.
 */
import assert from 'node:assert/strict';
import { backup, DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { type MountedWorkflow, mount } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { breakDisk, mendDisk, whyNoFileLimit } from '../support/limit-file-size.ts';
import { openWorkflow, refusal, success, type WorkflowOptions } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { counter, createHeld } from '../support/workflows.ts';

const minute = 60_000;
const migrations = { '1': ({ value }: { value: unknown }) => ({ value, context: { count: 40 } }) };

/** A session of the first that a gateway with the second goes on with. */
async function changed(
  t: TestContext,
  [before, after]: readonly [MountedWorkflow, MountedWorkflow],
  walk: (gateway: Awaited<ReturnType<typeof openWorkflow>>, session: string) => Promise<unknown> = async () => null,
  options: WorkflowOptions = {},
) {
  const first = await openWorkflow(t, [before], options);
  const session = await first.open();
  await walk(first, session);
  await first.close();
  const gateway = await openWorkflow(t, [after], { ...options, file: first.file });
  return { gateway, session };
}

const kindsOf = async (gateway: Awaited<ReturnType<typeof openWorkflow>>, session: string) =>
  (await gateway.history(session)).map(({ kind }) => kind);

describe('whoever looks at a session', () => {
  test('[C1-look-1] carries nothing over, and is told the state and the next actions that a step would find', async (t) => {
    const { gateway, session } = await changed(t, [counter(), counter({ version: '2', migrations })]);
    for (let looks = 0; looks < 2; looks++) {
      const { seq, state, valid_next_actions: next } = await gateway.look(session);
      assert.deepEqual([seq, state], [0, { value: 'counting', context: { count: 40 } }]);
      assert.deepEqual(next, ['increment', 'look']);
      assert.deepEqual(await kindsOf(gateway, session), ['session_opened']);
    }
    const stepped = success(await gateway.ask('increment', {}, { session }));
    assert.deepEqual(stepped.state, { value: 'counting', context: { count: 41 } });
    assert.equal((await gateway.look(session)).state_digest, (await gateway.history(session)).at(-1)?.state_after);
  });

  test('[C1-look-1] is told the state that a migration leads to with its next actions, and none without one', async (t) => {
    const edges = { a: { on: { go: 'b' } }, b: { on: { back: 'a' } } };
    const body = { run: async () => ({}) };
    const version = (number: string, more: object = {}) =>
      mount(createMachine({ id: 'path', initial: 'a', states: edges } as never), {
        version: number,
        actions: { go: body, back: body },
        ...more,
      } as never);
    const toB = { migrations: { '1': () => ({ value: 'b', context: {} }) } };
    for (const [after, next] of [
      [version('2', toB), ['b', ['back']]],
      [version('2'), ['a', []]],
    ] as const) {
      const { gateway, session } = await changed(t, [version('1'), after]);
      const view = await gateway.look(session);
      assert.deepEqual([(view.state as { value: string }).value, view.valid_next_actions], next);
      assert.equal(view.seq, 0);
    }
  });

  test('[C1-look-1] by the reply of a doubt that was settled since is told the same as by a look', async (t) => {
    const edges = { a: { on: { lose: 'b' } }, b: { on: { lose: 'a', back: 'a' } } };
    const body = { effect: 'plain', run: async () => Promise.reject(new Error('lost')) };
    const version = (number: string, more: object = {}) =>
      mount(createMachine({ id: 'path', initial: 'a', states: edges } as never), {
        version: number,
        actions: { lose: body, back: body },
        ...more,
      } as never);
    const toB = { migrations: { '1': () => ({ value: 'b', context: {} }) } };
    for (const [after, next] of [
      [version('1'), ['lose']],
      [version('2'), []],
      [version('2', toB), ['lose', 'back']],
    ] as const) {
      let lost = '';
      const { gateway, session } = await changed(t, [version('1'), after], async (first, inSession) => {
        lost = refusal(await first.ask('lose', {}, { session: inSession }), 'action_error').call_id;
      });
      assert.equal(await gateway.settle(lost, { happened: 'no', by: 'ada', force: true }), 'settled');
      const told = await gateway.reply(lost);
      assert.ok(told !== null && 'valid_next_actions' in told, JSON.stringify(told));
      assert.deepEqual([await gateway.next(session), told.valid_next_actions], [next, next]);
    }
  });

  test('[C1-timer-6] fires the timers that are due first, and hears of one and the same state', async (t) => {
    const clock = createShiftedClock();
    const waiting = { after: { [minute]: 'late' }, on: { go: 'late', hurry: 'late' } };
    const states = { waiting, late: { on: { go: 'waiting' } } };
    const body = { run: async () => ({}) };
    const patience = mount(createMachine({ id: 'patience', initial: 'waiting', states } as never), {
      actions: { go: body, hurry: body },
    } as never);
    const gateway = await openWorkflow(t, [patience], { clock, limits: { sweepEveryMs: 86_400_000 } });
    const session = await gateway.open();
    assert.deepEqual(await gateway.next(session), ['go', 'hurry']);
    clock.forward(2 * minute);
    const { seq, state, state_digest, valid_next_actions: next } = await gateway.look(session);
    assert.deepEqual([seq, (state as { value: string }).value, next], [1, 'late', ['go']]);
    assert.equal((await gateway.history(session)).at(-1)?.state_after, state_digest);
    assert.deepEqual(await kindsOf(gateway, session), ['session_opened', 'timer_fired']);
    assert.equal(success(await gateway.ask('go', {}, { session })).seq, 2);
  });

  test('[C1-look-2] while steps are taken is never told the state of one moment and the next actions of another', async (t) => {
    const states = { a: { on: { go: 'b' } }, b: { on: { back: 'a' } } };
    const body = { run: async () => ({}) };
    const swing = mount(createMachine({ id: 'swing', initial: 'a', states } as never), {
      actions: { go: body, back: body },
    } as never);
    const gateway = await openWorkflow(t, [swing]);
    const session = await gateway.open();
    const lists: Readonly<Record<string, readonly string[]>> = { a: ['go'], b: ['back'] };
    let over = false;
    const look = async () => {
      while (!over) {
        await new Promise(setImmediate);
        const { state, seq, valid_next_actions: next } = await gateway.look(session);
        const { value } = state as { value: string };
        assert.equal(value, seq % 2 === 0 ? 'a' : 'b');
        // While the step runs that is legal here, it is not next.
        if (next.length > 0) assert.deepEqual(next, lists[value]);
      }
    };
    const lookers = Promise.all([look(), look(), look()]);
    try {
      for (let step = 0; step < 60; step++) success(await gateway.ask(step % 2 === 0 ? 'go' : 'back', {}, { session }));
    } finally {
      over = true;
      await lookers;
    }
  });
});

describe('a change of the workflow', () => {
  for (const effect of ['keyed', 'pure'] as const)
    test(`[C1-drift-1] is no reason to send a ${effect} step of before again, and moves nothing by it`, async (t) => {
      const ran: string[] = [];
      const version = (number: string) =>
        mount(createMachine({ id: 'path', initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } } as never), {
          version: number,
          actions: {
            go: {
              effect,
              ...(effect === 'keyed' ? { dedupe_window_seconds: 3_600 } : {}),
              run: async () => {
                ran.push(number);
                return number === '1' ? new Promise(() => undefined) : {};
              },
            },
          },
        } as never);
      const first = await openWorkflow(t, [version('1')]);
      const session = await first.open();
      void first.ask('go', {}, { session, key: 'go-once' });
      await eventually('the body runs', async () => ran.length === 1);
      // What a crash would leave at this moment.
      const file = `${first.file}.left`;
      const source = new DatabaseSync(first.file, { readOnly: true });
      await backup(source, file);
      source.close();
      const second = await openWorkflow(t, [version('2')], { file, limits: { sweepEveryMs: 20 } });
      const lost = refusal(await second.ask('go', {}, { session, key: 'go-once', wait_seconds: 10 }), 'action_error');
      assert.deepEqual([lost.effect, ran], [effect === 'keyed' ? 'unknown' : 'none', ['1']]);
      const { seq, state } = await second.look(session);
      assert.deepEqual([seq, state], [0, { value: 'a', context: {} }]);
      success(await second.sessions.accept(session));
      const again = await second.ask('go', {}, { session });
      if (effect === 'keyed') refusal(again, 'fenced');
      else success(again);
    });

  test('[C1-drift-5] is accepted by somebody whom the record names beside the agent', async (t) => {
    const { gateway, session } = await changed(t, [counter(), counter({ version: '2' })]);
    success(await gateway.sessions.accept(session));
    const entry = (await gateway.history(session)).find(({ kind }) => kind === 'session_migrated');
    const { by, accepted_by: acceptedBy, agent } = entry?.detail ?? {};
    assert.deepEqual([by, acceptedBy, agent], ['acceptance', 'local', 'local']);
  });

  test('[C1-drift-6] is not accepted while a step runs, which is named with what is next', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const slow = gateway.ask('slow', {}, { session });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    const accepted = refusal(await gateway.sessions.accept(session), 'action_in_flight');
    const reset = refusal(await gateway.sessions.reset(session), 'action_in_flight');
    held.runs[0]?.finish('done');
    const { call_id: id } = success(await slow);
    for (const { in_flight_call_id: running, session: named, valid_next_actions: next } of [accepted, reset])
      assert.deepEqual([running, named, next], [id, session, ['other']]);
  });

  test('[C1-drift-6] is not accepted for a session that is stopped, which is said; a reset takes it', async (t) => {
    const refusals = { sharpen_after: 1, stop_after: 2 };
    const { gateway, session } = await changed(
      t,
      [counter({ refusals }), counter({ refusals, version: '2' })],
      async ({ ask }, handle) => {
        for (let n = 0; n < 2; n++) refusal(await ask('nothing', {}, { session: handle }), 'unknown_action');
      },
    );
    const reply = refusal(await gateway.sessions.accept(session), 'session_error');
    assert.deepEqual([reply.code, reply.session], ['RefusalLimit', session]);
    assert.match(reply.message, /^the session was stopped after too many refusals in a row; reset it/);
    success(await gateway.sessions.reset(session));
    success(await gateway.ask('increment', {}, { session }));
  });

  for (const by of ['migration', 'acceptance'] as const)
    test(
      `[C9-store-8] that comes by ${by} is StoreUnavailable while the store is away, and no drift`,
      { skip: whyNoFileLimit() },
      async (t) => {
        t.after(mendDisk);
        const limits = { storeRetryMs: [5, 10] };
        const after = counter({ version: '2', ...(by === 'migration' ? { migrations } : {}) });
        const { gateway, session } = await changed(t, [counter(), after], undefined, { limits });
        // A fork is refused as ManifestDrift without a record, so the store is heard only of the migration that comes
        // before it.
        const go = () => (by === 'migration' ? gateway.sessions.fork(session) : gateway.sessions.accept(session));
        breakDisk();
        const away = refusal(await go(), 'session_error');
        assert.deepEqual([away.code, away.effect], ['StoreUnavailable', 'none']);
        mendDisk();
        success(await go());
        const kinds = await kindsOf(gateway, session);
        assert.equal(kinds.filter((kind) => kind === 'session_migrated').length, 1);
      },
    );
});

describe('resets of one session', () => {
  test('[C1-reset-2] at once all happen, one after the other', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    const replies = await Promise.all([1, 2, 3].map(() => gateway.sessions.reset(session)));
    assert.deepEqual(replies.map((reply) => success(reply).seq).toSorted(), [1, 2, 3]);
  });

  test('[C1-reset-2] of which one lost as often as it may says that the session moved on, and that nothing runs', async (t) => {
    const gateway = await openWorkflow(t, [counter()], { limits: { maxRedecisions: 1 } });
    const session = await gateway.open();
    const replies = await Promise.all([1, 2, 3, 4, 5, 6].map(() => gateway.sessions.reset(session)));
    const lost = refusal(replies.find((reply) => 'error' in reply) ?? assert.fail('one loses'), 'session_error');
    assert.deepEqual([lost.code, lost.session], ['StaleSequence', session]);
    assert.deepEqual(lost.valid_next_actions, ['increment', 'look']);
  });
});
