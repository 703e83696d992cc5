/**
 * Seed 002's TypeScript handler, with the names of this package: against scripted replies, over real HTTP, in process,
 * and with the real door.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { governTools, httpTransport, localTools, ToolDeniedError, type Transport } from '../../../src/client/index.ts';
import { createScriptedTransport, permit, reply } from '../../../src/client/testing.ts';
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { createGateway } from '../../../src/index.ts';
import { folder } from '../../support/recourse-process.ts';
import { openHttp } from '../http/open-http.ts';
import { replying, startServer } from './answering-server.ts';
import { asTool, handler, type Handled, payloads, replyWith } from './seed-002-payloads.ts';

const refund = async (_args: object): Promise<unknown> => 'refunded';

/** What the handler makes of each code; null if it throws it on. */
const expected: Readonly<Record<keyof typeof payloads, Handled | null>> = {
  POLICY_DENY: null,
  POLICY_DEFER: ['queued', 'apr-9001'],
  RATE_EXCEEDED: ['asks again after', 43],
  BUDGET_EXCEEDED: null,
  DAEMON_NOT_READY: ['asks again after', 2],
  COMPLETION_BLOCKED: null,
  EGRESS_DENIED: null,
  MODEL_DENIED: null,
  CREDENTIAL_UNAVAILABLE: ['asks again after', 30],
};

/** Without waiting by itself, so that the handler sees every code. */
const toolOver = (transport: Transport) =>
  asTool(governTools({ refund }, { transport, names: { refund: 'stripe/refund' }, maxWaits: 0 }).refund);

async function handlesAsExpected(transport: Transport, code: keyof typeof payloads): Promise<void> {
  const handled = handler(toolOver(transport), { order: 'ord_1' });
  const outcome = expected[code];
  if (outcome !== null) return assert.deepEqual(await handled, outcome);
  await assert.rejects(handled, (error) => {
    assert.ok(error instanceof ToolDeniedError);
    const { human_message, ...payload } = payloads[code];
    assert.deepEqual([error.code, error.message, error.humanMessage], [payload.code, human_message, human_message]);
    assert.equal(error.ruleRef, 'rule_ref' in payload ? payload.rule_ref : null);
    return true;
  });
}

const eachCode = Object.keys(payloads) as (keyof typeof payloads)[];

describe('with scripted replies', () => {
  for (const code of eachCode)
    test(code, () =>
      handlesAsExpected(createScriptedTransport({ 'stripe/refund': reply(replyWith(payloads[code])) }), code),
    );
  test('a success', async () => {
    const tool = toolOver(createScriptedTransport({ 'stripe/refund': permit('refunded') }));
    assert.deepEqual(await handler(tool, {}), ['ran', 'refunded']);
  });
});

describe('with recorded replies over HTTP', () => {
  for (const code of eachCode)
    test(code, async (t) => {
      const { url } = await startServer(t, [replying(replyWith(payloads[code]))]);
      await handlesAsExpected(httpTransport({ url, key: 'rk_1' }), code);
    });
});

/** Permits what begins with stripe, but no payouts; the lines are those of the rules. */
function stripePolicy(agent: string): Policy {
  const rule = (effect: 'permit' | 'deny', match: string, line: number) => ({
    effect,
    match,
    when: null,
    reason: null,
    ref: `recourse.yaml:${line}`,
  });
  const rules = [rule('deny', 'stripe/payouts', 12), rule('permit', 'stripe/*', 13)];
  const written = {
    agent,
    ref: 'recourse.yaml:9',
    default: null,
    rules,
    ceiling: null,
    models: { allow: ['good-*'], ref: 'recourse.yaml:15' },
    redact: [],
  };
  const compiled = compilePolicy({ mode: 'enforce', ref: 'recourse.yaml:8', agents: [written] }, null);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.policy;
}

const payouts = async (_args: object): Promise<unknown> => assert.fail('a payout was made');
const tools = { refund, payouts };

async function denialOf(call: Promise<unknown>): Promise<ToolDeniedError> {
  const error: unknown = await call.then(
    () => assert.fail('it ran'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ToolDeniedError, String(error));
  return error;
}

async function deniedByPolicy(handled: Promise<unknown>): Promise<void> {
  const { code, humanMessage, ruleRef, resolution, effect } = await denialOf(handled);
  assert.deepEqual(
    [code, humanMessage, ruleRef, effect],
    ['POLICY_DENY', 'denied: stripe/payouts blocked by policy', 'recourse.yaml:12', 'none'],
  );
  assert.deepEqual(resolution, { type: 'rule_block', ruleId: 'recourse.yaml:12' });
}

describe('with a real gateway in this process', () => {
  async function open(t: TestContext) {
    const gateway = await createGateway({
      tools: localTools(tools, { prefix: 'stripe/' }),
      file: path.join(folder(t), 'recourse.db'),
      policy: stripePolicy('support'),
    });
    t.after(() => gateway.close({ drain_seconds: 0 }));
    const governed = governTools(tools, { gateway, agent: 'support', prefix: 'stripe/', model: 'good-1', maxWaits: 0 });
    return { gateway, governed };
  }

  test('what is permitted runs', async (t) => {
    const { governed } = await open(t);
    assert.deepEqual(await handler(asTool(governed.refund), {}), ['ran', 'refunded']);
  });

  test('POLICY_DENY', async (t) => {
    const { governed } = await open(t);
    await deniedByPolicy(handler(asTool(governed.payouts), {}));
  });

  test('MODEL_DENIED', async (t) => {
    const { gateway } = await open(t);
    const bad = governTools(tools, { gateway, agent: 'support', prefix: 'stripe/', model: 'bad-1' });
    assert.equal((await denialOf(bad.refund({}))).code, 'MODEL_DENIED');
  });

  test('DAEMON_NOT_READY', async (t) => {
    const { gateway, governed } = await open(t);
    const closing = gateway.close();
    assert.deepEqual(await handler(asTool(governed.refund), {}), ['asks again after', 2]);
    await closing;
  });
});

describe('with the real door', () => {
  async function open(t: TestContext) {
    const served = await openHttp(t, { tools: localTools(tools, { prefix: 'stripe/' }), policy: stripePolicy('bot') });
    const transport = httpTransport({ url: served.url.href, key: served.keys.agent });
    const governed = governTools(tools, { transport, prefix: 'stripe/', model: 'good-1' });
    return { ...served, governed };
  }

  test('what is permitted runs', async (t) => {
    const { governed } = await open(t);
    assert.deepEqual(await handler(asTool(governed.refund), {}), ['ran', 'refunded']);
  });

  test('POLICY_DENY', async (t) => {
    const { governed } = await open(t);
    await deniedByPolicy(handler(asTool(governed.payouts), {}));
  });

  test('DAEMON_NOT_READY is waited for, and then it runs', async (t) => {
    const { shell, server, governed } = await open(t);
    shell.live.readiness = { ready: false, doing: 'recovering', retryAfterSeconds: 0.2 };
    let requests = 0;
    server.on('request', (_request, response) => {
      requests += 1;
      response.on('finish', () => (shell.live.readiness = { ready: true }));
    });
    assert.equal(await governed.refund({}), 'refunded');
    assert.equal(requests, 2);
  });
});
