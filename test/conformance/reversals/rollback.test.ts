/** A session is rolled back: the last call first, past what cannot be undone, and never twice. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { booked, type Bookings, bookingTools, noBookings } from '../../support/reversals/bookings.ts';
import { createShiftedClock } from '../../support/shifted-clock.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';

const asked = { by: 'ann', reason: 'the trip is off' } as const;

async function open(
  t: TestContext,
  ledger: Bookings = noBookings(),
  options: OpenOptions = {},
  more: Parameters<typeof bookingTools>[1] = {},
) {
  const gateway = await openGateway(t, bookingTools(ledger, more), options);
  const session = await gateway.openSession();
  const rollBack = async () => {
    const view = await gateway.reversals.rollBack(session, asked);
    assert.ok(view !== null);
    return view;
  };
  return { gateway, ledger, session, rollBack };
}

const outcomes = (view: { steps: readonly { tool: string; outcome: string }[] }) =>
  view.steps.map(({ tool, outcome }) => `${tool} ${outcome}`);

describe('a rollback', () => {
  test('[C6-rollback-1] undoes the calls of the session, the last first, and lists what it could not', async (t) => {
    const { gateway, ledger, session, rollBack } = await open(t);
    await booked(gateway, 'a', { session });
    successOf(await gateway.call({ tool: 'find', args: { id: 'a' }, session }));
    await booked(gateway, 'b', { session });
    successOf(await gateway.call({ tool: 'note', args: { id: 'n' }, session }));
    await booked(gateway, 'elsewhere');
    await booked(gateway, 'c', { session });
    const view = await rollBack();
    assert.deepEqual(ledger.done.slice(5), ['cancel c', 'cancel b', 'cancel a']);
    assert.deepEqual(outcomes(view), [
      'book reversed',
      'note no_reversal',
      'book reversed',
      'find nothing_to_undo',
      'book reversed',
    ]);
    assert.deepEqual([view.state, view.left, view.by, view.reason], ['finished', 1, 'ann', 'the trip is off']);
  });

  test('[C6-rollback-2] goes on past a reversal that fails, with an event and a ticket', async (t) => {
    const { gateway, ledger, session, rollBack } = await open(t);
    await booked(gateway, 'a', { session });
    const b = await booked(gateway, 'b', { session });
    ledger.cancel = 'refuse';
    const first = gateway.reversals.rollBack(session, { ...asked, wait_seconds: 0 });
    await first;
    const view = await rollBack();
    assert.deepEqual(outcomes(view), ['book failed', 'book failed']);
    assert.equal(view.left, 2);
    const tickets = await gateway.tickets.list({ state: 'open' });
    assert.deepEqual(
      tickets.map(({ reason }) => reason),
      ['reversal_refused', 'reversal_refused'],
    );
    const kinds = (await gateway.records(b.call)).map(({ kind }) => kind);
    assert.ok(kinds.includes('reversal_refused') && kinds.includes('rollback_step'), String(kinds));
    ledger.cancel = 'answer';
    const again = await rollBack();
    assert.deepEqual([outcomes(again), [...ledger.booked]], [['book reversed', 'book reversed'], []]);
  });

  test('[C6-rollback-3] started twice is the same one, and its session takes no new call', async (t) => {
    const { gateway, ledger, session, rollBack } = await open(t);
    await booked(gateway, 'a', { session });
    const [one, other] = await Promise.all([rollBack(), rollBack()]);
    assert.deepEqual([outcomes(one), outcomes(other)], [['book reversed'], ['book reversed']]);
    assert.deepEqual(ledger.done, ['book a', 'cancel a']);
    const refused = await gateway.call({ tool: 'book', args: { id: 'b' }, session });
    assert.equal(errorOf(refused, 'session_error').code, 'UnknownSession');
    successOf(await gateway.call({ tool: 'book', args: { id: 'b' } }));
  });

  test('[C6-rollback-3] of the standing session leaves its agent a new one', async (t) => {
    const { gateway, ledger } = await open(t);
    const { session } = await booked(gateway, 'a');
    const view = await gateway.reversals.rollBack(session, asked);
    assert.equal(view?.left, 0);
    const next = await booked(gateway, 'b');
    assert.notEqual(next.session, session);
    assert.deepEqual(ledger.done, ['book a', 'cancel a', 'book b']);
  });

  test('[C6-rollback-4] a call in doubt that the read finds is settled and undone', async (t) => {
    const { gateway, ledger, session, rollBack } = await open(t, noBookings(), {}, { book: { timeout_seconds: 0.05 } });
    ledger.book = 'lose';
    errorOf(await gateway.call({ tool: 'book', args: { id: 'a' }, session }), 'action_timeout');
    const view = await rollBack();
    assert.deepEqual([outcomes(view), ledger.done], [['book reversed'], ['book a', 'cancel a']]);
  });

  test('[C6-rollback-5] a call in doubt is listed, and undone once it is settled as a success', async (t) => {
    const { gateway, ledger, session, rollBack } = await open(
      t,
      noBookings(),
      {},
      {
        book: { timeout_seconds: 0.05, effect: 'plain', reconcile: undefined },
      },
    );
    ledger.book = 'lose';
    const { call_id: id } = errorOf(await gateway.call({ tool: 'book', args: { id: 'a' }, session }), 'action_timeout');
    assert.deepEqual(outcomes(await rollBack()), ['book in_doubt']);
    assert.equal(await gateway.settle(id, { happened: 'yes', by: 'ann', result: { booking: 'b-a' } }), 'settled');
    await eventually('the late success is undone', async () => ledger.done.includes('cancel a'));
    assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  });

  test('[C6-rollback-6] a reversal that is in doubt is listed as such, and not tried again', async (t) => {
    const { gateway, ledger, session, rollBack } = await open(
      t,
      noBookings(),
      {},
      { cancel: { timeout_seconds: 0.05 } },
    );
    await booked(gateway, 'a', { session });
    await booked(gateway, 'b', { session });
    ledger.cancel = 'lose';
    assert.deepEqual(outcomes(await rollBack()), ['book unknown', 'book unknown']);
    assert.deepEqual(outcomes(await rollBack()), ['book unknown', 'book unknown']);
    assert.deepEqual(ledger.done, ['book a', 'book b', 'cancel b', 'cancel a']);
  });

  test('[C6-rollback-7] what is too old, or what policy denies now, is listed with why', async (t) => {
    const clock = createShiftedClock();
    const rules = { now: aPolicy([anAgent('local', [['permit', '**']])]) };
    const { gateway, ledger, session, rollBack } = await open(
      t,
      noBookings(),
      {
        clock,
        policy: rules.now,
      },
      { window_seconds: 60 },
    );
    await booked(gateway, 'a', { session });
    clock.pass(61_000);
    await booked(gateway, 'b', { session });
    const view = await rollBack();
    assert.deepEqual(outcomes(view), ['book reversed', 'book expired']);
    assert.deepEqual(ledger.done, ['book a', 'book b', 'cancel b']);
  });
});
