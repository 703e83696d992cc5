/**
 * CONTRACT sections 1, 8 and 9 for policy: what an agent must not come to know, and what a body must not do in its
 * place.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { mount, type Reply } from '../../src/index.ts';
import { openGateway as openWhole } from '../../src/main.ts';
import { evaluateCall } from '../../src/shell/look/evaluate.ts';
import { aPolicy, anAgent, denialOf } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

/** `pay` is guarded by its inputs, which end up in the state; `shut` comes only after it. */
const till = () =>
  mount(
    createMachine({
      id: 'till',
      initial: 'open',
      context: { paid: null, pin: null },
      states: {
        open: {
          on: {
            pay: {
              target: 'paid',
              guard: ({ event }) =>
                (event as unknown as { inputs: { card: { pin: string } } }).inputs.card.pin === '1234',
            },
          },
        },
        paid: { on: { shut: 'closed' } },
        closed: { type: 'final' },
      },
    }),
    {
      actions: {
        pay: {
          input: { type: 'object', properties: { card: { type: 'object' } }, required: ['card'] },
          run: async () => ({}),
          update: ({ inputs }: { inputs: { card: { pin: string } } }) => ({ paid: inputs.card, pin: inputs.card.pin }),
        },
        shut: { input: amount, run: async () => ({}) },
      },
    } as never,
  );

describe('what could never be permitted', () => {
  test('[C1-policy-3] is not among the ways on that a cancelled turn is told', async (t) => {
    const tools = [aTool('look', () => ({})), aTool('pay', () => ({}), { input: amount })];
    const policy = aPolicy([anAgent('local', [['permit', 'look']])]);
    const gateway = await openGateway(t, tools, { policy });
    const session = await gateway.openSession();
    assert.equal(await gateway.cancel({ session, turn: 'first' }), 'cancelled');
    const late = errorOf(await gateway.call({ tool: 'look', args: {}, session, turn: 'first' }), 'cancelled');
    assert.deepEqual(
      [late.valid_next_actions, late.resolution],
      [['look'], { type: 'choose_action', actions: ['look'] }],
    );
  });

  test('[C1-policy-3] is denied whatever the arguments are, and nothing is told of what they should be', async (t) => {
    const tools = [aTool('look', () => ({})), aTool('pay', () => ({}), { input: amount })];
    const policy = aPolicy([anAgent('local', [['permit', 'look']])]);
    const gateway = await openGateway(t, tools, { policy });
    for (const args of [{}, { amount: 'many' }, { amount: 1 }, 'text']) {
      const denied = denialOf(await gateway.call({ tool: 'pay', args }));
      assert.deepEqual([denied.code, denied.rule_ref], ['POLICY_DENY', 'recourse.yaml:5']);
      assert.ok(!JSON.stringify(denied).includes('amount'));
    }
  });

  test('[C1-policy-3] is denied in whatever state, and nothing is told of when it could be taken', async (t) => {
    const policy = aPolicy([anAgent('local', [['permit', 'till/pay']])]);
    const gateway = await openWorkflow(t, [till()], { policy });
    const denied = denialOf(await gateway.ask('shut', {}));
    assert.deepEqual([denied.requested, denied.valid_next_actions], ['shut', ['pay']]);
  });
});

describe('explanations', () => {
  test('[C9-explain-1] say of every call what the call itself hears, also where a guard reads inputs that are wrong', async (t) => {
    const policy = aPolicy([anAgent('local', [['permit', 'till/pay']])]);
    const file = path.join(folderOf(t), 'till.db');
    const opened = await openWhole({ workflows: [till()], file, policy: () => policy });
    t.after(() => opened.gateway.close());
    const view = await opened.gateway.sessions.open('till');
    assert.ok(!('error' in view));
    const { session } = view;
    const asks: readonly (readonly [string, unknown, string])[] = [
      ['pay', {}, 'validation_failed'],
      ['pay', { card: { pin: '1' } }, 'invalid_transition'],
      ['shut', {}, 'denied'],
      ['nothing', {}, 'unknown_action'],
    ];
    for (const [action, inputs, error] of asks) {
      const who = { tenant: 'default', agent: 'local' };
      const explained = await evaluateCall({ tool: action, args: inputs, session }, who, opened.shell);
      const reply = refusal(await opened.gateway.handleStep({ action, inputs, session }), error as 'denied');
      assert.ok('rungs' in explained && explained.reply !== null);
      assert.deepEqual([explained.reply.error, explained.reply.code], [reply.error, reply.code], action);
      assert.equal(explained.rungs.filter(({ answer }) => answer === 'refused').length, 1, action);
    }
  });
});

describe('what is masked', () => {
  test('[C8-redact-1] is in no state of a workflow, and guards are asked about what was sent', async (t) => {
    const policy = aPolicy([anAgent('local', [['permit', '**']], { redact: ['args.card.pin'] })]);
    const gateway = await openWorkflow(t, [till()], { policy });
    const reply = success(await gateway.ask('pay', { card: { pin: '1234', of: 'ann' } }));
    const context = { paid: { pin: '[redacted]', of: 'ann' }, pin: '[redacted]' };
    assert.deepEqual(reply.state, { value: 'paid', context });
  });

  test('[C8-redact-1] is not told by a text that stands where it should have fields, nor by what is too large to be shown', async (t) => {
    const input = {
      type: 'object',
      properties: { card: { type: 'object', properties: { note: { type: 'string' } } } },
    };
    const redact = ['args.card.number', 'args.**.pin'];
    const policy = aPolicy([anAgent('local', [['permit', '**']], { redact })]);
    const gateway = await openGateway(t, [aTool('pay', () => ({}), { input })], { policy });
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`z${at}`, at]));
    const asks: readonly unknown[] = [
      { tool: 'pay', args: '{"card":{"number":"secret-1"}}' },
      { tool: 'pay', args: { card: '{"number":"secret-2"}' } },
      { tool: 'pay', args: { card: { note: { pin: 'secret-3', ...many } } } },
      { tool: 'pay', args: [{ pin: 'secret-4', ...many }] },
      { tool: 'pay', card: { number: 'secret-5', ...many }, args: {} },
      [{ tool: 'pay', args: { card: { number: 'secret-6' } } }],
    ];
    for (const ask of asks) {
      const reply = errorOf((await gateway.handle(ask)) as Reply, 'validation_failed');
      const told = JSON.stringify([reply, await gateway.records(reply.call_id)]);
      assert.ok(!told.includes('secret-'), told);
    }
  });
});

test('[C1-policy-6] a body reaches no further than the session it runs in', async (t) => {
  const burn = createCountingTool('burn');
  const heard: Reply[] = [];
  const ask = aTool(
    'ask',
    async (_args, { tools }) => {
      for (let turn = 0; turn < 2; turn++) heard.push((await tools.call('burn', {})) as Reply);
      heard.push((await tools.call('look', {})) as Reply);
      return {};
    },
    { effect: 'pure' },
  );
  const look = aTool('look', () => ({}), { effect: 'pure' });
  const gateway = await openGateway(t, [ask, look, burn.definition]);
  const session = await gateway.openSession({ mode: 'read_only' });
  successOf(await gateway.call({ tool: 'ask', session }));
  const [first, second, third] = heard;
  for (const denied of [first, second])
    assert.match(denialOf(denied).human_message, /beyond what this session may reach \(read_only\)/);
  assert.deepEqual(successOf(third as Reply).valid_next_actions, ['ask', 'look']);
  assert.equal(burn.runs(), 0);
  successOf(await gateway.call({ tool: 'ask' }));
  assert.equal(burn.runs(), 2, 'and without a ceiling as far as anybody');
});
