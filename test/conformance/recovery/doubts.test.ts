/** How a call in doubt is settled: by its declared read, by a person, and what it fences meanwhile. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { createShiftedClock } from '../../support/shifted-clock.ts';
import { aTool } from '../../support/tools.ts';

interface Ledger {
  readonly refunds: { order: string; amount: number }[];
  /** What the next refund does: answer, do it and hang, hang and do nothing, or say that its key is known. */
  next: 'answer' | 'lose' | 'nothing' | 'conflict';
}

const key = (args: { order: string }) => args.order;

/** A refund with a read that tells whether it happened, both on a ledger of their own. */
async function openRefunds(t: TestContext, ledger: Ledger, more: object = {}, options: OpenOptions = {}) {
  const find = aTool('find', ({ order }) => ledger.refunds.filter((each) => each.order === order), { effect: 'pure' });
  const refund = aTool(
    'refund',
    (args, { fail }) => {
      const done = args as { order: string; amount: number };
      if (ledger.next === 'conflict') return fail({ kind: '409_conflict', subject: 'completed', message: 'known' });
      if (ledger.next !== 'nothing') ledger.refunds.push(done);
      return ledger.next === 'answer' ? { refunded: done.amount } : new Promise(() => undefined);
    },
    {
      effect: 'probeable',
      timeout_seconds: 0.05,
      quarantine_seconds: 60,
      reconcile: {
        tool: 'find',
        args: ({ order }: { order: string }) => ({ order }),
        happened: (found: readonly unknown[]) => found.length > 0,
        result: (found: readonly { amount: number }[]) => ({ refunded: found[0]?.amount }),
      },
      operation_key: key as never,
      ...more,
    },
  );
  const gateway = await openGateway(t, [refund, find], options);
  const ask = (order = 'o1', more_: object = {}) =>
    gateway.call({ tool: 'refund', args: { order, amount: 5 }, ...more_ });
  const stateOf = async (id: string) => (await gateway.stored(id)).state;
  return { gateway, ask, stateOf };
}

describe('a doubt with a declared read', () => {
  test('[C6-doubt-1] is settled as done as soon as the read finds it', async (t) => {
    const clock = createShiftedClock();
    const ledger: Ledger = { refunds: [], next: 'lose' };
    const { gateway, ask, stateOf } = await openRefunds(t, ledger, {}, { clock });
    const { call_id: id, effect } = errorOf(await ask('o1', { key: 'k' }), 'action_timeout');
    assert.deepEqual([effect, await stateOf(id)], ['unknown', 'IN_DOUBT']);
    clock.pass(1_100);
    await eventually('the probe', async () => (await stateOf(id)) === 'SUCCEEDED');
    const again = successOf(await ask('o1', { key: 'k' }));
    assert.deepEqual([again.result, again.replayed, ledger.refunds.length], [{ refunded: 5 }, true, 1]);
    const kinds = (await gateway.records(id)).map(({ kind }) => kind);
    assert.ok(kinds.indexOf('probed') > kinds.indexOf('doubted') && !kinds.includes('ticket_opened'));
  });

  test('[C6-doubt-2] an early no is no proof: only after the quarantine it is settled as not done', async (t) => {
    const clock = createShiftedClock();
    const ledger: Ledger = { refunds: [], next: 'nothing' };
    const { gateway, ask, stateOf } = await openRefunds(t, ledger, {}, { clock });
    const { call_id: id } = errorOf(await ask(), 'action_timeout');
    clock.pass(2_000);
    const probes = async () => (await gateway.records(id)).filter(({ kind }) => kind === 'probed');
    await eventually('an early probe', async () => (await probes()).length > 0);
    assert.equal(await stateOf(id), 'IN_DOUBT');
    clock.pass(65_000);
    await eventually('the last probe', async () => (await stateOf(id)) === 'FAILED');
    ledger.next = 'answer';
    successOf(await ask());
    assert.equal(ledger.refunds.length, 1);
  });

  test('[C6-doubt-3] probes go on after a restart', async (t) => {
    const clock = createShiftedClock();
    const ledger: Ledger = { refunds: [], next: 'lose' };
    const first = await openRefunds(t, ledger, {}, { clock });
    const { call_id: id } = errorOf(await first.ask(), 'action_timeout');
    await first.gateway.close({ drain_seconds: 0 });
    clock.pass(5_000);
    const second = await openRefunds(t, ledger, {}, { clock });
    await eventually('the probe', async () => (await second.stateOf(id)) === 'SUCCEEDED');
  });

  test('[C6-doubt-4] a read that cannot tell leaves it to a person, after a bounded number of looks', async (t) => {
    const clock = createShiftedClock();
    const ledger: Ledger = { refunds: [], next: 'nothing' };
    const reconcile = { tool: 'find', args: () => ({}), happened: () => undefined };
    const limits = { maxProbes: 2, firstProbeMs: 1 };
    const { gateway, ask, stateOf } = await openRefunds(
      t,
      ledger,
      { reconcile, quarantine_seconds: 0.01 },
      { clock, limits },
    );
    const { call_id: id } = errorOf(await ask(), 'action_timeout');
    clock.pass(3_000);
    const kinds = async () => (await gateway.records(id)).map(({ kind }) => kind);
    await eventually('the ticket', async () => {
      clock.pass(1_000);
      return (await kinds()).includes('ticket_opened');
    });
    assert.equal(await stateOf(id), 'IN_DOUBT');
    assert.equal((await kinds()).filter((kind) => kind === 'probed').length, 2);
  });
});

