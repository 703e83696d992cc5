import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call, IncarnationId } from './call.ts';
import { advance, type CallEvent, mayResend } from './lifecycle.ts';
import { type CallState, callStates, type EffectClass, effectClasses, legalTransitions } from '../taxonomy.ts';
import { aCall } from '../../../test/support/builders.ts';

const me = 'inc_me' as IncarnationId;
const events: readonly CallEvent[] = [
  { kind: 'refused' },
  { kind: 'held' },
  { kind: 'admitted' },
  { kind: 'rejected' },
  { kind: 'claimed', owner: me, leaseUntilMs: 9 },
  { kind: 'returned', attempt: 1 },
  { kind: 'returned', attempt: 0 },
  ...(['none', 'applied', 'unknown'] as const).flatMap((effect): CallEvent[] => [
    { kind: 'failed', attempt: 1, effect },
    { kind: 'failed', attempt: 2, effect },
    { kind: 'retry_planned', attempt: 1, effect, atMs: 9 },
  ]),
  { kind: 'withheld', attempt: 1, atMs: 9 },
  { kind: 'abandoned', mayResend: true, nowMs: 9 },
  { kind: 'abandoned', mayResend: false, nowMs: 9 },
  { kind: 'expired' },
  { kind: 'cancelled' },
  { kind: 'proved', effect: 'applied' },
  { kind: 'proved', effect: 'none' },
  { kind: 'released', atMs: 9 },
  { kind: 'closed' },
];
const states = ['(none)', ...Object.keys(callStates)] as Call['state'][];
const classes = Object.keys(effectClasses) as EffectClass[];

/** Every call the rules allow to exist, in every state: a read is never tainted, an unsent call neither. */
function* everyCall(): Generator<Call> {
  for (const state of states)
    for (const effectClass of classes)
      for (const tainted of [false, true]) {
        if (tainted && (effectClass === 'pure' || ['(none)', 'PREPARED', 'AWAITING_APPROVAL'].includes(state)))
          continue;
        if (effectClass === 'pure' && state === 'IN_DOUBT') continue;
        yield aCall({ state, effectClass, tainted, attempt: 1 });
      }
}

test('[C6-states-1] advance makes exactly the legal transitions: no other, and every one of them', () => {
  const seen = new Set<string>();
  for (const call of everyCall())
    for (const event of events) {
      const [next, effects] = advance(call, event);
      const hops = effects.filter((effect) => effect.kind === 'record');
      if (next.state === call.state) {
        assert.equal(hops.length, 0, `${call.state} + ${event.kind} records a change that is none`);
        continue;
      }
      assert.equal(hops.length, 1, `${call.state} + ${event.kind} has exactly one record`);
      assert.ok(
        (legalTransitions[call.state] as readonly string[]).includes(next.state),
        `${call.state} → ${next.state} by ${event.kind} is illegal`,
      );
      seen.add(`${call.state} → ${next.state}`);
    }
  const legal = Object.entries(legalTransitions).flatMap(([from, list]) => list.map((state) => `${from} → ${state}`));
  assert.deepEqual(
    legal.filter((hop) => !seen.has(hop)),
    [],
  );
});

test('[C6-states-2] a call of unknown effect never ends as FAILED or CANCELLED, and a read never in doubt', () => {
  for (const call of everyCall())
    for (const event of events) {
      const [next] = advance(call, event);
      if (next.state === call.state) continue;
      if (call.effectClass === 'pure') assert.notEqual(next.state, 'IN_DOUBT', `${call.state} + ${event.kind}`);
      if (call.tainted && event.kind !== 'proved')
        assert.ok(!['FAILED', 'CANCELLED'].includes(next.state), `${call.state} + ${event.kind} → ${next.state}`);
    }
});

test('[C6-resend-1] a plain or probeable write whose answer was lost is never sent again', () => {
  for (const effectClass of ['plain', 'probeable'] as const) {
    const call = aCall({ state: 'DISPATCHED', effectClass, attempt: 1 });
    assert.equal(mayResend(call, call.createdAtMs, 1e9), false);
    assert.equal(advance(call, { kind: 'abandoned', mayResend: false, nowMs: 1 })[0].state, 'IN_DOUBT');
    assert.equal(advance(call, { kind: 'retry_planned', attempt: 1, effect: 'unknown', atMs: 1 })[0].state, 'IN_DOUBT');
  }
});

test('[C6-resend-1] a keyed write is resent only well inside its window, and any call only before its deadline', () => {
  const call = aCall({ effectClass: 'keyed', createdAtMs: 0, deadlineAtMs: 1_000 });
  assert.equal(mayResend(call, 499, 600), true);
  assert.equal(mayResend(call, 500, 600), false);
  assert.equal(mayResend(call, 1, null), false);
  assert.equal(mayResend(call, 1_000, 1e9), false);
  assert.equal(mayResend({ ...call, effectClass: 'pure' }, 999, null), true);
});

test('what an old attempt says is kept as an orphan and changes nothing', () => {
  const call = aCall({ state: 'DISPATCHED', attempt: 2 });
  assert.deepEqual(advance(call, { kind: 'returned', attempt: 1 }), [call, [{ kind: 'keep_orphan', attempt: 1 }]]);
  const late = aCall({ state: 'IN_DOUBT', attempt: 1 });
  assert.equal(advance(late, { kind: 'returned', attempt: 1 })[0].state, 'SUCCEEDED' satisfies CallState);
});
