/** CONTRACT sections 1, 4, 8 and 9 for policy, through the library door on a real store. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { z } from 'zod';
import { httpStatusOf, tool } from '../../src/index.ts';
import type { WrittenAgent } from '../../src/core/policy/policy.ts';
import { aPolicy, anAgent, denialOf, type Said } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

const open = (t: TestContext, tools: Parameters<typeof openGateway>[1], agents: readonly WrittenAgent[]) =>
  openGateway(t, tools, { policy: aPolicy(agents) });

describe('rules', () => {
  test('[C1-policy-1] the first that matches speaks, with its condition; then the default; then no', async (t) => {
    const refund = createCountingTool('payments/refund');
    const rules: readonly Said[] = [
      ['permit', 'payments/refund', { when: 'args.amount < 500' }],
      ['deny', 'payments/refund', { when: 'args.amount < 1000' }],
      ['permit', 'payments/*', { when: 'args.amount == 2000' }],
    ];
    const strict = anAgent('strict', rules);
    const lax = anAgent('lax', rules, { default: { effect: 'permit', ref: 'recourse.yaml:6' } });
    const gateway = await open(t, [refund.definition], [strict, lax]);
    const ask = (amount: number, agent: string) =>
      gateway.call({ tool: 'payments/refund', args: { amount } }, { agent });
    successOf(await ask(499, 'strict'));
    assert.equal(denialOf(await ask(500, 'strict')).rule_ref, 'recourse.yaml:11');
    successOf(await ask(2_000, 'strict'));
    assert.equal(denialOf(await ask(3_000, 'strict')).rule_ref, 'recourse.yaml:5');
    successOf(await ask(3_000, 'lax'));
    assert.equal(refund.runs(), 3);
  });

  test('[C1-policy-2] the arguments that rules see are those that the validator made', async (t) => {
    const pay = tool({
      name: 'pay',
      input: z.object({ amount: z.coerce.number() }),
      run: async ({ amount }) => ({ amount }),
    });
    const gateway = await open(t, [pay], [anAgent('local', [['permit', 'pay', { when: 'args.amount == 7.0' }]])]);
    const reply = successOf(await gateway.call({ tool: 'pay', args: { amount: '7' } }));
    assert.deepEqual(reply.result, { amount: 7 });
  });

  test('[C4-deny-1] [C1-policy-4] [S002-deny-1] [S002-deny-3] POLICY_DENY in the forms of the seed, for each agent by its own rules', async (t) => {
    const tools = ['stripe/payouts', 'stripe/refund'].map((name) => aTool(name, () => ({})));
    const gateway = await open(t, tools, [
      anAgent('support', [
        ['deny', 'stripe/payouts'],
        ['permit', 'stripe/refund'],
      ]),
      anAgent('finance', [
        ['deny', 'stripe/refund', { reason: 'platform team only' }],
        ['permit', 'stripe/*'],
      ]),
    ]);
    const by = (agent: string, tool: string) => gateway.call({ tool }, { agent });
    const blocked = denialOf(await by('support', 'stripe/payouts'));
    assert.deepEqual(
      [blocked.code, blocked.human_message, blocked.rule_ref, httpStatusOf(blocked)],
      ['POLICY_DENY', 'denied: stripe/payouts blocked by policy', 'recourse.yaml:10', 403],
    );
    assert.equal(denialOf(await by('finance', 'stripe/refund')).human_message, 'platform team only');
    successOf(await by('finance', 'stripe/payouts'));
    successOf(await by('support', 'stripe/refund'));
    const stranger = denialOf(await by('nobody', 'stripe/refund'));
    assert.deepEqual(
      [stranger.human_message, stranger.rule_ref, stranger.valid_next_actions],
      ['denied: stripe/refund is not in the allow list', 'recourse.yaml:4', []],
    );
  });

  test('[C1-policy-3] what an agent may never use is not listed to it, and is denied all the same', async (t) => {
    const tools = ['a/read', 'a/write', 'b/write'].map((name) => aTool(name, () => ({})));
    const gateway = await open(t, tools, [
      anAgent('local', [
        ['deny', 'b/**'],
        ['permit', '*/read'],
        ['permit', 'a/*', { when: 'args.sure' }],
        ['permit', 'b/write'],
      ]),
    ]);
    const reply = successOf(await gateway.call({ tool: 'a/read' }));
    assert.deepEqual(reply.valid_next_actions, ['a/read', 'a/write']);
    assert.equal(denialOf(await gateway.call({ tool: 'b/write' })).rule_ref, 'recourse.yaml:10');
    const unknown = errorOf(await gateway.call({ tool: 'b/writ' }), 'unknown_action');
    assert.deepEqual(unknown.known_actions, ['a/read', 'a/write']);
    assert.notEqual(unknown.did_you_mean, 'b/write', 'what is not listed is not suggested');
  });

  test('[C1-policy-3] what a rule says of the tool alone is known before any call', async (t) => {
    const tools = [aTool('look', () => ({}), { effect: 'pure' }), aTool('burn', () => ({}))];
    const gateway = await open(t, tools, [anAgent('local', [['permit', '**', { when: 'tool.effect == "pure"' }]])]);
    assert.deepEqual(successOf(await gateway.call({ tool: 'look' })).valid_next_actions, ['look']);
    denialOf(await gateway.call({ tool: 'burn' }));
  });

  test('[C9-broken-1] a missing field or an error denies, by the name of the rule, whatever it says', async (t) => {
    const gateway = await open(
      t,
      [aTool('pay', () => ({}))],
      [
        anAgent('local', [
          ['permit', 'pay', { when: 'args.amount < 5' }],
          ['permit', '**'],
        ]),
      ],
    );
    for (const args of [{}, { amount: 'many' }, { amount: null }]) {
      const denied = denialOf(await gateway.call({ tool: 'pay', args }));
      assert.equal(denied.rule_ref, 'recourse.yaml:10');
      assert.match(denied.human_message, /could not be evaluated/);
    }
  });

  test('[C9-broken-1] a division by zero and a text that is no number are errors', async (t) => {
    const said: readonly Said[] = [
      ['permit', 'ratio', { when: 'args.amount % args.parts != 1.0' }],
      ['permit', 'text', { when: 'int(args.limit) < 5' }],
    ];
    const tools = ['ratio', 'text'].map((name) => aTool(name, () => ({})));
    const gateway = await open(t, tools, [anAgent('local', said)]);
    for (const [tool, args] of [
      ['ratio', { amount: 10, parts: 0 }],
      ['text', { limit: '' }],
      ['text', { limit: '0b1' }],
    ] as const)
      assert.match(denialOf(await gateway.call({ tool, args })).human_message, /could not be evaluated/, tool);
    successOf(await gateway.call({ tool: 'ratio', args: { amount: 10, parts: 4 } }));
    successOf(await gateway.call({ tool: 'text', args: { limit: '4' } }));
  });

  test('[C9-broken-1] what stands beside an error does not make up for it; what is not reached is none', async (t) => {
    const said: readonly Said[] = [
      ['permit', 'either', { when: 'args.missing == 1 || args.ok == true' }],
      ['permit', 'guarded', { when: 'has(args.missing) && args.missing == 1 || args.ok == true' }],
    ];
    const tools = ['either', 'guarded'].map((name) => aTool(name, () => ({})));
    const gateway = await open(t, tools, [anAgent('local', said)]);
    assert.equal(denialOf(await gateway.call({ tool: 'either', args: { ok: true } })).rule_ref, 'recourse.yaml:10');
    successOf(await gateway.call({ tool: 'guarded', args: { ok: true } }));
  });

  test('[C1-policy-6] nothing reaches further than the mode of the agent', async (t) => {
    const look = aTool('look', () => ({}), { effect: 'pure' });
    const gateway = await open(
      t,
      [look, aTool('burn', () => ({}))],
      [anAgent('local', [['permit', '**']], { ceiling: { reach: 'network', ref: 'recourse.yaml:7' } })],
    );
    assert.deepEqual(successOf(await gateway.call({ tool: 'look' })).valid_next_actions, ['look']);
    assert.equal(denialOf(await gateway.call({ tool: 'burn' })).rule_ref, 'recourse.yaml:7');
  });

  test('[C1-policy-6] a session that is opened for less reaches no further, and cannot be made to', async (t) => {
    const look = aTool('look', () => ({}), { effect: 'pure' });
    const gateway = await openGateway(t, [look, aTool('burn', () => ({}))]);
    const session = await gateway.openSession({ mode: 'read_only' });
    assert.deepEqual(successOf(await gateway.call({ tool: 'look', session })).valid_next_actions, ['look']);
    const denied = denialOf(await gateway.call({ tool: 'burn', session }));
    assert.match(denied.human_message, /beyond what this session may reach \(read_only\)/);
    const [handle] = session.split('~');
    for (const forged of [handle, `${handle}~destructive`])
      errorOf(await gateway.call({ tool: 'burn', session: forged ?? '' }), 'session_error');
    await assert.rejects(gateway.openSession({ mode: 'readonly' as never }), /mode must be one of/);
  });

  test('[C1-model-1] [S002-model-1] only a model that the policy names may act', async (t) => {
    const models = { allow: ['claude-*'], ref: 'recourse.yaml:8' };
    const gateway = await open(t, [aTool('pay', () => ({}))], [anAgent('local', [['permit', '**']], { models })]);
    successOf(await gateway.handle({ tool: 'pay', args: {}, model: 'claude-5' }));
    const denied = errorOf(await gateway.handle({ tool: 'pay', args: {}, model: 'gpt-3.5-turbo' }), 'denied');
    assert.deepEqual(
      [denied.code, denied.human_message, denied.resolution],
      [
        'MODEL_DENIED',
        "denied: model 'gpt-3.5-turbo' is not permitted",
        { type: 'rule_block', rule_id: 'model_policy' },
      ],
    );
    assert.equal(
      errorOf(await gateway.call({ tool: 'pay' }), 'denied').code,
      'MODEL_DENIED',
      'nor one that says nothing',
    );
  });
});

