/** What a step must never do: run outside its workflow, run twice by another way, or bring the process down. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { assign, createMachine } from 'xstate';
import { mount, tool } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { checkStepReply, openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { counter, createHeld } from '../support/workflows.ts';

const doubtful = () => {
  let ran = 0;
  const workflow = mount(createMachine({ id: 'd', initial: 'a', states: { a: { on: { pay: 'a', other: 'a' } } } }), {
    actions: {
      pay: { effect: 'plain', run: async () => ((ran += 1), Promise.reject(new Error('the line went dead'))) },
      other: { run: async () => ({}) },
    },
  });
  return { workflow, ran: () => ran };
};

describe('a step', () => {
  test('[C1-known-2] is a step of its workflow: no tool is called through a session that has none', async (t) => {
    let wrote = 0;
    const write = tool({ name: 'write', input: {}, run: async () => void (wrote += 1) });
    const gateway = await openWorkflow(t, [counter()], { tools: [write] });
    const plain = await gateway.openSession();
    const reply = refusal(await gateway.ask('write', {}, { session: plain }), 'session_error');
    assert.deepEqual([reply.code, reply.valid_next_actions, wrote], ['UnknownSession', [], 0]);
    const odd = refusal(await gateway.handleStep({ action: 'write', session: 5 }), 'validation_failed');
    assert.deepEqual(odd.valid_next_actions, [], 'the tools of the gateway are no actions');
  });

  test('[C6-key-1] that is sent twice at once with one key and no session is one step', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const asked = { key: 'first', wait_seconds: 20 };
    const both = [gateway.ask('slow', {}, asked), gateway.ask('slow', {}, asked)];
    await eventually('the body runs', async () => held.runs.length === 1);
    held.runs[0]?.finish('once');
    const [one, two] = (await Promise.all(both)).map(success);
    assert.deepEqual([one?.result, two?.result, held.runs.length], ['once', 'once', 1]);
    assert.equal(one?.session, two?.session);
  });

  test('[C6-key-1] whose key belongs to something else is told of its own workflow, not of where that key was used', async (t) => {
    const pay = tool({ name: 'pay', description: 'Pays.', input: {}, run: async () => 'paid' });
    const { workflow } = createHeld();
    const gateway = await openWorkflow(t, [counter(), workflow], { tools: [pay] });
    success(await gateway.handle({ tool: 'pay', args: {}, key: 'of-a-call' }));
    const elsewhere = success(await gateway.ask('other', {}, { workflow: 'held', key: 'of-another' })).session;
    for (const key of ['of-a-call', 'of-another']) {
      const reused = refusal(await gateway.ask('increment', {}, { key }), 'validation_failed');
      assert.deepEqual([reused.code, reused.valid_next_actions], ['KeyReused', ['increment', 'look']]);
      assert.notEqual(reused.session, elsewhere);
    }
    const again = success(await gateway.ask('other', {}, { workflow: '', key: 'of-another' }));
    assert.deepEqual([again.replayed, again.session], [true, elsewhere]);
  });

  test('[C6-key-3] of another workflow is not answered by what the same key did in this one', async (t) => {
    const runs: string[] = [];
    const till = (name: string) =>
      mount(createMachine({ id: name, initial: 'open', states: { open: { on: { pay: 'open' } } } } as never), {
        actions: { pay: { run: async () => ({ at: runs.push(name) }) } },
      } as never);
    const gateway = await openWorkflow(t, [till('bar'), till('shop')]);
    const asked = { key: 'pay-1' };
    const [one, two] = ['bar', 'shop'].map((workflow) => () => gateway.ask('pay', {}, { ...asked, workflow }));
    assert.ok(one !== undefined && two !== undefined);
    const first = success(await one());
    const reused = refusal(await two(), 'validation_failed');
    assert.deepEqual([reused.code, runs], ['KeyReused', ['bar']]);
    assert.equal(success(await one()).call_id, first.call_id);
    const both = await Promise.all(
      ['bar', 'shop'].map((workflow) => gateway.ask('pay', {}, { key: 'at once', workflow })),
    );
    assert.deepEqual(both.map((reply) => ('code' in reply ? reply.code : 'success')).sort(), ['KeyReused', 'success']);
    assert.equal(runs.length, 2);
  });

  test('[C6-fence-5] that runs may end in doubt, so nothing is forked until it has ended', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const running = gateway.ask('slow', {}, { session });
    await eventually('the body runs', async () => held.runs.length === 1);
    const early = refusal(await gateway.sessions.fork(session), 'action_in_flight');
    held.runs[0]?.finish('done');
    assert.equal(early.in_flight_call_id, success(await running).call_id);
    success(await gateway.sessions.fork(session));
  });

  test('[C6-fence-5] in doubt is fenced in a fork as well', async (t) => {
    const { workflow, ran } = doubtful();
    const gateway = await openWorkflow(t, [workflow]);
    const session = await gateway.open();
    const first = refusal(await gateway.ask('pay', {}, { session }), 'action_error');
    const fork = success(await gateway.sessions.fork(session));
    assert.deepEqual(fork.valid_next_actions, ['other']);
    const fenced = refusal(await gateway.ask('pay', {}, { session: fork.session ?? '' }), 'fenced');
    assert.deepEqual(fenced.resolution, { type: 'reconcile', call_id: first.call_id });
    assert.equal(ran(), 1);
    await gateway.settle(first.call_id, { happened: 'no', by: 'ada', force: true });
    refusal(await gateway.ask('pay', {}, { session: fork.session ?? '' }), 'action_error');
  });

  for (const settled of ['before the fork', 'after it'] as const)
    test(`[C6-fence-5] in doubt, and settled ${settled} as a success, is adopted in the fork and where it comes from, and runs once`, async (t) => {
      const { workflow, ran } = doubtful();
      const gateway = await openWorkflow(t, [workflow]);
      const session = await gateway.open();
      const { call_id: id } = refusal(await gateway.ask('pay', { to: 1 }, { session, key: 'k' }), 'action_error');
      const settle = () => gateway.settle(id, { happened: 'yes', by: 'ada', result: { paid: 1 } });
      if (settled === 'before the fork') await settle();
      const { session: fork } = success(await gateway.sessions.fork(session));
      if (settled === 'after it') await settle();
      for (const place of [fork ?? '', session]) {
        const { session: there, replayed, result } = success(await gateway.ask('pay', { to: 1 }, { session: place }));
        assert.deepEqual([there, replayed, result], [place, true, { paid: 1 }]);
      }
      const again = success(await gateway.ask('pay', { to: 1 }, { session, key: 'k' }));
      assert.equal(again.session, session, 'the key of the first step answers for its own session');
      assert.equal(ran(), 1);
    });

  test('[C6-settle-2] in doubt is settled by the words yes, no and unknown of somebody with a name, and by nothing else', async (t) => {
    const { workflow, ran } = doubtful();
    const gateway = await openWorkflow(t, [workflow]);
    const session = await gateway.open();
    const { call_id: id } = refusal(await gateway.ask('pay', {}, { session }), 'action_error');
    const odd = [{}, null, { happened: 'maybe', by: 'a' }, { happened: 'No', by: 'a' }, { happened: true, by: 'a' }];
    const unnamed = [{ happened: 'no' }, { happened: 'no', by: '' }, { happened: 'no', by: 5 }];
    const unjson = { happened: 'yes', by: 'a', result: 1n };
    for (const said of [...odd, ...unnamed, unjson]) assert.equal(await gateway.settle(id, said as never), 'unclear');
    refusal(await gateway.ask('pay', {}, { session }), 'fenced');
    assert.equal(ran(), 1);
  });

  for (const effect of ['plain', 'pure'])
    test(`[C2-next-3] that is running, and ${effect}, is not among the next actions`, async (t) => {
      const held = createHeld({ effect, timeout_seconds: 30 });
      const gateway = await openWorkflow(t, [held.workflow]);
      const session = await gateway.open();
      const running = gateway.ask('slow', {}, { session });
      await eventually('the body runs', async () => held.runs.length === 1);
      assert.deepEqual(await gateway.next(session), ['other']);
      held.runs[0]?.finish('x');
      success(await running);
      assert.deepEqual(await gateway.next(session), ['slow', 'other']);
    });

  test('[C3-cancelled-4] whose session is cancelled hears that nothing is next in it', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const running = gateway.ask('slow', {}, { session });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    assert.equal(await gateway.cancel({ session }), 'cancelled');
    const stopped = refusal(await running, 'cancelled');
    assert.deepEqual([stopped.code, stopped.effect, stopped.valid_next_actions], ['SessionCancelled', 'unknown', []]);
    held.runs[0]?.finish('late');
  });

  test('[C6-workflow-3] that only reads, and whose result the workflow cannot take, had no effect and stops nothing', async (t) => {
    const reading = mount(
      createMachine({ id: 'r', initial: 'a', context: { seen: '' }, states: { a: { on: { look: 'a' } } } }),
      {
        actions: {
          look: {
            effect: 'pure',
            run: async (inputs: unknown) => inputs,
            update: ({ result }) => ({ seen: (result as { word: string }).word.trim() }),
          },
        },
      },
    );
    const gateway = await openWorkflow(t, [reading]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('look', {}, { session }), 'action_error');
    assert.deepEqual([reply.effect, reply.valid_next_actions], ['none', ['look']]);
    assert.equal(success(await gateway.ask('look', { word: ' tea ' }, { session })).seq, 1);
  });

  test('[C1-fork-2] of a fork has its timers before it as it had then, and a drifted session is not forked', async (t) => {
    const clock = createShiftedClock();
    const machine = (delay: number) =>
      createMachine({
        id: 'timed',
        initial: 'waiting',
        states: { waiting: { after: { [delay]: 'late' }, on: { go: 'gone' } }, late: { type: 'final' }, gone: {} },
      });
    const actions = { go: { run: async () => ({}) } };
    const limits = { sweepEveryMs: 86_400_000 };
    const first = await openWorkflow(t, [mount(machine(60_000), { actions })], { clock, limits });
    const session = await first.open();
    clock.forward(50_000);
    success(await first.ask('go', {}, { session }));
    clock.forward(50_000);
    const fork = success(await first.sessions.fork(session, { seq: 0 }));
    assert.deepEqual([fork.seq, fork.valid_next_actions], [0, ['go']]);
    clock.forward(59_000);
    assert.deepEqual(await first.next(fork.session ?? ''), ['go']);
    clock.forward(1_001);
    refusal(await first.ask('go', {}, { session: fork.session ?? '' }), 'invalid_transition');
    assert.equal((await first.look(fork.session ?? '')).status, 'done');
    await first.close();
    const second = await openWorkflow(t, [mount(machine(70_000), { actions })], { clock, limits, file: first.file });
    const drifted = refusal(await second.sessions.fork(session, { seq: 0 }), 'session_error');
    assert.equal(drifted.code, 'ManifestDrift');
  });

  for (const by of ['migration', 'acceptance', 'reset'] as const)
    test(`[C1-fork-3] from before a change that came by ${by} begins no fork; one from after it does`, async (t) => {
      const first = await openWorkflow(t, [counter()]);
      const session = await first.open();
      for (let n = 0; n < 2; n++) success(await first.ask('increment', {}, { session }));
      await first.close();
      const migrations = { '1': ({ value }: { value: unknown }) => ({ value, context: { count: 40 } }) };
      const changed = counter({ version: '2', ...(by === 'migration' ? { migrations } : {}) });
      const second = await openWorkflow(t, [changed], { file: first.file });
      if (by === 'acceptance') success(await second.sessions.accept(session));
      if (by === 'reset') success(await second.sessions.reset(session));
      success(await second.ask('increment', {}, { session }));
      // A reset under the same workflow takes nothing away.
      success(await second.sessions.reset(session));
      for (const seq of [0, 2]) {
        const { reason } = refusal(await second.sessions.fork(session, { seq }), 'validation_failed');
        assert.equal(reason, 'seq must be a step that is kept and was taken since the workflow changed, from 3 to 5');
      }
      const counts = { migration: 40, acceptance: 2, reset: 0 };
      const fork = success(await second.sessions.fork(session, { seq: 3 }));
      assert.deepEqual(fork.state, { value: 'counting', context: { count: counts[by] } });
      assert.equal(success(await second.sessions.fork(fork.session ?? '', { seq: 0 })).seq, 0);
      success(await second.sessions.fork(session));
    });

  test('[C1-fork-3] that is not kept any more is refused with the first that is', async (t) => {
    const first = await openWorkflow(t, [counter()]);
    const session = await first.open();
    for (let n = 0; n < 3; n++) success(await first.ask('increment', {}, { session }));
    await first.close();
    const database = new DatabaseSync(first.file);
    database.prepare('DELETE FROM snapshots WHERE session = ? AND seq < 2').run(session);
    database.close();
    const second = await openWorkflow(t, [counter()], { file: first.file });
    const { reason } = refusal(await second.sessions.fork(session, { seq: 1 }), 'validation_failed');
    assert.equal(reason, 'seq must be a step that is kept, from 2 to 3');
    success(await second.sessions.fork(session, { seq: 2 }));
  });

  test('[C1-fork-3] that is no number is refused, whatever code without types gives', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    success(await gateway.ask('increment', {}, { session }));
    for (const seq of ['1', true, [1], {}, 1n, 0.5, Number.NaN, -1, 2 ** 60, Symbol('one')] as never[]) {
      const { reason } = refusal(checkStepReply(await gateway.sessions.fork(session, { seq })), 'validation_failed');
      assert.equal(reason, 'seq must be a step that is kept, from 0 to 1');
    }
    for (const at of [null, undefined] as never[]) success(await gateway.sessions.fork(session, at));
  });

  test('[C1-total-5] survives an author who promises where a value belongs', async (t) => {
    const unheard: unknown[] = [];
    const listen = (reason: unknown) => void unheard.push(reason);
    process.on('unhandledRejection', listen);
    t.after(() => process.off('unhandledRejection', listen));
    const reject = async (): Promise<never> => Promise.reject(new Error('too late'));
    const states = {
      a: {
        on: {
          guarded: { target: 'a', guard: reject },
          assigned: { target: 'a', actions: assign({ n: reject as never }) },
          updated: 'a',
          keyed: 'a',
        },
      },
    };
    const hasty = mount(createMachine({ id: 'h', initial: 'a', context: { n: 0 }, states } as never), {
      actions: {
        guarded: { run: async () => ({}) },
        assigned: { effect: 'pure', run: async () => ({}) },
        updated: { effect: 'pure', run: async () => ({}), update: reject as never },
        keyed: { run: async () => ({}), operation_key: reject as never },
      },
    } as never);
    const gateway = await openWorkflow(t, [hasty]);
    const session = await gateway.open();
    refusal(await gateway.ask('guarded', {}, { session }), 'invalid_transition');
    for (const action of ['assigned', 'updated']) refusal(await gateway.ask(action, {}, { session }), 'action_error');
    success(await gateway.ask('keyed', {}, { session }));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(unheard, []);
  });
});
