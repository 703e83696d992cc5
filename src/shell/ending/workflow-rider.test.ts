/** What the end of a step does to its workflow: the turn, the fence, the state. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { succeeded, timedOut } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { CallState } from '../../core/taxonomy.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { anAsked, openJob, prepared } from '../../../test/support/an-asked.ts';
import { interpretResult } from '../attempt/interpret-result.ts';
import { stepOf } from '../attempt/work.ts';
import { conclude } from './conclude.ts';
import { contextHere, type Ending } from './ending.ts';
import { asFailedRead } from './workflow-rider.ts';

const succeeds = (more: Partial<Ending> = {}): Ending => ({
  events: [{ kind: 'returned', attempt: 1 }],
  say: (envelope) => succeeded(envelope, {}, []),
  result: {},
  record: ({ facts }) => facts,
  ...more,
});
const ends = (event: CallEvent): Ending => ({
  events: [event],
  say: (envelope, effect) => timedOut(envelope, 1_000, effect),
  record: ({ facts }) => facts,
});
const failedWith = (effect: 'none' | 'unknown') => ends({ kind: 'failed', attempt: 1, effect });

async function aStep(t: TestContext, raw: object = {}) {
  const { shell, work } = await openJob(t);
  const passed = await prepared(anAsked(shell, { ...work(), ...raw }), shell);
  return { ...passed, shell, id: passed.call.id };
}

const earlier = 'call_earlier' as Call['id'];

const withheld = ends({ kind: 'withheld', attempt: 1, atMs: 1 });
const noEffect = ends({ kind: 'proved', effect: 'none' });

const changes: readonly (readonly [string, CallState, Ending, 'release' | null, 'raised' | 'lifted' | null])[] = [
  ['a success gives the turn back', 'DISPATCHED', succeeds(), 'release', null],
  ['a failure gives the turn back', 'DISPATCHED', failedWith('none'), 'release', null],
  ['a doubt gives the turn back and raises the fence', 'DISPATCHED', failedWith('unknown'), 'release', 'raised'],
  ['a step between two attempts keeps its turn', 'DISPATCHED', withheld, null, null],
  ['a doubt that had no effect lifts the fence', 'IN_DOUBT', noEffect, 'release', 'lifted'],
  ['a doubt that nobody will settle lifts the fence', 'IN_DOUBT', ends({ kind: 'closed' }), 'release', 'lifted'],
  ['a doubt that succeeded keeps its fence until it is adopted', 'IN_DOUBT', succeeds(), 'release', null],
];

for (const [name, state, ending, turn, fence] of changes)
  test(name, async (t) => {
    const { call, work, shell, id } = await aStep(t);
    const { transition } = conclude({ ...call, state, attempt: 1 }, ending, contextHere(work, shell), shell);
    assert.ok(transition.session?.kind === 'step');
    const { workflow } = transition.session;
    assert.deepEqual([workflow?.turn, workflow?.fence, workflow?.call], [turn, fence, id]);
  });

const moves: readonly (readonly [string, CallState, Ending, boolean])[] = [
  ['a success moves the state, from the sequence it was decided for', 'DISPATCHED', succeeds(), true],
  ['a failure leaves the state', 'DISPATCHED', failedWith('none'), false],
  ['a success that comes to light later leaves the state to the next equal step', 'IN_DOUBT', succeeds(), false],
];

for (const [name, state, ending, moved] of moves)
  test(name, async (t) => {
    const { call, work, shell, step } = await aStep(t);
    const { transition } = conclude({ ...call, state, attempt: 1 }, ending, contextHere(work, shell), shell);
    assert.ok(transition.session?.kind === 'step');
    const { advance, expectSeq, workflow } = transition.session;
    assert.deepEqual([advance, expectSeq, workflow?.snapshot !== null], moved ? [true, 0, true] : [false, null, false]);
    const facts = JSON.parse(transition.records[0]?.body ?? '{}') as JsonObject;
    assert.equal(facts['state_before'], step?.digest);
    assert.equal(facts['state_after'] === step?.digest, !moved);
    assert.equal(facts['step'], moved ? 1 : 0);
  });

test('an adoption moves the state, lifts the fence of the earlier step and frees the turn; no attempt counts', async (t) => {
  const { call, work, shell } = await aStep(t);
  const events: readonly CallEvent[] = [
    { kind: 'admitted' },
    { kind: 'claimed', owner: 'inc_1' as never, leaseUntilMs: 1 },
    { kind: 'returned', attempt: 1 },
  ];
  const ended = conclude(call, succeeds({ events, adopts: earlier }), contextHere(work, shell), shell);
  const { session, task } = ended.transition;
  assert.ok(session?.kind === 'step');
  const { workflow, advance } = session;
  assert.deepEqual([workflow?.turn, workflow?.fence, workflow?.call], ['free', 'lifted', earlier]);
  assert.deepEqual([ended.call.attempt, task, advance], [0, null, true]);
});

test('a state that cannot follow a success stops the session, and the reply says that the action took effect', async (t) => {
  const { call, work, shell } = await aStep(t, { inputs: { throws: 'update' } });
  const from: Call = { ...call, state: 'DISPATCHED', attempt: 1 };
  const { reply, transition } = conclude(from, succeeds(), contextHere(work, shell), shell);
  assert.ok('error' in reply && transition.session?.kind === 'step');
  assert.deepEqual([reply.effect, reply.valid_next_actions], ['applied', []]);
  assert.deepEqual(transition.session.workflow?.becomes, { state: 'stopped', reason: 'repair' });
  assert.deepEqual(
    transition.records.map(({ kind }) => kind),
    ['settled', 'session_stopped'],
  );
});

for (const [name, action, kind] of [
  ['a read that the state cannot follow has failed', 'read', 'failed'],
  ['a write that the state cannot follow has happened all the same', 'work', 'returned'],
] as const)
  test(name, async (t) => {
    const { call, work, shell } = await aStep(t, { action, inputs: { throws: 'update' } });
    const back = { kind: 'came_back', result: { kind: 'returned', output: {}, errors: [] } } as const;
    const ended = interpretResult(call, back, 1_000, shell.limits);
    const step = stepOf(work);
    assert.ok(step !== null);
    assert.equal(asFailedRead(call, ended, step, shell).event.kind, kind);
  });
