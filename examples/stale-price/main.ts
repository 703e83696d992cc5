/**
 * An agent asks for a purchase at 100. A person approves it, and then the price changes. Nothing is bought: the approval
 * is void, the agent hears the new price, plans anew and asks again. Exits 1 if that is not what happens.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { openShop } from './shop.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'stale-price-'));
const program = path.join(import.meta.dirname, '../../bin/recourse.js');
const shop = await openShop();
/** The children find `node` where this process was found. */
const env = {
  SHOP: shop.url,
  RECOURSE_FILE: path.join(folder, 'recourse.db'),
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
};
const run = promisify(execFile);

async function recourse(args: readonly string[], key?: string): Promise<string> {
  const options = { cwd: import.meta.dirname, env: key === undefined ? env : { ...env, RECOURSE_KEY: key } };
  return (await run(process.execPath, [program, ...args], options)).stdout.trim();
}

interface Told {
  readonly code?: string;
  readonly result?: { readonly cents?: number; readonly bought?: { readonly cents: number } };
  readonly resolution?: { readonly type: string; readonly approval_id?: string };
  readonly evidence?: readonly { readonly tool: string; readonly says: { readonly cents: number } }[];
  readonly state?: string;
}

const agentKey = await recourse(['agents', 'add', 'buyer']);
const anaKey = await recourse(['agents', 'add', 'ana', '--role', 'approver']);
const daemon = spawn(process.execPath, [program, 'up', '--config', 'recourse.yaml'], { cwd: import.meta.dirname, env });
daemon.stderr.resume();

try {
  const url = await addressOf(daemon.stdout);
  const headers = { authorization: `Bearer ${agentKey}`, 'content-type': 'application/json' };
  const call = async (tool: string): Promise<Told> => {
    const body = JSON.stringify({ tool, args: { sku: 'kettle' } });
    return (await (await fetch(`${url}/v1/calls`, { method: 'POST', headers, body })).json()) as Told;
  };
  const stateOf = async (id: string): Promise<string | undefined> =>
    ((await (await fetch(`${url}/v1/approvals/${id}`, { headers })).json()) as Told).state;

  // 1. The agent sees 100, and asks. The gateway reads the price itself: the approval rests on it.
  const seen = await call('shop/price');
  const asked = await call('shop/buy');
  const first = asked.resolution?.approval_id ?? '';
  console.log(`agent: the kettle costs ${seen.result?.cents}; buy it → ${asked.code}, ${first}`);
  assert.deepEqual([seen.result?.cents, asked.code, shop.ledger], [100, 'POLICY_DEFER', []]);

  // 2. A person approves a purchase at 100. Then the price changes.
  await recourse(['approvals', 'approve', first, '--url', url], anaKey);
  shop.prices.set('kettle', 120);
  console.log('ana:   approved\nshop:  now it costs 120');

  // 3. Nothing is bought at a price that nobody approved. The reply says what the price is now.
  const stale = await call('shop/buy');
  const [changed] = stale.evidence ?? [];
  console.log(
    `agent: buy it → ${stale.code}, ${changed?.tool} says ${changed?.says.cents}; bought: ${shop.ledger.length}`,
  );
  assert.deepEqual([stale.code, stale.resolution?.type, changed?.says.cents], ['StaleEvidence', 'replan', 120]);
  assert.deepEqual([shop.ledger, await stateOf(first)], [[], 'void']);

  // 4. The agent plans anew with the new price: a new approval, on evidence that says 120.
  const again = await call('shop/buy');
  const second = again.resolution?.approval_id ?? '';
  assert.equal(again.code, 'POLICY_DEFER');
  assert.notEqual(second, first);
  await recourse(['approvals', 'approve', second, '--url', url], anaKey);
  const bought = await call('shop/buy');
  console.log(`agent: asks again, ${second}\nana:   approved\nagent: bought for ${bought.result?.bought?.cents}`);
  assert.deepEqual(shop.ledger, [{ sku: 'kettle', cents: 120 }]);

  // 5. The first approval is void for good, also when the price is back.
  shop.prices.set('kettle', 100);
  const back = await call('shop/buy');
  assert.equal(back.code, 'POLICY_DEFER');
  assert.deepEqual([shop.ledger.length, await stateOf(first)], [1, 'void']);
  console.log('\none purchase, at the price that was approved.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  daemon.kill('SIGTERM');
  if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
  shop.close();
  rmSync(folder, { recursive: true, force: true });
}

/** It says `ready` once calls are decided; the address stands in the same output. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  let address: string | undefined;
  for await (const line of createInterface({ input: output })) {
    address ??= /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
    if (address === undefined || !/ready|serving|tools/i.test(line)) continue;
    output.resume();
    return address;
  }
  throw new Error('the daemon said nothing');
}
