/** What rate limits and budgets cost in commits: nothing. Everything that they take and give back rides along. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { tool } from '../../../src/index.ts';
import type { WrittenAgent } from '../../../src/core/policy/policy.ts';
import { anAgent } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { aBudget, aLimit } from '../../support/limits/written-quotas.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openApprovals } from '../../support/open-approvals.ts';

type Quotas = Pick<WrittenAgent, 'limits' | 'budgets'>;

/** How many commits, of how many transitions, each of the calls makes: one that succeeds, fails, is lost, is refused. */
async function commitsOf(t: TestContext, quotas: Quotas) {
  const pay = tool({
    name: 'pay',
    input: {},
    run: async (given, ctx) => {
      const { says } = given as { readonly says?: string };
      if (says === 'none') ctx.fail({ kind: 'unknown', message: 'no', effect: 'none' });
      if (says === 'lost') ctx.fail({ kind: 'timeout', message: 'lost' });
      return null;
    },
  });
  const agents = [anAgent('local', [['permit', 'pay']], quotas)];
  const { call, shell, close } = await openApprovals(t, [pay], { agents, clock: createManualClock() });
  const { store } = shell.ports;
  const commit = store.commit.bind(store);
  let made: number[] = [];
  store.commit = (transitions) => {
    made.push(transitions.length);
    return commit(transitions);
  };
  const counted = async (args: object, check: (reply: Awaited<ReturnType<typeof call>>) => unknown) => {
    made = [];
    check(await call({ tool: 'pay', args: { amount: 5, ...args } }));
    return made;
  };
  // The first one carries what is recorded once: the policy, the tool.
  await counted({}, successOf);
  const counts = {
    succeeds: await counted({}, successOf),
    fails: await counted({ says: 'none' }, (reply) => errorOf(reply, 'action_error')),
    lost: await counted({ says: 'lost' }, (reply) => errorOf(reply, 'action_error')),
    refused: await counted({ amount: 'x' }, (reply) =>
      quotas.budgets === undefined ? null : errorOf(reply, 'denied'),
    ),
  };
  await close();
  return counts;
}

test('[C1-quota-1] a call with limits and budgets makes exactly the commits of one without', async (t) => {
  const budget = (name: string, more = {}) => aBudget('1000 USD', { name, cost: 'args.amount', ...more });
  const { refused: bareRefused, ...bare } = await commitsOf(t, {});
  const limits = [aLimit('pay', '600/minute'), aLimit('**', '100/second')];
  const several = [budget('daily'), budget('total', { window: 'total' }), budget('each', { window: 'session' })];
  const { refused, ...limited } = await commitsOf(t, { limits, budgets: several });
  assert.deepEqual(limited, bare);
  assert.deepEqual([refused, bareRefused.length], [[1], 2], 'a refusal is one commit, a call two');
  // A warning, and the approval that is asked for with it, ride along too.
  const warned = [budget('daily', { warnAt: 0.001, onExceed: 'defer' })];
  const { refused: _, ...asked } = await commitsOf(t, { budgets: warned });
  assert.deepEqual(asked, bare);
});
