/** A call is undone by the token of its success: once, in time, by its own agent, and in no other way. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { isSuccess } from '../../../src/core/call/reply.ts';
import type { Reply } from '../../../src/index.ts';
import { denialOf } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { folderOf, openGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { booked, bookingTools, noBookings } from '../../support/reversals/bookings.ts';
import { createShiftedClock } from '../../support/shifted-clock.ts';

async function open(t: TestContext, options: OpenOptions = {}, more: Parameters<typeof bookingTools>[1] = {}) {
  const ledger = noBookings();
  const gateway = await openGateway(t, bookingTools(ledger, more), options);
  const refusals = async (call: string) =>
    (await gateway.records(call))
      .filter(({ kind }) => kind === 'reversal_refused')
      .map(({ body }) => (JSON.parse(body) as { reason: string }).reason);
  return { gateway, ledger, refusals };
}

describe('a reversal token', () => {
  test('[C6-reversal-1] [S003-reversal-3] comes with the success, and only there', async (t) => {
    const { gateway, ledger } = await open(t);
    assert.match((await booked(gateway, 'a')).token, /^rev_/);
    assert.equal(successOf(await gateway.call({ tool: 'note', args: { id: 'n' } })).reversal_token, undefined);
    assert.equal(successOf(await gateway.call({ tool: 'find', args: { id: 'a' } })).reversal_token, undefined);
    ledger.book = 'refuse';
    const refused = await gateway.call({ tool: 'book', args: { id: 'b' } });
    assert.ok(!isSuccess(refused) && !('reversal_token' in refused));
  });

  test('[C6-reversal-2] a repeated reply has the same token, not a second one', async (t) => {
    const { gateway } = await open(t);
    const first = await booked(gateway, 'a', { key: 'k' });
    const again = successOf(await gateway.call({ tool: 'book', args: { id: 'a' }, key: 'k' }));
    assert.deepEqual([again.replayed, again.reversal_token], [true, first.token]);
  });

  test('[C6-reversal-3] redeemed, it undoes the call by what was sent and what came back', async (t) => {
    const { gateway, ledger } = await open(t);
    const { call, token } = await booked(gateway, 'a');
    const undone = successOf(await gateway.reversals.redeem(token));
    assert.deepEqual([undone.action, ledger.done, [...ledger.booked]], ['cancel', ['book a', 'cancel a'], []]);
    const stored = await gateway.stored(undone.call_id);
    assert.deepEqual([stored.key, stored.state, stored.agent], [`rev:${call}`, 'SUCCEEDED', 'local']);
    const prepared = (await gateway.records(undone.call_id)).find(({ kind }) => kind === 'prepared');
    assert.equal((JSON.parse(prepared?.body ?? '{}') as { reverses?: string }).reverses, call);
    const own = (await gateway.records(call)).find(({ kind }) => kind === 'reversal_redeemed');
    assert.equal((JSON.parse(own?.body ?? '{}') as { by?: string }).by, undone.call_id);
  });

  test('[C6-reversal-4] that was used is refused: on record, and nothing is sent', async (t) => {
    const { gateway, ledger, refusals } = await open(t);
    const { call, token } = await booked(gateway, 'a');
    successOf(await gateway.reversals.redeem(token));
    await new Promise((resolve) => setImmediate(resolve));
    const again = denialOf(await later(() => gateway.reversals.redeem(token)));
    assert.match(again.human_message, /^denied: reversal refused: the call was undone already/);
    assert.deepEqual([ledger.done, await refusals(call)], [['book a', 'cancel a'], ['redeemed']]);
  });

  test('[C6-reversal-4] of another agent is refused: on record, and nothing is sent', async (t) => {
    const { gateway, ledger, refusals } = await open(t);
    const { call, token } = await booked(gateway, 'a');
    denialOf(await gateway.reversals.redeem(token, { agent: 'eve' }));
    assert.deepEqual([ledger.done, await refusals(call)], [['book a'], ['foreign']]);
  });

  test('[C6-reversal-4] whose time is over is refused: on record, and nothing is sent', async (t) => {
    const clock = createShiftedClock();
    const { gateway, ledger, refusals } = await open(t, { clock }, { window_seconds: 60 });
    const { call, token } = await booked(gateway, 'a');
    clock.pass(60_001);
    denialOf(await gateway.reversals.redeem(token));
    assert.deepEqual([ledger.done, await refusals(call)], [['book a'], ['expired']]);
  });

  test('[C6-reversal-4] [S003-reversal-1] that nobody issued, or of another tenant, is refused without a word about it', async (t) => {
    const { gateway, ledger, refusals } = await open(t);
    const { call, token } = await booked(gateway, 'a');
    for (const [asked, who] of [
      ['rev_nobody', {}],
      ['', {}],
      [token, { tenant: 'other' }],
    ] as const) {
      const denied = denialOf(await gateway.reversals.redeem(asked, who));
      assert.equal(denied.human_message, 'denied: reversal refused: there is no such token');
      const event = (await gateway.records(denied.call_id)).find(({ kind }) => kind === 'reversal_refused');
      assert.equal((JSON.parse(event?.body ?? '{}') as { reason?: string }).reason, 'unknown');
    }
    assert.deepEqual([ledger.done, await refusals(call)], [['book a'], []]);
  });

  test('[C6-reversal-5] a thousand who redeem it at once get one effect and its result', async (t) => {
    const ledger = noBookings();
    const file = `${folderOf(t)}/recourse.db`;
    const owner = await openGateway(t, bookingTools(ledger), { file });
    const beside = await openGateway(t, bookingTools(ledger), { file });
    const { token } = await booked(owner, 'a');
    const both = [owner, beside];
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, (_, at) => both[at % 2]?.reversals.redeem(token) as Promise<Reply>),
    );
    const calls = new Set(replies.map((reply) => successOf(reply).call_id));
    assert.deepEqual([ledger.done, calls.size], [['book a', 'cancel a'], 1]);
    assert.equal(replies.filter((reply) => successOf(reply).replayed !== true).length, 1);
    assert.ok(replies.every((reply) => JSON.stringify(successOf(reply).result) === '{"booking":"b-a"}'));
  });

  test('[C6-reversal-6] whose reversing call did nothing is good for another', async (t) => {
    const { gateway, ledger } = await open(t);
    const { call, token } = await booked(gateway, 'a');
    ledger.cancel = 'refuse';
    assert.equal(errorOf(await gateway.reversals.redeem(token), 'action_error').effect, 'none');
    ledger.cancel = 'answer';
    const undone = successOf(await gateway.reversals.redeem(token));
    assert.equal((await gateway.stored(undone.call_id)).key, `rev:${call}:1`);
    assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  });

  test('[C6-reversal-7] whose reversing call may have done something stays used', async (t) => {
    const { gateway, ledger } = await open(t, {}, { cancel: { timeout_seconds: 0.05 } });
    const { token } = await booked(gateway, 'a');
    ledger.cancel = 'lose';
    const lost = errorOf(await gateway.reversals.redeem(token), 'action_timeout');
    assert.equal(lost.effect, 'unknown');
    ledger.cancel = 'answer';
    const again = await later(() => gateway.reversals.redeem(token));
    assert.ok('error' in again);
    assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  });
});

/** A millisecond of the store's clock later. */
async function later<Value>(ask: () => Promise<Value>): Promise<Value> {
  const until = Date.now() + 2;
  while (Date.now() <= until) await new Promise((resolve) => setImmediate(resolve));
  return ask();
}
