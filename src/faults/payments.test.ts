/** The payment service by itself: its operations over HTTP, its keys, its OpenAPI document and its limits. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openFaults } from '../../test/support/faults/open-faults.ts';
import { operations } from './operations.ts';

const args = { order: 'o1', amount: 5 };

test('a refund is made, found, summed up and cancelled', async (t) => {
  const faults = await openFaults(t);
  const refund = (await faults.refund(args, 'k')).body();
  assert.deepEqual(refund, { id: 're_2', ...args });
  const found = { order: 'o1', refunds: [{ id: 're_2', amount: 5, key: 'k' }] };
  assert.deepEqual((await faults.ask('/refunds?order=o1')).body(), found);
  assert.deepEqual((await faults.ask('/orders/o1')).body(), { order: 'o1', refunded: 5 });
  const cancel = () => faults.ask('/refunds/re_2', { method: 'DELETE' });
  assert.deepEqual((await cancel()).body(), { id: 're_2', cancelled: true });
  assert.equal((await cancel()).status, 404);
  assert.deepEqual((await faults.ask('/refunds?order=o1')).body(), { order: 'o1', refunds: [] });
});

test('a note deduplicates nothing', async (t) => {
  const faults = await openFaults(t);
  const note = { body: { order: 'o1', text: 'called' }, headers: { 'idempotency-key': 'k' } };
  for (let at = 0; at < 2; at++) assert.equal((await faults.ask('/notes', note)).status, 200);
  assert.equal(faults.effects(), 2);
});

describe('a key that is used again', () => {
  const repeat = async (...[t, options, again = args]: [...Parameters<typeof openFaults>, object?]) => {
    const faults = await openFaults(t, options);
    const first = await faults.refund(args, 'k');
    const second = await faults.refund(again, 'k');
    return { faults, first, second };
  };

  test('gets the stored answer', async (t) => {
    const { faults, first, second } = await repeat(t, {});
    assert.deepEqual(second.body(), first.body());
    assert.equal(second.headers['idempotent-replayed'], 'true');
    assert.equal(faults.effects(), 1);
  });

  test('gets 409 completed, by a switch', async (t) => {
    const { faults, second } = await repeat(t, { onRepeat: 'conflict' });
    assert.deepEqual([second.status, second.body()['code']], [409, 'idempotency_key_completed']);
    assert.equal(faults.effects(), 1);
  });

  test('gets 409 mismatch for other arguments', async (t) => {
    const { faults, second } = await repeat(t, {}, { ...args, amount: 6 });
    assert.deepEqual([second.status, second.body()['code']], [409, 'idempotency_key_mismatch']);
    assert.equal(faults.effects(), 1);
  });

  test('runs again after its window', async (t) => {
    const { faults } = await repeat(t, { windowMs: 0 });
    assert.equal(faults.effects(), 2);
  });

  test('is known after a restart', async (t) => {
    const before = await openFaults(t);
    await before.refund(args, 'k');
    await before.stop();
    const after = await openFaults(t, { ledger: before.ledger });
    assert.equal((await after.refund(args, 'k')).headers['idempotent-replayed'], 'true');
    assert.equal(after.effects(), 1);
  });
});

test('the ledger has every request and effect in order, and is read in pages', async (t) => {
  const faults = await openFaults(t);
  for (const key of ['a', 'b', 'c']) await faults.refund(args, key);
  const entries = faults.entries();
  assert.deepEqual(
    entries.map(({ n, kind }) => [n, kind]),
    [1, 4, 7].flatMap((n) => [
      [n, 'received'],
      [n + 1, 'effect'],
      [n + 2, 'answered'],
    ]),
  );
  const names = ['n', 'at', 'kind', 'operation', 'args', 'key', 'connection', 'id'];
  assert.deepEqual(Object.keys(entries[1] ?? {}).toSorted(), names.toSorted());
  const page = (await faults.ask('/ledger?limit=2')).body() as { effects: { key: string }[]; next: number };
  assert.deepEqual([page.effects.map(({ key }) => key), page.next], [['a', 'b'], 5]);
  const rest = (await faults.ask(`/ledger?after=${page.next}`)).body() as { effects: unknown[]; next: null };
  assert.deepEqual([rest.effects.length, rest.next], [1, null]);
});

test('the summary counts effects by key and by operation and order, duplicates first', async (t) => {
  const faults = await openFaults(t);
  await faults.refund({ ...args, order: 'o2' }, 'k');
  await faults.fault({ fault: 'duplicate' });
  await faults.refund();
  assert.deepEqual((await faults.ask('/ledger/summary')).body(), {
    effects: 3,
    keys: [{ key: 'k', effects: 1 }],
    orders: [
      { operation: 'refund', order: 'o1', effects: 2 },
      { operation: 'refund', order: 'o2', effects: 1 },
    ],
  });
});

test('the OpenAPI document has every operation', async (t) => {
  const faults = await openFaults(t);
  const { paths } = (await faults.ask('/openapi.json')).body() as { paths: Record<string, Record<string, object>> };
  const ids = Object.values(paths).flatMap((each) => Object.values(each).map((one) => Reflect.get(one, 'operationId')));
  assert.deepEqual(ids.toSorted(), Object.keys(operations).toSorted());
});
