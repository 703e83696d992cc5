/**
 * Stories of approvals that once went wrong, told act by act in a world without faults: nothing runs that nobody asks
 * for, except as it was approved.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { person } from './approvers.ts';
import type { SimulatedPolicy, Stance } from './approval-setting.ts';
import { noFaults } from './fault-mix.ts';
import { makeOperation } from './operations.ts';
import { createWorld } from './world.ts';

const seconds = (count: number) => count * 1_000;

/** One agent asks once, at the first second, without a key; the rest of the story is told by `later`. */
async function tell(stance: Stance, untilMs: number, later: (world: ReturnType<typeof createWorld>) => void) {
  const stances: SimulatedPolicy['stances'] = { read: 'permit', charge: 'permit', refund: 'permit', mail: stance };
  const world = createWorld({ seed: 3, mix: noFaults, gateways: 2, approvals: { stances, layout: 0 } });
  const { scheduler, clients, gateways, witness, state } = world;
  const who = { tenant: 'acme', agent: 'ann' };
  const args = { amount: 4, operation: 'o' };
  const calls = { tool: 'mail', key: null, session: null, turn: null, args };
  const operation = makeOperation({ name: 'o', who, manner: 'patient', ...calls });
  operation.deferrals = 0;
  for (const [index, gateway] of gateways.entries()) gateway.boot(index === 0 ? 'everything' : 'nothing');
  scheduler.after(seconds(1), null, '', () => clients.start(operation));
  later(world);
  while (witness.broken() === null && scheduler.nowMs() < untilMs) await scheduler.step();
  assert.equal(witness.broken(), null, witness.broken()?.detail);
  let effects = 0;
  for (const call of witness.calls.values()) effects += call.effects;
  return { effects, approvals: [...state.approvals.values()].map((row) => row.state) };
}

const decide = (world: ReturnType<typeof createWorld>, atMs: number, act: 'approve' | 'revoke') =>
  world.scheduler.after(atMs, null, '', () => {
    const [open] = [...world.state.approvals.values()];
    assert.ok(open !== undefined, 'somebody asked');
    world.approvers.say(act, open.id, person('ana'));
  });

const change = (world: ReturnType<typeof createWorld>, atMs: number, how: Stance | 'rewrite') =>
  world.scheduler.after(atMs, null, '', () =>
    how === 'rewrite' ? world.policies?.rewrite(['g1', 'g2']) : world.policies?.change(['g1', 'g2'], 'mail', how),
  );

const endings: readonly (readonly [string, 'one runs' | 'one waits', Stance | 'rewrite', number, string])[] = [
  ['runs by itself, once, although the policy was written anew', 'one runs', 'rewrite', 1, 'used'],
  ['does not run by itself once policy permits it without anybody', 'one runs', 'permit', 0, 'void'],
  ['does not run by itself once two must approve', 'one runs', 'two run', 0, 'void'],
  ['does not run by itself once policy denies it', 'one runs', 'deny', 0, 'void'],
  ['is void once policy permits it without anybody', 'one waits', 'permit', 0, 'void'],
];

for (const [name, stance, how, effects, state] of endings)
  test(`a call that is approved ${name}, and nobody is asked again`, async () => {
    const ending = await tell(stance, seconds(40), (world) => {
      change(world, seconds(3), how);
      decide(world, seconds(8), 'approve');
    });
    assert.deepEqual(ending, { effects, approvals: [state] });
  });

test('a granted call that was taken back does not run, and nobody is asked again', async () => {
  const ending = await tell('one waits', seconds(40), (world) => {
    decide(world, seconds(3), 'approve');
    decide(world, seconds(6), 'revoke');
  });
  assert.deepEqual(ending, { effects: 0, approvals: ['revoked'] });
});
