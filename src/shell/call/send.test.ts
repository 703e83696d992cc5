/** Phase 6: who wins the intent sends, and whoever loses a race for it has sent nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  againOf,
  anAsked,
  codeOf,
  nextOf,
  openJob,
  openShell,
  prepared,
  replyOf,
} from '../../../test/support/an-asked.ts';
import { pendingOf, successOf } from '../../../test/support/check-reply.ts';
import { createCountingTool, createHeldTool } from '../../../test/support/tools.ts';
import type { Shell } from '../shell.ts';
import type { Asked } from './asked.ts';
import type { Prepared } from './prepare.ts';
import { type Progress, send } from './send.ts';
import { take } from './take.ts';

const pay = { tool: 'pay', args: {} };

async function readyToSend(asked: Asked, shell: Shell) {
  const passed: Prepared = await prepared(asked, shell);
  const taken = nextOf(await take(asked, passed, shell));
  const progress: Progress = { started: false, running: null };
  return { progress, send: () => send(asked, passed, taken, progress, shell) };
}

test('a call that is sent is answered with its result, and is on record', async (t) => {
  const { definition, runs } = createCountingTool('pay');
  const { shell } = await openShell(t, [definition]);
  const asked = anAsked(shell, pay);
  const ready = await readyToSend(asked, shell);
  assert.deepEqual(successOf(replyOf(await ready.send())).result, { ran: 1, args: {} });
  assert.deepEqual([ready.progress.started, ready.progress.running?.call.id], [true, asked.call.id]);
  assert.deepEqual([(await shell.ports.store.call(asked.call.id))?.state, runs()], ['SUCCEEDED', 1]);
});

test('without a place the call is decided again, and nothing is on record', async (t) => {
  const held = createHeldTool('slow');
  const paying = createCountingTool('pay');
  const { gateway, shell } = await openShell(t, [held.definition, paying.definition], { limits: { maxInFlight: 1 } });
  const asked = anAsked(shell, pay);
  const ready = await readyToSend(asked, shell);
  const slow = gateway.handle({ tool: 'slow' });
  const run = await held.begun();
  assert.equal(againOf(await ready.send()), asked);
  assert.deepEqual(ready.progress, { started: false, running: null });
  assert.deepEqual([await shell.ports.store.call(asked.call.id), paying.runs()], [null, 0]);
  run.finish('done');
  await slow;
});

test('of two calls with one key the first is sent, and the second hears its reply', async (t) => {
  const { definition, runs } = createCountingTool('pay');
  const { shell } = await openShell(t, [definition]);
  const one = await readyToSend(anAsked(shell, { ...pay, key: 'k' }), shell);
  const other = await readyToSend(anAsked(shell, { ...pay, key: 'k' }), shell);
  const first = successOf(replyOf(await one.send()));
  const second = successOf(replyOf(await other.send()));
  assert.deepEqual([second.call_id, second.replayed, runs()], [first.call_id, true, 1]);
});

test('a key that another call took meanwhile refuses the call', async (t) => {
  const { definition } = createCountingTool('pay');
  const { shell, call } = await openShell(t, [definition]);
  const ready = await readyToSend(anAsked(shell, { ...pay, key: 'k' }), shell);
  successOf(await call({ ...pay, args: { amount: 2 }, key: 'k' }));
  assert.equal(codeOf(await ready.send()), 'KeyReused');
});

test('a session that moved meanwhile: the call is decided again, and only the first was sent', async (t) => {
  const { shell, gateway, work } = await openJob(t);
  const asked = anAsked(shell, { ...work(), expected_seq: 0 });
  const ready = await readyToSend(asked, shell);
  successOf(await gateway.handleStep(work()));
  assert.equal(againOf(await ready.send()), asked);
  assert.equal(await shell.ports.store.call(asked.call.id), null);
});

test('who waits no longer hears that it is pending, and the call goes on', async (t) => {
  const held = createHeldTool('pay');
  const { shell } = await openShell(t, [held.definition]);
  const asked = anAsked(shell, { ...pay, wait_seconds: 0 });
  const ready = await readyToSend(asked, shell);
  assert.equal(pendingOf(replyOf(await ready.send())).call_id, asked.call.id);
  (await held.begun()).finish('paid');
  successOf((await ready.progress.running?.outcome)?.reply ?? null);
});
