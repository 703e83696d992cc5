/** The refund that made us: `recourse up` before a payment API over HTTP that loses answers and knows its keys. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { openFaults } from '../../support/faults/open-faults.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { recourse } from '../../support/recourse-process.ts';

const configuration = (url: string) => `tools:
  pay:
    http: { url: ${JSON.stringify(url)} }
    tools:
      refund:
        description: Gives the money of an order back.
        request: { method: POST, path: /refunds }
        effect: keyed
        dedupe_window: 24h
        reconcile:
          tool: pay/find_refund
          args: '{"order": args.order}'
          happened: size(result.refunds) > 0
          result: result.refunds[0]
      find_refund:
        description: Lists the refunds of an order.
        request: { method: GET, path: /refunds }
      add_note:
        description: Writes a note on an order.
        request: { method: POST, path: /notes }
        retry: { max_attempts: 20, backoff: fixed, base: 1s }
agents:
  bot:
    rules: [{ permit: pay/* }]
`;

async function openPayments(t: TestContext) {
  const faults = await openFaults(t, { onRepeat: 'conflict' });
  const up = await startGoverned(t, configuration(faults.url));
  await up.ready();
  const key = up.keyOf('bot');
  const call = async (tool: string, args: object) => (await up.ask('/v1/calls', { key, body: { tool, args } })).body;
  const shown = (id: unknown) => {
    const { stdout, stderr } = recourse(['calls', 'show', String(id), '--json'], { cwd: up.home });
    assert.equal(stderr, '');
    return JSON.parse(stdout) as { readonly state: string; readonly attempts: number };
  };
  return { ...faults, up, call, shown };
}

test('[C9-conflict-1] [S003-refund-1] [S003-refund-2] [S003-refund-3] a refund whose answer is lost is given up with replan, made once, and settled by the read', async (t) => {
  const { call, entries, fault, shown, up } = await openPayments(t);
  await fault({ fault: 'drop_after', match: { operation: 'refund' } });
  const reply = await call('pay/refund', { order: 'ord_1', amount: 40 });
  const reason = 'upstream already processed this idempotency_key';
  assert.deepEqual(
    [reply['verdict'], reply['outcome'], reply['resolution'], reply['effect'], reply['attempts']],
    ['idempotency_conflict', { kind: 'deprecated', reason, replan: true }, { type: 'replan', reason }, 'applied', 2],
  );
  assert.equal(entries().filter(({ kind }) => kind === 'effect').length, 1, 'one refund in the ledger of the API');
  assert.equal(shown(reply['call_id']).state, 'SUCCEEDED');
  const again = await call('pay/find_refund', { order: 'ord_1' });
  assert.equal((again['result'] as { refunds: unknown[] }).refunds.length, 1, 'what the planner reads next');
  const { stdout } = recourse(['replay', String(reply['call_id'])], { cwd: up.home });
  assert.match(stdout, /equal/);
});

test('[C9-retry-1] an API that cannot be reached is asked again, with a plain write too: nothing was sent', async (t) => {
  const { call, ledger, stop, up, url } = await openPayments(t);
  await stop();
  const running = call('pay/add_note', { order: 'ord_2', text: 'call back' });
  await eventually('the first attempt has failed', async () => {
    const headers = { authorization: `Bearer ${up.operatorKey()}` };
    return /^recourse_retries_total.* [1-9]/m.test(await (await fetch(`${up.url}/metrics`, { headers })).text());
  });
  const back = await openFaults(t, { port: Number(new URL(url).port), ledger });
  const reply = await running;
  assert.ok(Number(reply['attempts']) > 1, JSON.stringify(reply));
  assert.equal(back.effects(), 1);
});
