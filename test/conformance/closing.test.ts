/** What a closed gateway, or a caller nobody can make out, still gets: an answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGateway, GatewayError, isRefusal, tool } from '../../src/index.ts';

async function inGateway(body: (gateway: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-closing-'));
  const gateway = await open(path.join(folder, 'store.db'));
  try {
    await body(gateway);
  } finally {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

let heard: Promise<void> = Promise.resolve();
const hang = tool({
  name: 'hang',
  input: {},
  run: (_args: unknown, ctx) => {
    heard = new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true }));
    return new Promise<never>(() => undefined);
  },
  blocking: false,
});
const open = (file: string) => createGateway({ tools: [hang], file });

test('[C6-closing-1] closing stops what outlives the drain: the body hears its signal and the caller an honest reply', () =>
  inGateway(async (gateway) => {
    const reply = gateway.handle({ tool: 'hang' });
    while (gateway.status().in_flight === 0) await new Promise((resolve) => setImmediate(resolve));
    await gateway.close({ drain_seconds: 0 });
    const answer = await reply;
    assert.ok(isRefusal(answer));
    assert.equal(answer.error, 'cancelled');
    if (answer.effect === 'unknown') await heard;
  }));

test('[C4-closing-1] a closed gateway answers calls as not ready, and refuses what is not a call by name', () =>
  inGateway(async (gateway) => {
    await gateway.close();
    await gateway.close();
    const answer = await gateway.handle({ tool: 'hang' });
    assert.ok(isRefusal(answer) && answer.code === 'DAEMON_NOT_READY');
    const closed = (error: unknown) => error instanceof GatewayError && error.reason === 'closed';
    await assert.rejects(gateway.reply('call_1'), closed);
    await assert.rejects(gateway.openSession(), closed);
    await assert.rejects(gateway.cancel({ call: 'call_1' }), closed);
  }));

test('[C3-caller-1] a caller who cannot be made out is refused, and runs as nobody else', () =>
  inGateway(async (gateway) => {
    for (const options of [null, { agent: 7 }, { agnet: 'a' }, { signal: 'now' }]) {
      const answer = await gateway.handle({ tool: 'hang' }, options as never);
      assert.ok(isRefusal(answer) && answer.error === 'validation_failed', JSON.stringify(answer));
      assert.equal(answer.effect, 'none');
    }
    assert.equal(gateway.status().in_flight, 0);
  }));

test('[C6-closing-1] whoever awaits the closing is still there when it is done', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-closing-'));
  const child = path.join(import.meta.dirname, 'close-child.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [child, folder, '40'], { encoding: 'utf8' });
  rmSync(folder, { recursive: true, force: true });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: 'closed 40\n', stderr: '' });
});

for (const delayMs of ['0', '1', '2', '3']) {
  test(`[C6-closing-1] a call on its way in is answered before the gateway closes, after ${delayMs} ms`, () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'recourse-closing-'));
    const child = path.join(import.meta.dirname, 'drain-child.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [child, folder, delayMs], { encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.equal((JSON.parse(stdout) as { result?: unknown }).result, 'done');
  });
}
