/**
 * What a gateway remembers is bounded, whoever asks and however often: nothing of it grows with the number of calls.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine } from 'xstate';
import { mount, tool } from '../../src/index.ts';
import type { ApprovalId } from '../../src/core/approval/approval.ts';
import type { SessionId } from '../../src/core/call/call.ts';
import { isSuccess } from '../../src/core/call/reply.ts';
import { anAgent } from '../support/a-policy.ts';
import { errorOf } from '../support/check-reply.ts';
import { openApprovals } from '../support/open-approvals.ts';

const pay = tool({ name: 'pay', description: 'Pays.', input: { type: 'object' }, run: async () => ({ paid: true }) });
const agents = [
  anAgent('local', [
    ['defer', 'pay'],
    ['permit', 'notes/note'],
  ]),
];

/** As after that many others. */
const fill = 4_096;

test('[C1-limits-6] of agents without number only so many standing sessions are remembered, and the others are found', async (t) => {
  const { gateway, shell } = await openApprovals(t, [pay], { agents });
  const session = (await gateway.handle({ tool: 'nobody', args: {} })).session;
  for (let other = 0; shell.live.standing.size < fill; other++)
    shell.live.standing.set(`agent ${other}`, `ses_${other}` as SessionId);
  await gateway.handle({ tool: 'nobody', args: {} }, { agent: 'somebody-else' });
  assert.ok(shell.live.standing.size <= fill, String(shell.live.standing.size));
  assert.equal((await gateway.handle({ tool: 'nobody', args: { again: 1 } })).session, session);
});

test('[C1-limits-6] of blobs without number only so many are remembered, and what is forgotten is written once more', async (t) => {
  const { gateway, shell } = await openApprovals(t, [pay], { agents });
  for (let other = 0; other < fill; other++) shell.live.knownBlobs.add(`hash ${other}`);
  for (let args = 0; args < 3; args++) await gateway.handle({ tool: 'pay', args: { args } });
  assert.equal(shell.live.knownBlobs.size, 1);
});

test('[C1-limits-6] a refusal is remembered by its hash, however many tools it names', async (t) => {
  const names = Array.from({ length: 200 }, (_, n) => `${'long'.repeat(30)}${n}`);
  const many = names.map((name) => tool({ name, description: '', input: { type: 'object' }, run: async () => 1 }));
  const { gateway, shell } = await openApprovals(t, many, { agents: [anAgent('local', [['permit', '*']])] });
  for (let n = 0; n < 3; n++) errorOf(await gateway.handle({ tool: `nobody${n}`, args: {} }), 'unknown_action');
  errorOf(await gateway.handle({ tool: 'nobody0', args: {} }), 'unknown_action');
  const lengths = [...shell.live.refusals.keys()].map((name) => name.length);
  assert.deepEqual(lengths, [64, 64, 64]);
});

test('[C1-limits-6] the state of a session is remembered if it is small, and read anew if it is large', async (t) => {
  const machine = createMachine({ context: { text: '' }, initial: 'open', states: { open: { on: { note: 'open' } } } });
  const workflow = mount(machine, {
    name: 'notes',
    actions: { note: { run: async (inputs) => inputs, update: ({ inputs }) => ({ text: String(inputs['text']) }) } },
  });
  const { gateway, shell } = await openApprovals(t, [], { agents, workflows: [workflow] });
  for (const [chars, kept] of [
    [10, true],
    [100_000, false],
  ] as const) {
    const step = { workflow: 'notes', action: 'note', inputs: { text: 'x'.repeat(chars) } };
    const first = await gateway.handleStep(step);
    assert.ok(isSuccess(first), JSON.stringify(first));
    assert.ok(isSuccess(await gateway.handleStep({ ...step, session: first.session })));
    const known = JSON.stringify(shell.live.snapshots.get(first.session as SessionId) ?? null);
    assert.equal(known.includes(step.inputs.text), kept, `${chars} characters`);
  }
});

test('[C1-limits-6] so many wait for approvals at once; one more hears at once how it stands', async (t) => {
  const { gateway, shell, approvals } = await openApprovals(t, [pay], { agents });
  const { resolution } = errorOf(await gateway.handle({ tool: 'pay', args: {} }), 'denied');
  assert.equal(resolution.type, 'pending_approval');
  const others = new Set(Array.from({ length: 1_024 }, () => () => undefined));
  shell.live.approvalWaiters.set('apr_others' as ApprovalId, others);
  const scope = { tenant: 'default', agent: 'local' };
  // Whoever did wait would wait for an hour, longer than this test may take.
  const view = await approvals.wait(resolution.approval_id, scope, 3_600_000);
  assert.equal(view?.state, 'pending');
  assert.deepEqual([...shell.live.approvalWaiters.keys()], ['apr_others']);
});