describe('the record', () => {
  test('[C4-deny-2] [C8-policy-1] a denial reaches nothing, takes no key, and names rule and policy', async (t) => {
    const pay = createCountingTool('pay');
    const said: readonly Said[] = [['permit', 'pay', { when: 'args.ok == true' }]];
    const gateway = await open(t, [pay.definition], [anAgent('local', said)]);
    const denied = denialOf(await gateway.call({ tool: 'pay', args: { ok: false }, key: 'k' }));
    successOf(await gateway.call({ tool: 'pay', args: { ok: true }, key: 'k' }));
    assert.equal(pay.runs(), 1);
    const [refused] = await gateway.records(denied.call_id);
    const body = JSON.parse(refused?.body ?? '{}') as Record<string, unknown>;
    assert.deepEqual([body['gate'], body['code'], body['rule']], ['policy', 'POLICY_DENY', 'recourse.yaml:5']);
    assert.match(String(body['policy']), /^[0-9a-f]{64}$/);
  });

  test('[C8-redact-1] what is masked is written and shown nowhere, and the tool gets it', async (t) => {
    const seen: unknown[] = [];
    const pay = aTool(
      'pay',
      (args) => {
        seen.push(args);
        return { receipt: 'r1', card: { number: '4000-secret-1' } };
      },
      {
        input: { type: 'object', properties: { card: { type: 'object', properties: { number: { type: 'string' } } } } },
      },
    );
    const redact = ['args.card.number', 'result.**.number'];
    const gateway = await open(t, [pay], [anAgent('local', [['permit', '**']], { redact })]);
    const reply = successOf(await gateway.call({ tool: 'pay', args: { card: { number: '4000-secret-2' } } }));
    assert.deepEqual(seen, [{ card: { number: '4000-secret-2' } }]);
    assert.deepEqual(reply.result, { receipt: 'r1', card: { number: '[redacted]' } });
    const wrong = errorOf(
      await gateway.call({ tool: 'pay', args: { card: { number: 4_000_777 } } }),
      'validation_failed',
    );
    assert.deepEqual([wrong.details.got, wrong.errors[0]?.got], ['[redacted]', '[redacted]']);
    for (const id of [reply.call_id, wrong.call_id])
      assert.ok(!/secret|4000777/.test(JSON.stringify(await gateway.records(id))), id);
  });
});