describe('a key that the upstream has completed', () => {
  test('[C9-conflict-1] is given up with replan, and the declared read settles the call as done', async (t) => {
    const ledger: Ledger = { refunds: [{ order: 'o1', amount: 5 }], next: 'conflict' };
    const { ask, stateOf } = await openRefunds(t, ledger);
    const reply = errorOf(await ask(), 'action_error');
    const reason = 'upstream already processed this idempotency_key';
    assert.deepEqual(reply.outcome, { kind: 'deprecated', reason, replan: true });
    assert.deepEqual(
      [reply.effect, reply.resolution, await stateOf(reply.call_id)],
      ['applied', { type: 'replan', reason }, 'SUCCEEDED'],
    );
    assert.equal(ledger.refunds.length, 1);
  });

  test('[C9-conflict-2] is in doubt if the read does not find it', async (t) => {
    const { ask, stateOf } = await openRefunds(t, { refunds: [], next: 'conflict' });
    const reply = errorOf(await ask(), 'action_error');
    assert.deepEqual(
      [reply.effect, reply.outcome?.kind, await stateOf(reply.call_id)],
      ['unknown', 'deprecated', 'IN_DOUBT'],
    );
  });
});

describe('a person settles a doubt', () => {
  test('[C6-doubt-5] a no before the quarantine is over is answered with the time left, unless it is forced', async (t) => {
    const { gateway, ask, stateOf } = await openRefunds(t, { refunds: [], next: 'nothing' });
    const { call_id: id } = errorOf(await ask(), 'action_timeout');
    const early = await gateway.settle(id, { happened: 'no', by: 'ada' });
    assert.ok(typeof early === 'object' && early.quarantinedForMs > 0 && early.quarantinedForMs <= 62_000);
    assert.equal(await stateOf(id), 'IN_DOUBT');
    assert.equal(await gateway.settle(id, { happened: 'no', by: 'ada', force: true }), 'settled');
    const settled = (await gateway.records(id)).findLast(({ kind }) => kind === 'settled');
    assert.match(settled?.body ?? '', /"by":"ada".*"forced":true/);
  });

  for (const happened of ['yes', 'unknown'] as const)
    test(`[C6-doubt-6] a '${happened}' counts at once`, async (t) => {
      const { gateway, ask } = await openRefunds(t, { refunds: [], next: 'nothing' });
      const { call_id: id } = errorOf(await ask(), 'action_timeout');
      assert.equal(await gateway.settle(id, { happened, by: 'ada' }), 'settled');
    });
});

describe('an operation in doubt, outside workflows', () => {
  test('[C6-fence-20] fences the same operation of its session, and no other', async (t) => {
    const ledger: Ledger = { refunds: [], next: 'nothing' };
    const { gateway, ask } = await openRefunds(t, ledger);
    const { call_id: id } = errorOf(await ask(), 'action_timeout');
    ledger.next = 'answer';
    const fenced = errorOf(await gateway.call({ tool: 'refund', args: { order: 'o1', amount: 6 } }), 'fenced');
    assert.equal(fenced.blocking_call_id, id);
    successOf(await ask('o2'));
    assert.equal(await gateway.settle(id, { happened: 'no', by: 'ada', force: true }), 'settled');
    successOf(await gateway.call({ tool: 'refund', args: { order: 'o1', amount: 6 } }));
  });

  test('[C6-fence-21] settled as done, the next equal call adopts its result, once', async (t) => {
    const ledger: Ledger = { refunds: [], next: 'lose' };
    const { gateway, ask } = await openRefunds(t, ledger);
    const { call_id: id } = errorOf(await ask(), 'action_timeout');
    assert.equal(await gateway.settle(id, { happened: 'yes', by: 'ada', result: { refunded: 5 } }), 'settled');
    ledger.next = 'answer';
    const adopted = successOf(await ask());
    assert.deepEqual([adopted.result, adopted.replayed, ledger.refunds.length], [{ refunded: 5 }, true, 1]);
    assert.equal(successOf(await ask()).replayed, undefined, 'the same once more runs anew');
    assert.equal(ledger.refunds.length, 2);
  });

  test('[C6-fence-22] a call whose key cannot be told may be any operation of its tool', async (t) => {
    const ledger: Ledger = { refunds: [], next: 'nothing' };
    const throws = (args: { order: string }) => {
      if (args.order === 'bad') throw new Error('no key');
      return args.order;
    };
    const { ask } = await openRefunds(t, ledger, { operation_key: throws });
    const { call_id: id } = errorOf(await ask('bad'), 'action_timeout');
    ledger.next = 'answer';
    assert.equal(errorOf(await ask('o1'), 'fenced').blocking_call_id, id);
  });
});
