/** Which states are accepted? Only those that were given out, once, in time, to whom and for what they were given. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import type { ApprovalBinding, DoorApprovals } from '../parts.ts';
import { createSealedStates, isSealed, type StateHolder } from './sealed-states.ts';

const limits = { sealedForMs: 1_000 };
const holder: StateHolder = { door: 'recourse', who: { tenant: 'default', agent: 'bot' }, request: '["pay",{"n":1}]' };
const shown = { id: 'apr_1', shown: 'hash' };
const binding: ApprovalBinding = { version: 1, rules: 'r', expiresAtMs: 5_000, session: 'ses_1' };

/** A gateway with a clock and an approval that the test moves. */
function gateway(key: string | null = 'key', world = { nowMs: 0, binding: binding as ApprovalBinding | null }) {
  const approvals: Pick<DoorApprovals, 'seal' | 'binding' | 'nowMs' | 'spend'> = {
    seal: (text) => (key === null ? null : createHmac('sha256', key).update(text).digest('base64url')),
    binding: async () => world.binding,
    async spend(_id, _who, version) {
      if (world.binding?.version !== version) return false;
      world.binding = { ...world.binding, version: version + 1 };
      return true;
    },
    nowMs: () => world.nowMs,
  };
  return { world, states: createSealedStates(approvals as DoorApprovals, limits) };
}

function given(states: ReturnType<typeof gateway>['states'], until: ApprovalBinding = binding): string {
  const state = states.give(shown, until, holder);
  assert.ok(state !== null && isSealed(state));
  return state;
}

const problem = async (taken: ReturnType<ReturnType<typeof gateway>['states']['take']>) => {
  const said = await taken;
  return said.ok ? null : said.problem;
};

test('a state is good once', async () => {
  const { states } = gateway();
  const state = given(states);
  assert.deepEqual(await states.take(state, holder), { ok: true, ...shown, session: 'ses_1' });
  assert.equal(await problem(states.take(state, holder)), 'replayed');
});

const foreign: readonly (readonly [string, StateHolder])[] = [
  ['another agent', { ...holder, who: { tenant: 'default', agent: 'twin' } }],
  ['another tenant', { ...holder, who: { tenant: 'acme', agent: 'bot' } }],
  ['another request', { ...holder, request: '["pay",{"n":2}]' }],
  ['another door', { ...holder, door: 'recourse-coffee' }],
];

for (const [whose, other] of foreign)
  test(`of ${whose} it is foreign, and not used up by that`, async () => {
    const { states } = gateway();
    const state = given(states);
    assert.equal(await problem(states.take(state, other)), 'foreign');
    assert.equal(await problem(states.take(state, holder)), null);
  });

test('it ends with its own time, or with that of the approval if that is sooner', async () => {
  for (const [expiresAtMs, lastMs] of [
    [5_000, 999],
    [300, 299],
  ] as const) {
    const { states, world } = gateway();
    const bound = { ...binding, expiresAtMs };
    const [early, late] = [given(states, bound), given(states, bound)];
    world.nowMs = lastMs;
    assert.equal(await problem(states.take(early, holder)), null);
    world.nowMs = lastMs + 1;
    assert.equal(await problem(states.take(late, holder)), 'expired');
  }
});

test('it counts for one version of the approval and one set of rules', async () => {
  const moved: readonly (readonly [ApprovalBinding | null, string])[] = [
    [{ ...binding, version: 2 }, 'replayed'],
    [null, 'replayed'],
    [{ ...binding, rules: 'others' }, 'outdated'],
  ];
  for (const [now, expected] of moved) {
    const { states, world } = gateway();
    const state = given(states);
    world.binding = now;
    assert.equal(await problem(states.take(state, holder)), expected);
  }
});

test('another gateway knows it by the same key, and by no other', async () => {
  const state = given(gateway().states);
  assert.equal(await problem(gateway().states.take(state, holder)), null);
  assert.equal(await problem(gateway('other').states.take(state, holder)), 'forged');
  assert.equal(await problem(gateway(null).states.take(state, holder)), 'forged');
});

test('without a key nothing is given out', () => {
  assert.equal(gateway(null).states.give(shown, binding, holder), null);
});

test('every change of a character makes it forged', async () => {
  const { states } = gateway();
  const state = given(states);
  for (let at = 'approval1.'.length; at < state.length; at++) {
    const other = `${state.slice(0, at)}${state[at] === 'A' ? 'B' : 'A'}${state.slice(at + 1)}`;
    const said = await problem(states.take(other, holder));
    // The last characters of base64 have bits that say nothing: then it is the same state, and used up.
    assert.ok(said === 'forged' || said === null || said === 'replayed', `${at}: ${said}`);
    if (said !== 'forged') assert.equal(decoded(other), decoded(state));
  }
});

const decoded = (state: string) => Buffer.from(state.split('.')[1] ?? '', 'base64url').toString();

test('of many that were given out for one version the first that comes back uses them up, in every process', async () => {
  const { states, world } = gateway();
  const several = Array.from({ length: 5 }, () => given(states));
  const other = gateway('key', world).states;
  const said = await Promise.all(
    several.flatMap((state) => [states, other].map((each) => problem(each.take(state, holder)))),
  );
  assert.deepEqual(
    [said.filter((why) => why === null).length, said.filter((why) => why === 'replayed').length],
    [1, 9],
  );
});
