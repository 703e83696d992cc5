/**
 * The refund that happens once. The same broken service behind a retry loop and behind Recourse: the loop refunds three
 * times, Recourse once, and it says that it does not know instead of guessing. Exits 1 if that is not what happens.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { createGateway, isRefusal, isSuccess, tool } from '../../src/index.ts';
import { startPayments } from './payments.ts';

const payments = await startPayments();

async function postRefund(order: string, amount: number, signal?: AbortSignal): Promise<{ refunded: number }> {
  const body = JSON.stringify({ order, amount });
  const response = await fetch(payments.url, { method: 'POST', body, ...(signal && { signal }) });
  return (await response.json()) as { refunded: number };
}

// 1. What most agents do today: try, and try again.
for (let attempt = 1; attempt <= 3; attempt++) {
  try {
    await postRefund('naive-1', 40);
    break;
  } catch {
    console.log(`retry loop: attempt ${attempt} got no answer`);
  }
}
console.log(`retry loop: the service refunded ${payments.refundsOf('naive-1')} times\n`);

// 2. The same service behind Recourse. An agent that hears nothing asks again, with the same key.
const folder = mkdtempSync(path.join(tmpdir(), 'refund-once-'));
const refund = tool({
  name: 'refund',
  description: 'Gives the customer money back.',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  timeout_seconds: 5,
  run: async ({ order, amount }, ctx) => postRefund(order, amount, ctx.signal),
});
const gateway = await createGateway({ tools: [refund], file: path.join(folder, 'recourse.db') });

for (let ask = 1; ask <= 3; ask++) {
  const reply = await gateway.call({ tool: 'refund', args: { order: 'ours-1', amount: 40 }, key: 'refund-ours-1' });
  if (isSuccess(reply)) console.log(`recourse: ask ${ask} succeeded`);
  else if (isRefusal(reply)) {
    const replayed = reply.replayed ? ', replayed: true' : '';
    console.log(`recourse: ask ${ask} → ${reply.error}, effect: ${reply.effect}${replayed}`);
    console.log(`          next move: ${JSON.stringify(reply.resolution)}`);
  }
}
console.log(`recourse: the service refunded ${payments.refundsOf('ours-1')} time`);

await gateway.close();
await payments.close();
rmSync(folder, { recursive: true, force: true });

const kept = payments.refundsOf('naive-1') === 3 && payments.refundsOf('ours-1') === 1;
console.log(kept ? '\nonce means once.' : '\nthe promise was broken.');
process.exitCode = kept ? 0 : 1;
