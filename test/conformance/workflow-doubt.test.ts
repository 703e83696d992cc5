/** Steps that time out, are in doubt, come back late, or die with their process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { mount, type Reply, tool } from '../../src/index.ts';
import { checkStepReply, openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { eventually } from '../support/eventually.ts';
import { createHeld } from '../support/workflows.ts';

const doneIn = (view: { state: unknown }) => (view.state as { context: { done: string[] } }).context.done;

describe('a step that times out', () => {
  test('[C3-timeout-1] answers at its budget in the form of the contract, and moves nothing', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    assert.equal(reply.message, "action 'slow' exceeded its 0.2s timeout.");
    assert.deepEqual([reply.timeout_seconds, reply.effect], [0.2, 'unknown']);
    assert.deepEqual(reply.valid_next_actions, ['other'], 'neither what is in doubt nor what still runs is next');
    assert.equal((await gateway.look(session)).seq, 0);
    held.runs[0]?.finish('late');
  });

  test('[C6-orphan-1] and whose body still runs is action_in_flight for the same action; others stay legal', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const first = refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    const again = refusal(await gateway.ask('slow', {}, { session }), 'action_in_flight');
    assert.equal(again.in_flight_call_id, first.call_id);
    success(await gateway.ask('other', {}, { session }));
    assert.equal(held.runs.length, 1);
    held.runs[0]?.finish('late');
  });

  test('[C6-orphan-2] may overlap where the action says so', async (t) => {
    const held = createHeld({ effect: 'pure' });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const first = refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    assert.deepEqual(first.valid_next_actions, ['slow', 'other']);
    const second = gateway.ask('slow', {}, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('in time');
    success(await second);
    held.runs[0]?.finish('late');
    assert.deepEqual(doneIn(await gateway.look(session)), ['in time']);
  });

  test('[C6-adopt-1] and then succeeds is adopted by the next equal step, which runs nothing', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const first = refusal(await gateway.ask('slow', { n: 1 }, { session }), 'action_timeout');
    held.runs[0]?.finish('late');
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    const between = await gateway.look(session);
    assert.deepEqual([doneIn(between), between.seq], [[], 0], 'the late finish changed no state');
    const [opened, attempt, orphaned] = await gateway.history(session);
    assert.deepEqual(
      [opened?.kind, attempt?.outcome, orphaned?.kind],
      ['session_opened', 'action_timeout', 'orphaned'],
    );
    const adopted = success(await gateway.ask('slow', { n: 1 }, { session }));
    assert.deepEqual([adopted.replayed, adopted.result, adopted.seq], [true, 'late', 1]);
    assert.notEqual(adopted.call_id, first.call_id);
    assert.deepEqual(doneIn(await gateway.look(session)), ['late']);
    assert.equal(held.runs.length, 1);
    const third = gateway.ask('slow', { n: 1 }, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('fresh');
    success(await third);
    assert.deepEqual(doneIn(await gateway.look(session)), ['late', 'fresh'], 'a result is adopted once');
  });

  test('[C6-adopt-2] adopts for its own key too, and the key then gives the same result', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const asked = { session, key: 'k1' };
    refusal(await gateway.ask('slow', {}, asked), 'action_timeout');
    held.runs[0]?.finish('late');
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    const adopted = success(await gateway.ask('slow', {}, asked));
    assert.deepEqual([adopted.replayed, adopted.result, adopted.seq], [true, 'late', 1]);
    const again = success(await gateway.ask('slow', {}, asked));
    assert.deepEqual([again.replayed, again.result], [true, 'late']);
    assert.deepEqual(doneIn(await gateway.look(session)), ['late']);
    assert.equal(held.runs.length, 1);
  });

  test('[C6-adopt-3] of other inputs does not adopt, and is not fenced either', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    refusal(await gateway.ask('slow', { n: 1 }, { session }), 'action_timeout');
    held.runs[0]?.finish('late');
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    const other = gateway.ask('slow', { n: 2 }, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('second');
    assert.equal(success(await other).replayed, undefined);
  });

  test('[C6-fence-1] and failed without effect is possible again', async (t) => {
    const held = createHeld({ atomic: true });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    held.runs[0]?.fail(new Error('nothing was done'));
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    const again = gateway.ask('slow', {}, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('now');
    assert.equal(success(await again).replayed, undefined);
  });
});

describe('a step in doubt', () => {
  const doubtful = () => {
    const ran: unknown[] = [];
    const workflow = mount(
      createMachine({ id: 'd', initial: 'a', states: { a: { on: { pay: 'a', refund: 'a', other: 'a' } } } }),
      {
        actions: {
          pay: {
            effect: 'plain',
            operation_key: (inputs: unknown) => String((inputs as { order: number }).order),
            run: async (inputs: unknown) => {
              ran.push(inputs);
              throw new Error('the line went dead');
            },
          },
          refund: { effect: 'plain', run: async () => Promise.reject(new Error('the line went dead')) },
          other: { run: async () => ({}) },
        },
      },
    );
    return { workflow, ran };
  };

  test('[C6-fence-2] fences its operation in its session, and nothing else', async (t) => {
    const { workflow } = doubtful();
    const gateway = await openWorkflow(t, [workflow]);
    const session = await gateway.open();
    const first = refusal(await gateway.ask('refund', {}, { session }), 'action_error');
    assert.deepEqual([first.effect, first.valid_next_actions], ['unknown', ['pay', 'other']]);
    const fenced = refusal(await gateway.ask('refund', {}, { session }), 'fenced');
    assert.deepEqual([fenced.class, fenced.code], ['Workflow', 'Fenced']);
    assert.deepEqual(fenced.resolution, { type: 'reconcile', call_id: first.call_id });
    success(await gateway.ask('other', {}, { session }));
    refusal(await gateway.ask('refund', {}, { session: await gateway.open() }), 'action_error');
  });

  test('[C6-fence-3] of an operation that depends on inputs fences only those', async (t) => {
    const { workflow, ran } = doubtful();
    const gateway = await openWorkflow(t, [workflow]);
    const session = await gateway.open();
    refusal(await gateway.ask('pay', { order: 1 }, { session }), 'action_error');
    const fenced = refusal(await gateway.ask('pay', { order: 1, note: 'again' }, { session }), 'fenced');
    assert.ok(fenced.valid_next_actions.includes('pay'));
    refusal(await gateway.ask('pay', { order: 2 }, { session }), 'action_error');
    assert.equal(ran.length, 2);
  });

  test('[C6-fence-7] that could not say its key fences the whole action, and whoever cannot say it is fenced by any', async (t) => {
    const ran: unknown[] = [];
    const run = async (inputs: unknown) => {
      ran.push(inputs);
      throw new Error('the line went dead');
    };
    const operation_key = (inputs: unknown) => (inputs as { order: string }).order;
    const keyed = mount(createMachine({ id: 'k', initial: 'a', states: { a: { on: { pay: 'a', other: 'a' } } } }), {
      actions: { pay: { effect: 'plain', operation_key, run }, other: { run: async () => ({}) } },
    });
    const gateway = await openWorkflow(t, [keyed]);
    const whole = await gateway.open();
    const first = refusal(await gateway.ask('pay', {}, { session: whole }), 'action_error');
    assert.deepEqual([first.effect, first.valid_next_actions], ['unknown', ['other']]);
    for (const inputs of [{ order: 'a' }, {}]) {
      const fenced = refusal(await gateway.ask('pay', inputs, { session: whole }), 'fenced');
      assert.deepEqual([fenced.blocking_call_id, fenced.valid_next_actions], [first.call_id, ['other']]);
    }
    assert.deepEqual(await gateway.next(whole), ['other']);
    const one = await gateway.open();
    const known = refusal(await gateway.ask('pay', { order: 'a' }, { session: one }), 'action_error');
    assert.deepEqual(known.valid_next_actions, ['pay', 'other']);
    assert.equal(refusal(await gateway.ask('pay', {}, { session: one }), 'fenced').blocking_call_id, known.call_id);
    refusal(await gateway.ask('pay', { order: 'b' }, { session: one }), 'action_error');
    assert.equal(ran.length, 3);
  });

  for (const key of ['none', 'by order'] as const)
    test(`[C6-fence-6] is fenced for a body of its session that calls the tool itself, with the key: ${key}`, async (t) => {
      const sent: unknown[] = [];
      const send = tool({
        name: 'send',
        input: {},
        run: async (inputs: unknown) => {
          sent.push(inputs);
          throw new Error('the line went dead');
        },
      });
      const operation_key = (inputs: unknown) => (inputs as { order: string }).order;
      const workflow = mount(
        createMachine({ id: 'f', initial: 'a', states: { a: { on: { refund: 'a', wrap_up: 'a' } } } }),
        {
          actions: {
            refund: { tool: 'send', ...(key === 'none' ? {} : { operation_key }) },
            wrap_up: { run: async (inputs: unknown, ctx) => ({ inner: await ctx.tools.call('send', inputs) }) },
          },
        },
      );
      const gateway = await openWorkflow(t, [workflow], { tools: [send] });
      const session = await gateway.open();
      const wrapUp = async (order: string, within: string) => {
        const { result } = success(await gateway.ask('wrap_up', { order }, { session: within }));
        return checkStepReply((result as { inner: Reply }).inner);
      };
      const first = refusal(await gateway.ask('refund', { order: 'A' }, { session }), 'action_error');
      const fenced = refusal(await wrapUp('A', session), 'fenced');
      assert.equal(
        fenced.message,
        `tool 'send' is fenced: nobody knows yet whether call ${first.call_id} took effect. Other tools stay possible.`,
      );
      assert.deepEqual([fenced.blocking_call_id, fenced.effect, sent.length], [first.call_id, 'none', 1]);
      refusal(await wrapUp('B', session), key === 'none' ? 'fenced' : 'action_error');
      refusal(await wrapUp('A', await gateway.open()), 'action_error');
      await gateway.settle(first.call_id, { happened: 'no', by: 'ada', force: true });
      refusal(await wrapUp('A', session), 'action_error');
    });

  test('[C6-settle-1] is settled by a person: no lifts the fence, yes is adopted, unknown is signed', async (t) => {
    const { workflow } = doubtful();
    const gateway = await openWorkflow(t, [workflow]);
    const session = await gateway.open();
    const no = refusal(await gateway.ask('refund', {}, { session }), 'action_error');
    assert.equal(await gateway.settle(no.call_id, { happened: 'no', by: 'ada', force: true }), 'settled');
    assert.equal(await gateway.settle(no.call_id, { happened: 'no', by: 'ada', force: true }), 'not_in_doubt');
    const yes = refusal(await gateway.ask('refund', {}, { session }), 'action_error');
    assert.equal(await gateway.settle(yes.call_id, { happened: 'yes', by: 'ada', result: { id: 7 } }), 'settled');
    const adopted = success(await gateway.ask('refund', {}, { session }));
    assert.deepEqual([adopted.result, adopted.replayed, adopted.seq], [{ id: 7 }, true, 1]);
    const unknown = refusal(await gateway.ask('refund', {}, { session }), 'action_error');
    assert.equal(await gateway.settle(unknown.call_id, { happened: 'unknown', by: 'ada' }), 'settled');
    refusal(await gateway.ask('refund', {}, { session }), 'action_error');
    assert.equal(await gateway.settle('call_nothing', { happened: 'no', by: 'ada', force: true }), 'not_found');
    const settled = (await gateway.history(session)).filter(({ kind }) => kind === 'settled');
    assert.deepEqual(
      settled.map(({ detail, seq }) => [detail['by'], seq]),
      [
        ['ada', 0],
        ['ada', 0],
        ['ada', 1],
      ],
    );
  });

  test('[C6-settle-1] is sent anew once a person has signed that nobody will know, also where whoever asked first is gone', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const client = new AbortController();
    const first = gateway.handleStep({ action: 'slow', inputs: {}, session }, { signal: client.signal });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    client.abort();
    const { call_id } = refusal(await first, 'cancelled');
    assert.equal(await gateway.settle(call_id, { happened: 'unknown', by: 'ada' }), 'settled');
    held.runs[0]?.finish('late');
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    const again = gateway.ask('slow', {}, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('anew');
    assert.deepEqual(success(await again).result, 'anew');
  });

  test('[C6-fence-4] stays fenced after a reset: that does not tell what happened', async (t) => {
    const { workflow } = doubtful();
    const gateway = await openWorkflow(t, [workflow]);
    const session = await gateway.open();
    refusal(await gateway.ask('refund', {}, { session }), 'action_error');
    assert.deepEqual(success(await gateway.sessions.reset(session)).valid_next_actions, ['pay', 'other']);
    refusal(await gateway.ask('refund', {}, { session }), 'fenced');
  });
});
