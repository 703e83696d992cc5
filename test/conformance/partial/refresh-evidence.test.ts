/** CONTRACT section 9: what follows if an upstream calls the evidence of a call stale. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { aTool } from '../../support/tools.ts';

async function openStock(t: TestContext, refusals: number, { limits = {}, moves = false } = {}) {
  const stock = { left: 3 };
  let sends = 0;
  const look = aTool('stock', () => ({ ...stock }), { effect: 'pure' });
  const reserve = aTool('reserve', (_args, { fail }) => {
    sends += 1;
    if (sends > refusals) return { reserved: true };
    if (moves) stock.left -= 1;
    return fail({ kind: '412_precondition', subject: 'evidence', message: 'the stock has moved' });
  });
  const gateway = await openGateway(t, [look, reserve], { limits });
  const ref = async () => successOf(await gateway.call({ tool: 'stock' })).call_id;
  const ask = async () => gateway.call({ tool: 'reserve', evidence_refs: [await ref()] } as never);
  return { stock, sends: () => sends, ask };
}

test('[C9-refresh-1] evidence that still says the same sends the call once more', async (t) => {
  const { ask, sends } = await openStock(t, 1);
  assert.equal(successOf(await ask()).attempts, 2);
  assert.equal(sends(), 2);
});

test('[C9-refresh-1] and no more than once', async (t) => {
  const { ask, sends } = await openStock(t, 9);
  const { outcome, evidence } = errorOf(await ask(), 'action_error');
  assert.deepEqual([outcome?.kind, evidence, sends()], ['deprecated', undefined, 2]);
});

test('[C9-refresh-1] evidence that has changed is told, and the call is not sent again', async (t) => {
  const { ask, sends } = await openStock(t, 9, { moves: true });
  const { outcome, resolution, evidence, compensation } = errorOf(await ask(), 'action_error');
  assert.deepEqual([outcome?.kind, compensation?.kind, resolution.type], ['deprecated', 'refresh_evidence', 'replan']);
  assert.deepEqual([evidence?.[0]?.tool, evidence?.[0]?.says, sends()], ['stock', { left: 2 }, 1]);
});

test('[C9-refresh-2] a session whose refreshes are used up is told to read by itself', async (t) => {
  const { ask, sends } = await openStock(t, 9, { limits: { maxEvidenceRefreshes: 1 } });
  errorOf(await ask(), 'action_error');
  const { outcome } = errorOf(await ask(), 'action_error');
  assert.match(outcome?.kind === 'deprecated' ? outcome.reason : '', /used up its refreshes/);
  assert.equal(sends(), 3);
});
