/**
 * kill -9 inside a pause that the service asked for: the next process waits until the time on record, and sends once;
 * past the deadline it does not send.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { StoredCall } from '../../../src/ports/store.ts';
import { eventually } from '../../support/eventually.ts';
import { openFaults } from '../../support/faults/open-faults.ts';
import { allCalls, withReader } from '../../support/read-journal.ts';
import { folder } from '../../support/recourse-process.ts';
import { startGateway } from './gateway-process.ts';
import type { Payment } from './recovery-orders.ts';

const ceilingMs = 120_000;
const hears = { asked: () => undefined, answered: () => undefined, ended: (why: string) => assert.fail(why) };

/** A payment that the service refuses once, and the process that had sent it killed while it waits. */
async function killWaiting(t: TestContext, pauseSeconds: number, deadline?: number) {
  const faults = await openFaults(t);
  await faults.fault({ fault: '429', seconds: pauseSeconds, match: { operation: 'refund' } });
  const file = path.join(folder(t), 'recourse.db');
  const payment: Payment = {
    tool: 'refund_once',
    args: Object.assign({ order: 'o1' }, { amount: 5 }),
    key: 'o1',
    ...(deadline === undefined ? {} : { deadline_seconds: deadline }),
  };
  const start = (open: readonly Payment[]) => {
    const orders = { file, url: faults.url.slice(0, -1), seed: 1, name: 'g', open, isIdle: true };
    return startGateway(t, orders, hears);
  };
  const find = (state: StoredCall['state']) => () =>
    withReader(file, async (reader) => (await allCalls(reader)).find((call) => call.state === state)).catch(() => null);
  const first = start([payment]);
  const waiting = await eventually('it waits for its next attempt', find('RETRY_WAIT'), ceilingMs);
  await first.kill();
  const requests = () =>
    faults.entries().filter(({ kind, operation }) => kind === 'received' && operation === 'refund');
  return { faults, file, start, find, waiting, requests };
}

test('a pause goes on after kill -9, until the time on record', async (t) => {
  const { faults, file, start, find, waiting, requests } = await killWaiting(t, 3);
  const next = start([]);
  const ended = await eventually('it succeeds', find('SUCCEEDED'), ceilingMs);
  await next.kill();
  assert.equal(ended.attempt, 2);
  assert.equal(faults.effects(), 1);
  const [first, second, ...more] = requests();
  assert.deepEqual(more, []);
  const scheduled = await withReader(file, async (reader) =>
    (await reader.recordsOf(waiting.id)).find(({ kind }) => kind === 'attempt_scheduled'),
  );
  const { at_ms: atMs, pause_ms: pauseMs } = JSON.parse(scheduled?.body ?? '{}') as { at_ms: number; pause_ms: number };
  assert.equal(pauseMs, 3_000);
  assert.equal(waiting.dueAtMs, atMs);
  assert.ok(Date.parse(String(first?.['at'])) < atMs, 'the first attempt was before');
  assert.ok(Date.parse(String(second?.['at'])) >= atMs, 'the second attempt was not sent before its time');
});

test('a pause that kill -9 made longer than the deadline ends without a send', async (t) => {
  const { faults, start, find, waiting, requests } = await killWaiting(t, 1, 6);
  await eventually('the deadline passes', async () => Date.now() > waiting.deadlineAtMs, ceilingMs);
  const next = start([]);
  const ended = await eventually('it ends', find('FAILED'), ceilingMs);
  await next.kill();
  assert.equal(ended.attempt, 1);
  assert.equal(requests().length, 1);
  assert.equal(faults.effects(), 0);
});
