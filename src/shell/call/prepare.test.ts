/** Phase 3: what a call is sent with, and that nothing is prepared for somebody who is gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  anAsked,
  approvedRefund,
  codeOf,
  judged,
  openJob,
  openShell,
  prepared,
} from '../../../test/support/an-asked.ts';
import { ask, refunds } from '../../../test/support/refunds.ts';
import { aTool, createCountingTool } from '../../../test/support/tools.ts';
import { prepare } from './prepare.ts';
import type { Requester } from './requester.ts';

const tools = [aTool('pay', () => 'paid'), aTool('read', () => 'read', { effect: 'pure' })];

test('the intent and the work carry what the gates decided', async (t) => {
  const { shell } = await openShell(t, tools);
  const asked = anAsked(shell, { tool: 'pay', args: { amount: 1 } });
  const passed = await judged(asked, shell);
  const { intent, work, met } = await prepared(asked, shell);
  assert.deepEqual([intent.call.id, intent.call.session], [passed.call.id, passed.session]);
  assert.deepEqual([intent.request, intent.policy, intent.uses], [asked.request, passed.policy, null]);
  assert.deepEqual([work.tool.name, work.args, work.step, work.client, met], ['pay', { amount: 1 }, null, null, null]);
});

const windows: readonly (readonly [string, object, boolean])[] = [
  ['a write without a key looks for an equal one whose requester left', { tool: 'pay' }, true],
  ['a write with a key does not', { tool: 'pay', key: 'k' }, false],
  ['a read does not', { tool: 'read' }, false],
];

for (const [name, raw, looks] of windows)
  test(name, async (t) => {
    const { shell } = await openShell(t, tools);
    const { nobodyLeftWithinMs } = await prepared(anAsked(shell, raw), shell);
    assert.equal(nobodyLeftWithinMs, looks ? shell.limits.attachWindowMs : null);
  });

test('a step that names its sequence looks for no equal one; a step that does not, does', async (t) => {
  const { shell, work } = await openJob(t);
  const named = await prepared(anAsked(shell, { ...work(), expected_seq: 0 }), shell);
  const unnamed = await prepared(anAsked(shell, work()), shell);
  assert.deepEqual([named.nobodyLeftWithinMs, unnamed.nobodyLeftWithinMs], [null, shell.limits.attachWindowMs]);
});

const heardLate = (): Requester => {
  const left = new AbortController();
  return { left: left.signal, heard: async () => left.abort() };
};

const gone: readonly (readonly [string, Requester])[] = [
  ['who cancelled', { cancelled: AbortSignal.abort() }],
  ['who left', { left: AbortSignal.abort() }],
  ['whose leaving is heard only now', heardLate()],
];

for (const [who, requester] of gone)
  test(`a caller ${who} is answered ToolCancelled, and is not among the askers`, async (t) => {
    const { shell } = await openShell(t, tools);
    const asked = anAsked(shell, { tool: 'pay' }, { requester });
    assert.equal(codeOf(await prepare(asked, await judged(asked, shell), shell)), 'ToolCancelled');
    assert.equal(shell.live.askers.of.has(requester), false);
  });

test('a caller of a write who could leave is among the askers; one of a read is not', async (t) => {
  const { shell } = await openShell(t, tools);
  const asks = async (tool: string): Promise<boolean> => {
    const requester = { left: new AbortController().signal };
    await prepared(anAsked(shell, { tool }, { requester }), shell);
    return shell.live.askers.of.has(requester);
  };
  assert.deepEqual([await asks('pay'), await asks('read')], [true, false]);
});

test('the approval that permits the call is passed on', async (t) => {
  const opened = await openShell(t, [createCountingTool('payments/refund').definition], { agents: [refunds()] });
  const { approval } = await approvedRefund(opened);
  const { met } = await prepared(anAsked(opened.shell, ask), opened.shell);
  assert.ok(met?.kind === 'granted');
  assert.equal(met.approval.id, approval.id);
});
