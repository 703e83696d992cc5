/** A reversal is a governed call: rules about its tool count, and only its token leads to it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { aPolicy, anAgent, denialOf, type Said } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { booked, bookingTools, noBookings } from '../../support/reversals/bookings.ts';

async function open(t: TestContext, rules: readonly Said[] | null, mode: 'enforce' | 'audit' = 'enforce') {
  const ledger = noBookings();
  const policy = rules === null ? {} : { policy: aPolicy([anAgent('local', rules)], mode) };
  return { ledger, gateway: await openGateway(t, bookingTools(ledger), policy) };
}

const direct = { tool: 'cancel', args: { id: 'a' } };

describe('the tool of a reversal', () => {
  test('[C6-reversal-8] called directly is denied without a policy, and not listed', async (t) => {
    const { gateway, ledger } = await open(t, null);
    const denied = denialOf(await gateway.call(direct));
    assert.match(denied.message, /only undoes calls of other tools/);
    assert.ok(!denied.valid_next_actions.includes('cancel'));
    assert.deepEqual(ledger.done, []);
  });

  const denying: readonly (readonly [string, readonly Said[]])[] = [
    ['a pattern', [['permit', '**']]],
    ['a pattern of its own segment', [['permit', 'canc*']]],
    ['a rule about another tool', [['permit', 'book']]],
    ['a rule that denies it by its name', [['deny', 'cancel']]],
  ];
  for (const [what, rules] of denying)
    test(`[C6-reversal-8] called directly is denied under ${what}`, async (t) => {
      const { gateway, ledger } = await open(t, rules);
      denialOf(await gateway.call(direct));
      assert.deepEqual(ledger.done, []);
    });

  test('[C6-reversal-8] called directly runs under a rule with its exact name', async (t) => {
    const { gateway, ledger } = await open(t, [['permit', 'cancel']]);
    successOf(await gateway.call(direct));
    assert.deepEqual(ledger.done, ['cancel a']);
  });

  test('[C6-reversal-9] is reached by the token although the default would deny it', async (t) => {
    const { gateway, ledger } = await open(t, [['permit', 'book']]);
    const { token } = await booked(gateway, 'a');
    successOf(await gateway.reversals.redeem(token));
    assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  });

  test('[C6-reversal-9] is not reached past a rule that denies it: an event, a ticket, outcome exhausted', async (t) => {
    const { gateway, ledger } = await open(t, [
      ['permit', 'book'],
      ['deny', 'cancel'],
    ]);
    const { call, token } = await booked(gateway, 'a');
    denialOf(await gateway.reversals.redeem(token));
    const reply = errorOf((await gateway.reversals.reverse(call, { by: 'ann' })) as never, 'action_error');
    assert.deepEqual([reply.outcome?.kind, reply.resolution.type, reply.effect], ['exhausted', 'escalated', 'none']);
    const [ticket] = await gateway.tickets.list({ state: 'open' });
    assert.deepEqual([ticket?.reason, ticket?.queue, ticket?.call_id], ['reversal_refused', 'reversals', call]);
    assert.deepEqual(ledger.done, ['book a']);
  });

  test('[C6-reversal-9] waits for a person where a rule defers it, and then runs once', async (t) => {
    const { gateway, ledger } = await open(t, [
      ['permit', 'book'],
      ['defer', 'cancel'],
    ]);
    const { token } = await booked(gateway, 'a');
    const held = errorOf(await gateway.reversals.redeem(token), 'denied');
    assert.equal(held.code, 'POLICY_DEFER');
    assert.ok(held.resolution.type === 'pending_approval');
    await gateway.approvals.approve(held.resolution.approval_id, { by: 'ann' });
    successOf(await gateway.reversals.redeem(token));
    assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  });

  test('[C6-reversal-10] nobody but the gateway uses the keys of reversals', async (t) => {
    const { gateway, ledger } = await open(t, null);
    const { call } = await booked(gateway, 'a');
    const refused = errorOf(
      await gateway.call({ tool: 'note', args: { id: 'n' }, key: `rev:${call}` }),
      'validation_failed',
    );
    assert.equal(refused.errors[0]?.path, '/key');
    assert.deepEqual(ledger.done, ['book a']);
  });
});
