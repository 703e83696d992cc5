/** Phase 4: what has happened already is told, and nothing is sent for it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ToolFailure } from '../../index.ts';
import {
  anAsked,
  approvedRefund,
  codeOf,
  local,
  openShell,
  openUnadopted,
  prepared,
  replyOf,
} from '../../../test/support/an-asked.ts';
import { successOf } from '../../../test/support/check-reply.ts';
import { ask, refunds } from '../../../test/support/refunds.ts';
import { createCountingTool, createHeldTool, type Run } from '../../../test/support/tools.ts';
import type { Shell } from '../shell.ts';
import type { Asked } from './asked.ts';
import { handleCall } from './handle-call.ts';
import { reuse } from './reuse.ts';

const isNew = { kind: 'new' } as const;
const pay = { tool: 'pay', args: { amount: 1 } };

const reuseOf = async (asked: Asked, shell: Shell) => reuse(asked, isNew, await prepared(asked, shell), shell);

/** A payment that its requester left while it ran, and that ended as the test says. */
async function leftBehind(t: TestContext, end: (run: Run) => void) {
  const held = createHeldTool('pay');
  const opened = await openShell(t, [held.definition]);
  const { shell } = opened;
  const left = new AbortController();
  const leaving = handleCall(pay, local, { left: left.signal }, shell);
  const run = await held.begun();
  left.abort();
  const { call_id: earlier } = await leaving;
  const outcome = shell.live.running.get(earlier as never)?.outcome;
  end(run);
  await outcome;
  return { ...opened, earlier, held };
}

test('a call goes on when nothing like it happened before', async (t) => {
  const { shell } = await openShell(t, [createCountingTool('pay').definition]);
  assert.equal(await reuseOf(anAsked(shell, pay), shell), null);
});

test('an equal write whose requester has its reply is another call', async (t) => {
  const { call, shell } = await openShell(t, [createCountingTool('pay').definition]);
  successOf(await call(pay));
  assert.equal(await reuseOf(anAsked(shell, pay), shell), null);
});

test('an equal write whose requester left answers once, and nothing is sent', async (t) => {
  const { shell, earlier, held } = await leftBehind(t, (run) => run.finish('paid'));
  const reply = successOf(replyOf(await reuseOf(anAsked(shell, pay), shell)));
  assert.deepEqual([reply.call_id, reply.result, held.runs.length], [earlier, 'paid', 1]);
  assert.equal(await reuseOf(anAsked(shell, pay), shell), null);
});

const others: readonly (readonly [string, object])[] = [
  ['a call with a key goes on although the requester of an equal write left', { ...pay, key: 'k' }],
  ['a call with other arguments goes on although the requester of a write left', { ...pay, args: { amount: 2 } }],
];

for (const [name, raw] of others)
  test(name, async (t) => {
    const { shell } = await leftBehind(t, (run) => run.finish('paid'));
    assert.equal(await reuseOf(anAsked(shell, raw), shell), null);
  });

const lost = new ToolFailure({ kind: 'threw', message: 'connection lost', effect: 'unknown' });
const failed = new ToolFailure({ kind: 'threw', message: 'no such account', effect: 'none' });

test('an equal write in doubt whose requester left fences the call', async (t) => {
  const { shell } = await leftBehind(t, (run) => run.fail(lost));
  assert.equal(codeOf(await reuseOf(anAsked(shell, pay), shell)), 'Fenced');
});

test('an equal write that had no effect stands in nobody’s way', async (t) => {
  const { shell } = await leftBehind(t, (run) => run.fail(failed));
  assert.equal(await reuseOf(anAsked(shell, pay), shell), null);
});

test('a step that was in doubt and succeeded is adopted: the state moves and nothing is sent', async (t) => {
  const { shell, raw, earlier } = await openUnadopted(t, 'k');
  const asked = anAsked(shell, raw);
  const reply = successOf(replyOf(await reuseOf(asked, shell)));
  assert.deepEqual([reply.call_id, reply.replayed, reply.seq], [asked.call.id, true, 1]);
  const adopted = (await shell.ports.store.recordsOf(earlier as never)).find(({ kind }) => kind === 'adopted');
  assert.deepEqual(JSON.parse(adopted?.body ?? '{}'), { by: asked.call.id });
});

test('what the gateway ran by itself under the approval is told to whoever asks for it', async (t) => {
  const refund = createCountingTool('payments/refund');
  const opened = await openShell(t, [refund.definition], { agents: [refunds({ onApprove: 'run' })] });
  const { shell } = opened;
  const { waiting } = await approvedRefund(opened);
  await Promise.all(shell.live.unanswered);
  const asked = anAsked(shell, ask);
  const passed = await prepared(asked, shell);
  assert.equal(passed.met?.kind, 'ran');
  const reply = successOf(replyOf(await reuse(asked, isNew, passed, shell)));
  assert.deepEqual([reply.call_id, reply.replayed, refund.runs()], [waiting, true, 1]);
});
