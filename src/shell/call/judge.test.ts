/** Phase 2: what the gates let pass, and how a call ends that they do not. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { anAgent } from '../../../test/support/a-policy.ts';
import {
  againOf,
  anAsked,
  approvedRefund,
  codeOf,
  judged,
  openShell,
  openUnadopted,
  permitAll,
  replyOf,
} from '../../../test/support/an-asked.ts';
import { successOf } from '../../../test/support/check-reply.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { ask, deferralOf, refunds } from '../../../test/support/refunds.ts';
import { createCountingTool } from '../../../test/support/tools.ts';
import { judge } from './judge.ts';

const isNew = { kind: 'new' } as const;

async function open(t: TestContext) {
  const refund = createCountingTool('payments/refund');
  const clock = createManualClock();
  const rules = refunds({ expiresMs: 60_000 });
  return { ...(await openShell(t, [refund.definition], { agents: [rules], clock })), clock, refund };
}

test('a permitted call goes on with its session, its effect class and the policy', async (t) => {
  const read = createCountingTool('read', { effect: 'pure' });
  const { shell } = await openShell(t, [read.definition]);
  const asked = anAsked(shell, { tool: 'read', args: { n: 1 } });
  const { call, session, policy, decision, step } = await judged(asked, shell);
  assert.deepEqual(call, { ...asked.call, session, effectClass: 'pure' });
  assert.equal(policy, shell.policy());
  assert.deepEqual([decision.args, step, read.runs()], [{ n: 1 }, null, 0]);
});

const refusals: readonly (readonly [string, string, string])[] = [
  ['a tool that is not declared is refused', 'fly', 'UnknownAction'],
  ['a tool that no rule permits is refused', 'read', 'POLICY_DENY'],
];

for (const [name, tool, code] of refusals)
  test(name, async (t) => {
    const { definition, runs } = createCountingTool('read');
    const { shell } = await openShell(t, [definition], { agents: [anAgent('local', [['permit', 'other']])] });
    const asked = anAsked(shell, { tool });
    assert.equal(codeOf(await judge(asked, isNew, null, shell)), code);
    assert.equal(runs(), 0);
    assert.equal((await shell.ports.store.call(asked.call.id))?.state, 'DENIED');
  });

test('a call that a person must decide is held, and waits on record', async (t) => {
  const { shell } = await open(t);
  const asked = anAsked(shell, ask);
  deferralOf(replyOf(await judge(asked, isNew, null, shell)));
  assert.equal((await shell.ports.store.call(asked.call.id))?.state, 'AWAITING_APPROVAL');
});

test('a policy that is replaced while facts are fetched decides nothing: the call is judged again', async (t) => {
  const { shell, change } = await openShell(t, [], { agents: [anAgent('local', [])] });
  const asked = anAsked(shell, { tool: 'read' });
  const judging = judge(asked, isNew, null, shell);
  change({ agents: [permitAll] });
  assert.equal(againOf(await judging), asked);
  assert.equal(await shell.ports.store.call(asked.call.id), null);
});

test('arguments of an approver whose approval expired are not held: the call is judged again as it was sent', async (t) => {
  const opened = await open(t);
  const { shell, clock } = opened;
  const { approval } = await approvedRefund(opened, { amount: 50 });
  const own = anAsked(shell, ask);
  const asked = anAsked(shell, { ...ask, args: { amount: 50 } }, { under: approval, own });
  clock.forward(60_000);
  assert.equal(againOf(await judge(asked, isNew, null, shell)), own);
  assert.equal((await shell.ports.store.approval(approval.id))?.state, 'expired');
});

test('what nobody asks for runs under its own approval or not at all', async (t) => {
  const opened = await open(t);
  const { shell, change } = opened;
  const { approval: only } = await approvedRefund(opened);
  assert.equal((await judged(anAsked(shell, ask, { only }), shell)).decision.kind, 'run');
  change({ agents: [permitAll] });
  assert.equal(codeOf(await judge(anAsked(shell, ask, { only }), isNew, null, shell)), 'POLICY_DENY');
});

test('a key whose step happened is answered with the state of now, also when the gates refuse the step', async (t) => {
  const { shell, raw, change, earlier } = await openUnadopted(t, 'k');
  const asked = anAsked(shell, { ...raw, key: 'k' });
  const stored = await shell.ports.store.reply(earlier as never);
  assert.ok(stored.kind === 'text');
  change({ agents: [anAgent('local', [])] });
  const admission = { kind: 'unadopted', reply: JSON.parse(stored.text) } as const;
  const { call_id: id, seq } = successOf(replyOf(await judge(asked, admission, null, shell)));
  assert.deepEqual([id, seq], [earlier, 0]);
});
