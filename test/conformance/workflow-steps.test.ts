/** The step gate: what is legal where, in which words it is refused, and that only a success moves the state. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { z } from 'zod';
import { mount, tool } from '../../src/index.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { coffee, counter } from '../support/workflows.ts';

describe('a step', () => {
  test('[C2-step-1] [S000-recovery-2] answers with the result, the new state and what is next, and names the session it opened', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const reply = success(await bar.ask('take_order', { drink: 'latte' }));
    const { call_id: _call, session, next_action_schemas: schemas, ...rest } = reply;
    assert.deepEqual(rest, {
      action: 'take_order',
      result: { drink: 'latte' },
      state: { value: 'ordering', context: { drink: 'latte', modifiers: [] } },
      valid_next_actions: ['add_modifier', 'pay', 'cancel'],
      seq: 1,
    });
    assert.deepEqual(Object.keys(schemas ?? {}), ['add_modifier', 'pay', 'cancel']);
    assert.ok(session !== null);
    const again = success(await bar.ask('add_modifier', { modifier: 'oat' }, { session }));
    assert.equal(again.next_action_schemas, undefined, 'the set of next actions is the same');
    assert.equal(again.seq, 2);
  });

  test('[C2-step-2] in a final state is done, and nothing is next', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const { session } = success(await bar.ask('take_order', { drink: 'tea' }));
    const asked = { session: session ?? '' };
    const end = success(await bar.ask('cancel', {}, asked));
    assert.deepEqual([end.done, end.valid_next_actions], [true, []]);
    const after = refusal(await bar.ask('pay', {}, asked), 'invalid_transition');
    const over = 'The workflow has ended: reset the session, or open another, to begin anew.';
    assert.equal(after.message, `action 'pay' is not reachable from current state. Valid actions now: []. ${over}`);
    assert.equal(after.resolution.type, 'replan');
    assert.ok(refusal(await bar.ask('tip', {}, asked), 'unknown_action').message.endsWith(over));
    assert.equal((await bar.look(asked.session)).status, 'done');
  });

  test('[C1-reachable-1] [S000-transition-1] [S000-transition-3] that is not reachable is refused in the form of the contract, with the guard that said no', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const session = await bar.open();
    const early = refusal(await bar.ask('pay', {}, { session }), 'invalid_transition');
    assert.equal(early.message, "action 'pay' is not reachable from current state. Valid actions now: ['take_order'].");
    assert.deepEqual([early.valid_next_actions, early.blocked_by, early.effect], [['take_order'], [], 'none']);
    assert.deepEqual([early.class, early.code], ['Workflow', 'InvalidTransition']);
    success(await bar.ask('take_order', { drink: 'x' }, { session }));
    for (let n = 0; n < 3; n++) success(await bar.ask('add_modifier', { modifier: 'soy' }, { session }));
    const full = refusal(await bar.ask('add_modifier', { modifier: 'soy' }, { session }), 'invalid_transition');
    assert.deepEqual(full.blocked_by, [{ from: 'ordering', to: null, guard: 'roomForMore' }]);
    assert.deepEqual(full.valid_next_actions, ['pay', 'cancel']);
  });

  test('[C1-known-1] [S000-unknown-1] with a name that nobody knows hears every name and the near one', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const reply = refusal(await bar.ask('tako_order', {}), 'unknown_action');
    assert.deepEqual(reply.known_actions, ['take_order', 'add_modifier', 'pay', 'fulfill', 'cancel']);
    assert.deepEqual([reply.did_you_mean, reply.valid_next_actions], ['take_order', ['take_order']]);
    assert.deepEqual(reply.resolution, { type: 'choose_action', actions: ['take_order'] });
    for (const action of ['payy', 'wash_dishes']) {
      const early = refusal(await bar.ask(action, {}), 'unknown_action');
      assert.deepEqual(early.resolution, { type: 'choose_action', actions: ['take_order'] }, 'what is legal now');
    }
  });

  test('[C3-form-1] [S000-validation-1] [S000-validation-3] that a validator refuses has its reason verbatim, and the field', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const { session } = success(await bar.ask('take_order', { drink: 'latte' }));
    const reply = refusal(
      await bar.ask('add_modifier', { modifier: 'moon' }, { session: session ?? '' }),
      'validation_failed',
    );
    assert.equal(reply.reason, 'modifier must be one of: oat, soy, almond');
    assert.deepEqual(reply.details, { field: 'modifier', got: 'moon' });
    assert.deepEqual(reply.valid_next_actions, ['add_modifier', 'pay', 'cancel']);
  });

  test('[C3-form-2] understands inputs as a JSON text, and refuses a text that is none', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    success(await bar.ask('take_order', '{"drink":"latte"}'));
    for (const inputs of ['{"drink":', 'latte', '[1]', 7, [1]]) {
      const reply = refusal(await bar.ask('take_order', inputs), 'validation_failed');
      assert.deepEqual([reply.details.field, reply.valid_next_actions], ['inputs', ['take_order']], String(inputs));
    }
  });

  test('[C3-form-3] without an action still hears what is next', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const session = await bar.open();
    for (const value of [{ session }, { session, action: 7 }, { session, action: '', inputs: {} }]) {
      const reply = refusal(await bar.handleStep(value), 'validation_failed');
      assert.deepEqual([reply.requested, reply.valid_next_actions], [null, ['take_order']]);
      assert.equal(reply.session, session);
    }
  });

  test('[C1-reachable-2] a guard that looks at inputs is judged with them, and its no is the same no', async (t) => {
    const limited = mount(
      createMachine({
        id: 'limited',
        initial: 'open',
        context: { limit: 10 },
        states: {
          open: {
            on: {
              spend: {
                target: 'open',
                guard: function withinLimit({ context, event }) {
                  return (event as unknown as { inputs: { amount: number } }).inputs.amount <= context.limit;
                },
              },
            },
          },
        },
      }),
      { actions: { spend: { run: async () => ({}) } } },
    );
    const purse = await openWorkflow(t, [limited]);
    const session = await purse.open();
    assert.deepEqual(await purse.next(session), ['spend']);
    success(await purse.ask('spend', { amount: 10 }, { session }));
    const reply = refusal(await purse.ask('spend', { amount: 11 }, { session }), 'invalid_transition');
    assert.deepEqual(reply.blocked_by, [{ from: 'open', to: 'open', guard: 'withinLimit' }]);
    assert.deepEqual(reply.valid_next_actions, ['spend']);
  });

  test('[C1-reachable-3] a guard that throws is named, and nothing ran', async (t) => {
    const broken = mount(
      createMachine({
        id: 'broken',
        initial: 'open',
        states: {
          open: {
            on: {
              go: {
                target: 'open',
                guard: function explodes() {
                  throw new TypeError('no such thing');
                },
              },
              stay: 'open',
            },
          },
        },
      }),
      { actions: { go: { run: async () => ({}) }, stay: { run: async () => ({}) } } },
    );
    const gateway = await openWorkflow(t, [broken]);
    const reply = refusal(await gateway.ask('go', {}), 'invalid_transition');
    assert.deepEqual([reply.code, reply.effect, reply.valid_next_actions], ['GuardError', 'none', ['stay']]);
    assert.match(reply.message, /explodes/);
    assert.deepEqual(
      reply.blocked_by.map(({ guard }) => guard),
      ['explodes'],
    );
  });

  test('[C6-workflow-1] that fails moves nothing', async (t) => {
    const failing = mount(
      createMachine({ id: 'f', initial: 'a', states: { a: { on: { go: 'b' } }, b: { type: 'final' } } }),
      {
        actions: {
          go: {
            atomic: true,
            run: async () => {
              throw new RangeError('too far');
            },
          },
        },
      },
    );
    const gateway = await openWorkflow(t, [failing]);
    const session = await gateway.open();
    const before = await gateway.look(session);
    const reply = refusal(await gateway.ask('go', {}, { session }), 'action_error');
    assert.deepEqual([reply.error_type, reply.error_message, reply.effect], ['RangeError', 'too far', 'none']);
    assert.deepEqual(reply.valid_next_actions, ['go']);
    const after = await gateway.look(session);
    assert.deepEqual([after.state_digest, after.seq], [before.state_digest, 0]);
  });

  test('[C6-workflow-2] whose update throws is applied, and its session is stopped until it is reset or forked', async (t) => {
    const broken = mount(
      createMachine({ id: 'u', initial: 'a', context: { n: 0 }, states: { a: { on: { go: 'a' } } } }),
      {
        actions: {
          go: {
            run: async () => ({}),
            update: () => {
              throw new Error('cannot follow');
            },
          },
        },
      },
    );
    const gateway = await openWorkflow(t, [broken]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('go', {}, { session }), 'action_error');
    assert.deepEqual([reply.effect, reply.valid_next_actions], ['applied', []]);
    const next = refusal(await gateway.ask('go', {}, { session }), 'session_error');
    assert.deepEqual([next.code, next.valid_next_actions], ['SessionStopped', []]);
    assert.equal((await gateway.look(session)).status, 'stopped');
    const reset = success(await gateway.sessions.reset(session));
    assert.deepEqual([reset.valid_next_actions, reset.seq], [['go'], 1]);
  });

  test('[C6-workflow-4] moves by the inputs that were judged, whatever its code does to them', async (t) => {
    type Inputs = { amount: number; tags: string[] };
    const spoil = (inputs: Inputs) => {
      inputs.amount *= 100;
      inputs.tags.sort();
      return { amount: inputs.amount };
    };
    const isSmall = ({ event }: { event: { inputs?: Inputs } }) => (event.inputs?.amount ?? 0) <= 100;
    const input = z.looseObject({ amount: z.number(), tags: z.array(z.string()).default(['b', 'a']) });
    const update = ({ inputs }: { inputs: unknown }) => ({ seen: inputs });
    const edges = [{ target: 'small', guard: isSmall }, { target: 'large' }];
    const on = { own: edges, bound: edges, keyed: edges, judged: edges };
    const tools = [tool({ name: 'spoil', input: {}, run: async (inputs: Inputs) => spoil(inputs) })];
    const run = async (inputs: Inputs) => spoil(inputs);
    const key = (inputs: unknown) => String(spoil(inputs as Inputs).amount);
    const workflow = mount(
      createMachine({
        id: 'spoilt',
        initial: 'idle',
        context: { seen: {} },
        states: { idle: { on }, small: {}, large: {} },
      } as never),
      {
        actions: {
          own: { input, run, update },
          bound: { tool: 'spoil', update },
          keyed: { input, run, update, operation_key: key },
          judged: { run: async () => ({ amount: 4_000 }), update, validators: [(inputs: unknown) => void key(inputs)] },
        },
      } as never,
    );
    const gateway = await openWorkflow(t, [workflow], { tools: tools as never });
    for (const action of ['own', 'bound', 'keyed', 'judged', 'own']) {
      const inputs = { amount: 40, ...(action === 'own' ? {} : { tags: ['b', 'a'] }) };
      const { state, result } = success(await gateway.ask(action, inputs));
      assert.deepEqual(result, { amount: 4_000 }, action);
      assert.deepEqual(state, { value: 'small', context: { seen: { amount: 40, tags: ['b', 'a'] } } }, action);
    }
  });

  test('[C6-workflow-4] has the inputs that it was sent with, whatever its caller writes into them afterwards', async (t) => {
    const machine = createMachine({ id: 'e', initial: 'a', states: { a: { on: { echo: 'a' } } } });
    const echo = mount(machine, { actions: { echo: { run: async (given: unknown) => given } } });
    const gateway = await openWorkflow(t, [echo]);
    const session = await gateway.open();
    const inputs = { n: 0 };
    const steps = [1, 2, 3].map((n) => {
      inputs.n = n;
      return gateway.ask('echo', inputs, { session });
    });
    const results = (await Promise.all(steps)).map((reply) => success(reply).result);
    assert.deepEqual(results, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test('[C2-step-1] lists the schemas of what is next, whatever the actions are called', async (t) => {
    const body = { run: async () => ({}) };
    const names = JSON.parse('{"__proto__": "a", "constructor": "a"}') as object;
    const actions = Object.defineProperty({ go: body, constructor: body }, '__proto__', {
      value: body,
      enumerable: true,
    });
    const states = { a: { on: { go: 'b' } }, b: { on: names } };
    const workflow = mount(createMachine({ id: 'p', initial: 'a', states } as never), { actions } as never);
    const gateway = await openWorkflow(t, [workflow]);
    const reply = success(await gateway.ask('go', {}));
    assert.deepEqual(Object.keys(reply.next_action_schemas ?? {}), reply.valid_next_actions);
    assert.equal(reply.valid_next_actions.length, 2);
  });

  test('[C2-step-3] shows as much of the state as its author says', async (t) => {
    const states = { full: { value: 'counting', context: { count: 1 } }, none: null };
    for (const [projection, state] of Object.entries(states)) {
      const gateway = await openWorkflow(t, [counter({ state: projection })]);
      assert.deepEqual(success(await gateway.ask('increment', {})).state, state, projection);
    }
    const some = await openWorkflow(t, [counter({ state: ['count'] })]);
    assert.deepEqual(success(await some.ask('increment', {})).state, { value: 'counting', context: { count: 1 } });
    const others = await openWorkflow(t, [counter({ state: [] })]);
    assert.deepEqual(success(await others.ask('increment', {})).state, { value: 'counting', context: {} });
  });
});
