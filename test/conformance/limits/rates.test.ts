/** CONTRACT sections 1 (gate 10) and 4 for rate limits, on a real store and a clock that the test moves. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { httpStatusOf } from '../../../src/index.ts';
import type { WrittenLimit } from '../../../src/core/rate/rate-limit.ts';
import { anAgent } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { ana, openApprovals } from '../../support/open-approvals.ts';
import { createCountingTool } from '../../support/tools.ts';
import { aLimit } from '../../support/limits/written-quotas.ts';

const charge = { tool: 'stripe/charge', args: {} };

async function limited(
  t: TestContext,
  limits: readonly WrittenLimit[],
  more: Partial<Parameters<typeof openApprovals>[2]> = {},
) {
  const tool = createCountingTool('stripe/charge');
  const clock = createManualClock();
  const agents = ['local', 'other'].map((name) => anAgent(name, [['permit', '**']], { limits }));
  return { tool, clock, ...(await openApprovals(t, [tool.definition], { agents, clock, ...more })) };
}

const waitOf = (reply: unknown): number => {
  const { code, resolution } = errorOf(reply as never, 'denied');
  assert.equal(code, 'RATE_EXCEEDED');
  assert.ok(resolution.type === 'retry_after');
  return resolution.retry_after_seconds;
};

describe('a rate limit', () => {
  test('[C4-rate-1] is RATE_EXCEEDED in the form of the seed, 429, with the true wait, rounded up; nothing runs', async (t) => {
    const { call, clock, tool } = await limited(t, [aLimit('stripe/charge', '10/minute')]);
    for (let made = 0; made < 10; made++) successOf(await call(charge));
    clock.forward(100);
    const denied = errorOf(await call(charge), 'denied');
    const { code, human_message, message, resolution, effect } = denied;
    assert.deepEqual(
      { code, human_message, message, resolution, effect, status: httpStatusOf(denied) },
      {
        code: 'RATE_EXCEEDED',
        human_message: 'denied: stripe/charge rate limit (10/minute) exceeded',
        message: 'denied: stripe/charge rate limit (10/minute) exceeded',
        resolution: { type: 'retry_after', retry_after_seconds: 6 },
        effect: 'none',
        status: 429,
      },
    );
    assert.equal(tool.runs(), 10);
    clock.forward(5_899);
    assert.equal(waitOf(await call(charge)), 1);
    clock.forward(1);
    successOf(await call(charge));
    assert.equal(waitOf(await call(charge)), 6);
  });

  test('[C4-rate-2] says the wait of the slowest of several', async (t) => {
    const { call, clock } = await limited(t, [aLimit('stripe/*', '2/minute'), aLimit('**', '3/hour')]);
    for (let made = 0; made < 2; made++) successOf(await call(charge));
    assert.equal(waitOf(await call(charge)), 30);
    clock.forward(30_000);
    successOf(await call(charge));
    // The minute has a token again after 30 s, the hour after twenty minutes since the first.
    assert.equal(waitOf(await call(charge)), 20 * 60 - 30);
  });

  test('[C4-rate-3] counts for each agent and each pattern; one of the tenant for all agents together', async (t) => {
    const own = await limited(t, [aLimit('stripe/*', '1/minute')]);
    successOf(await own.call(charge));
    waitOf(await own.call(charge));
    successOf(await own.call(charge, { agent: 'other' }));
    await own.close();
    const shared = await limited(t, [], { shared: { limits: [aLimit('**', '1/hour')] } });
    successOf(await shared.call(charge));
    waitOf(await shared.call(charge, { agent: 'other' }));
    successOf(await shared.call(charge, { agent: 'other', tenant: 'elsewhere' }));
  });

  test('[C4-rate-4] survives a restart', async (t) => {
    const first = await limited(t, [aLimit('**', '2/hour')]);
    for (let made = 0; made < 2; made++) successOf(await first.call(charge));
    await first.close();
    const second = await limited(t, [aLimit('**', '2/hour')]);
    assert.equal(waitOf(await second.call(charge)), 1_800);
  });

  test('[C4-rate-5] takes nothing for a refusal, nor for a reply that is told again', async (t) => {
    const { call } = await limited(t, [aLimit('**', '2/hour')]);
    errorOf(await call({ tool: 'stripe/nothing', args: {} }), 'unknown_action');
    successOf(await call({ ...charge, key: 'k' }));
    for (let asked = 0; asked < 3; asked++) assert.equal(successOf(await call({ ...charge, key: 'k' })).replayed, true);
    successOf(await call(charge));
    for (let asked = 0; asked < 3; asked++) assert.equal(waitOf(await call(charge)), 1_800);
  });

  test('[C4-rate-6] of a hundred at once exactly as many run as there are tokens', async (t) => {
    const { call, tool } = await limited(t, [aLimit('**', '7/hour')]);
    const replies = await Promise.all(Array.from({ length: 100 }, () => call(charge)));
    assert.equal(replies.filter((reply) => !('error' in reply)).length, 7);
    assert.equal(tool.runs(), 7);
  });

  test('[C9-audit-4] is only told in audit mode', async (t) => {
    const { call, tool } = await limited(t, [aLimit('**', '1/hour')], { mode: 'audit' });
    for (let made = 0; made < 3; made++) successOf(await call(charge));
    assert.equal(tool.runs(), 3);
  });

  test('[C6-approval-20] keeps an approved call waiting, and takes one token for it', async (t) => {
    const tool = createCountingTool('stripe/charge');
    const clock = createManualClock();
    const limits = [aLimit('**', '1/minute')];
    const agents = [
      anAgent(
        'local',
        [
          ['defer', 'stripe/**'],
          ['permit', '**'],
        ],
        { limits },
      ),
    ];
    const free = createCountingTool('free');
    const { call, approvals } = await openApprovals(t, [tool.definition, free.definition], { agents, clock });
    const held = errorOf(await call(charge), 'denied');
    assert.ok(held.resolution.type === 'pending_approval');
    const id = held.resolution.approval_id;
    assert.ok((await approvals.approve(id, ana, {})).ok);
    successOf(await call({ tool: 'free', args: {} }));
    assert.equal(waitOf(await call(charge)), 60);
    assert.equal((await approvals.read(id, { tenant: 'default', agent: null }))?.state, 'granted');
    clock.forward(60_000);
    successOf(await call(charge));
    assert.equal(tool.runs(), 1);
  });
});
