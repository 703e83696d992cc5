/** `issue_reversal` of the playbook: what is proven to have happened is settled and undone; nothing else is. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { errorOf } from '../../support/check-reply.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { bookingTools, noBookings } from '../../support/reversals/bookings.ts';

const playbook = { server_error_5xx: { issue_reversal: { reason: 'undo what broke' } } } as const;

async function open(t: TestContext, more: Parameters<typeof bookingTools>[1] = {}) {
  const ledger = noBookings();
  const gateway = await openGateway(t, bookingTools(ledger, more), { playbook });
  const book = async (key = 'k') =>
    errorOf(await gateway.call({ tool: 'book', args: { id: 'a' }, key }), 'action_error');
  const kinds = async (call: string) => (await gateway.records(call)).map(({ kind }) => kind);
  return { gateway, ledger, book, kinds };
}

describe('issue_reversal', () => {
  test('[C5-reversal-1] [S003-dispatch-6] settles a call that the read finds, and undoes it: outcome reversed', async (t) => {
    const { gateway, ledger, book, kinds } = await open(t);
    ledger.book = 'unsaid';
    const reply = await book();
    assert.deepEqual([reply.outcome, reply.effect], [{ kind: 'reversed', reason: 'undo what broke' }, 'applied']);
    assert.deepEqual([ledger.done, [...ledger.booked]], [['book a', 'cancel a'], []]);
    assert.equal((await gateway.stored(reply.call_id)).state, 'SUCCEEDED');
    const told = await kinds(reply.call_id);
    assert.ok(told.includes('reversal_ordered') && told.includes('reversal_redeemed'), String(told));
    assert.deepEqual(await gateway.tickets.list({ state: 'open' }), []);
    const again = await book();
    assert.deepEqual([again.outcome?.kind, again.replayed], ['reversed', true]);
  });

  test('[C5-reversal-2] refuses what is not proven: an event, a ticket, outcome exhausted', async (t) => {
    const { gateway, ledger, book, kinds } = await open(t, { book: { effect: 'plain', reconcile: undefined } });
    ledger.book = 'unsaid';
    const reply = await book();
    assert.deepEqual([reply.outcome?.kind, reply.effect], ['exhausted', 'unknown']);
    assert.deepEqual(ledger.done, ['book a']);
    assert.ok((await kinds(reply.call_id)).includes('reversal_refused'));
    const reasons = (await gateway.tickets.list({ state: 'open' })).map(({ reason }) => reason);
    assert.ok(reasons.includes('reversal_refused'), String(reasons));
  });

  test('[C5-reversal-3] whose reversal does nothing tells so: outcome exhausted, with a ticket', async (t) => {
    const { gateway, ledger, book, kinds } = await open(t);
    ledger.book = 'unsaid';
    ledger.cancel = 'refuse';
    const reply = await book();
    assert.equal(reply.outcome?.kind, 'exhausted');
    assert.deepEqual(ledger.done, ['book a']);
    assert.ok((await kinds(reply.call_id)).includes('reversal_refused'));
    assert.equal((await gateway.tickets.list({ state: 'open' })).length, 1);
    assert.equal((await book()).outcome?.kind, 'exhausted');
  });
});
