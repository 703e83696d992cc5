/** CONTRACT section 8: wrapping keeps class and code, and the audit has the whole chain. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { mount, type Reply, tool, type ToolContext } from '../../../src/index.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { errorOf } from '../../support/check-reply.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { openWorkflow, refusal } from '../../support/open-workflow.ts';
import { aTool } from '../../support/tools.ts';

/** Needs nothing around it: it is shipped to workers as text. */
const wraps = async (_: unknown, ctx: ToolContext) => {
  try {
    ctx.fail('ToolTerminal', 'NotFound', 'no order 7', { effect: 'none', cause: new Error('row missing') });
  } catch (cause) {
    throw new Error('while refunding', { cause });
  }
};

const relays = async (_: unknown, ctx: ToolContext) => {
  const reply = await ctx.tools.call('inner');
  if ('error' in reply) throw new Error('while refunding', { cause: reply });
  return reply;
};

const toldBy = (reply: Reply) => {
  const { class: kind, code, effect, error_message: message } = errorOf(reply, 'action_error');
  return [kind, code, effect, message];
};

describe('a failure that a body wrapped', () => {
  const places = { 'in the gateway': {}, 'in a worker': { isolate: true } } as const;
  for (const [where, more] of Object.entries(places))
    test(`[C8-wrap-1] [C8-audit-1] [S001-wrap-1] ${where} keeps code and effect, and the audit has every cause`, async (t) => {
      const act = tool({ name: 'act', description: 'acts', input: {}, ...more, run: wraps });
      const gateway = await openGateway(t, [act]);
      const reply = errorOf(await gateway.call({ tool: 'act' }), 'action_error');
      assert.deepEqual(toldBy(reply), ['ToolTerminal', 'NotFound', 'none', 'while refunding: no order 7']);
      assert.ok(!JSON.stringify(reply).includes('row missing'));
      const settled = (await gateway.records(reply.call_id)).find(({ kind }) => kind === 'settled');
      const cause = settled?.payloads.find(({ part }) => part === 'cause')?.text ?? '';
      const order = ['while refunding', 'no order 7', 'row missing'].map((text) => cause.indexOf(text));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
      assert.ok(order.every((at) => at >= 0));
    });
});

describe('the failure of a tool that a body called', () => {
  const refuses = (effect: 'none' | 'unknown') =>
    aTool(
      'inner',
      (_, ctx) =>
        effect === 'none'
          ? ctx.fail({ kind: '429', message: 'slow down', retry_after_seconds: 7 })
          : ctx.fail({ kind: '5xx', message: 'bank closed' }),
      { retry: { retryable: false } },
    );

  test('[C8-wrap-2] keeps class, code and the time to wait', async (t) => {
    const gateway = await openGateway(t, [aTool('outer', relays, { effect: 'pure' }), refuses('none')]);
    const reply = errorOf(await gateway.call({ tool: 'outer' }), 'action_error');
    const message = "while refunding: action 'inner' failed: slow down";
    assert.deepEqual(toldBy(reply), ['ProviderTransient', 'RateLimited', 'none', message]);
    assert.deepEqual(reply.resolution, { type: 'retry_after', retry_after_seconds: 7 });
  });

  test('[C8-wrap-2] [C8-wrap-3] by policy keeps its code; the body itself may have done something', async (t) => {
    const policy = aPolicy([
      anAgent('local', [
        ['deny', 'inner'],
        ['permit', '**'],
      ]),
    ]);
    const gateway = await openGateway(t, [aTool('outer', relays), refuses('none')], { policy });
    const told = toldBy(await gateway.call({ tool: 'outer' }));
    assert.deepEqual(told.slice(0, 3), ['Governance', 'POLICY_DENY', 'unknown']);
  });

  test('[C8-wrap-3] whose effect is unknown makes that of the body unknown', async (t) => {
    const gateway = await openGateway(t, [aTool('outer', relays), refuses('unknown')]);
    const told = toldBy(await gateway.call({ tool: 'outer' }));
    assert.deepEqual(told.slice(0, 3), ['ProviderTransient', 'Provider5xx', 'unknown']);
  });

  test('[C8-wrap-2] [C8-wrap-3] thrown by a step proves that the step did not happen, unless it had an effect', async (t) => {
    const machine = createMachine({ id: 'w', initial: 'a', states: { a: { on: { go: 'a' } } } });
    const mounted = mount(machine, { actions: { go: { run: relays } } } as never);
    for (const [inner, effect, code] of [
      ['none', 'none', 'RateLimited'],
      ['unknown', 'unknown', 'Provider5xx'],
    ] as const) {
      const gateway = await openWorkflow(t, [mounted], { tools: [refuses(inner)] as never });
      const reply = refusal(await gateway.ask('go', {}, { session: await gateway.open() }), 'action_error');
      assert.deepEqual([reply.code, reply.effect], [code, effect]);
    }
  });
});
