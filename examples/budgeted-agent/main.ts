/**
 * An agent spends to its ceiling: it is warned, deferred, allowed more by a person, denied, and goes on when the day is
 * over. What the shop was paid is what the budget says. Exits 1 if that is not what happens.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { createGateway, isRefusal, isSuccess, loadPolicy, type Reply, tool } from '../../src/index.ts';
import { createMovedClock } from './moved-clock.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'budgeted-agent-'));
const paid: number[] = [];
const buy = tool({
  name: 'buy',
  description: 'Buys something for so much.',
  input: z.object({ amount: z.number().positive() }),
  run: async ({ amount }) => {
    paid.push(amount);
    return { bought: amount };
  },
});
const sum = () => paid.reduce((total, amount) => total + amount, 0);

// Noon in Berlin, on the day on which summer time ends there: that day has 25 hours.
const clock = createMovedClock('2026-10-25T11:00:00Z');
const policy = await loadPolicy(path.join(import.meta.dirname, 'recourse.yaml'));
const gateway = await createGateway(
  { tools: [buy], file: path.join(folder, 'recourse.db'), agent: 'buyer', policy },
  { clock },
);

async function ask(amount: number): Promise<Reply> {
  const reply = await gateway.call({ tool: 'buy', args: { amount } });
  const told = isRefusal(reply) ? reply.message : (reply.notices?.[0]?.human_message ?? 'bought');
  console.log(`agent: buy for $${amount} → ${told}`);
  return reply;
}

/** The approval that a warning or a refusal names. */
function approvalIn(about: { readonly resolution: { readonly type: string } } | undefined): string {
  assert.ok(about !== undefined && 'approval_id' in about.resolution, 'an approval is named');
  return String(about.resolution.approval_id);
}

try {
  // 1. Most of the budget. The reply warns, and somebody is asked ahead.
  assert.ok(isSuccess(await ask(50)));
  const warned = await ask(40);
  assert.ok(isSuccess(warned) && warned.notices?.[0]?.code === 'BUDGET_WARNING');
  const id = approvalIn(warned.notices[0]);

  // 2. What does not fit is deferred, and nothing is paid. Many who ask at once share what is left, and no cent more.
  const deferred = await ask(25);
  assert.ok(isRefusal(deferred) && deferred.code === 'POLICY_DEFER');
  assert.equal(approvalIn(deferred), id, 'the approval that was asked for ahead');
  const crowd = await Promise.all(Array.from({ length: 20 }, () => gateway.call({ tool: 'buy', args: { amount: 1 } })));
  console.log(`agent: twenty times $1 at once → ${crowd.filter(isSuccess).length} bought`);
  assert.equal(crowd.filter(isSuccess).length, 10);
  assert.equal(sum(), 100);

  // 3. A person allows $30 more for the rest of the day; the agent spends that, and is denied.
  const approved = await gateway.approvals.approve(id, { by: 'ana' });
  assert.ok(approved.ok, JSON.stringify(approved));
  console.log(`ana:   approves ${JSON.stringify(approved.approval.args)}`);
  assert.ok(isSuccess(await ask(25)));
  assert.ok(isSuccess(await ask(5)));
  const denied = await ask(1);
  assert.ok(isRefusal(denied) && denied.code === 'BUDGET_EXCEEDED' && denied.resolution.type === 'budget_reset');
  assert.equal(sum(), 130);

  // 4. It is told when the day ends, and that is true to the second.
  const { resets_at: resetsAt } = denied.resolution;
  assert.equal(resetsAt, '2026-10-25T23:00:00Z', 'midnight in Berlin');
  clock.moveTo(Date.parse(resetsAt) - 1_000);
  const early = await ask(1);
  assert.ok(isRefusal(early) && early.code === 'BUDGET_EXCEEDED', 'a second before');
  clock.moveTo(Date.parse(resetsAt));
  assert.ok(isSuccess(await ask(60)), 'the next day');
  assert.deepEqual([paid.slice(0, -1).reduce((total, amount) => total + amount, 0), paid.at(-1)], [130, 60]);

  console.log('\n$100 of the budget and $30 that ana allowed; then a new day.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
}
