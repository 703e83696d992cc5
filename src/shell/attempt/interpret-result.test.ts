/** How the end of an attempt becomes an event, a reply and a record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits } from '../../core/limits.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import type { Failure, UpstreamResult } from '../../ports/upstream.ts';
import { aCall } from '../../../test/support/builders.ts';
import { type Interpreted, interpretResult } from './interpret-result.ts';
import type { AttemptEnd } from './send-attempt.ts';

const limits = { ...defaultLimits, maxResultBytes: 20, maxDepth: 4 };
const envelope = { requested: 'pay', callId: 'call_1' as never, session: 'ses_1' as never, nextActions: ['pay'] };

const threw: Failure = {
  kind: 'threw',
  subject: null,
  errorType: 'Error',
  message: 'no',
  effect: null,
  retryAfterSeconds: null,
  code: null,
  cause: null,
};
const returned = (output: unknown, errors: readonly never[] = []): AttemptEnd =>
  cameBack({ kind: 'returned', output, errors });
const failedWith = (change: Partial<Failure>): AttemptEnd =>
  cameBack({ kind: 'failed', failure: { ...threw, ...change } });
const cameBack = (result: UpstreamResult): AttemptEnd => ({ kind: 'came_back', result });

const interpret = (end: AttemptEnd, effectClass: EffectClass = 'plain'): Interpreted =>
  interpretResult(aCall({ state: 'DISPATCHED', attempt: 2, effectClass }), end, 1_500, limits);

const events: readonly (readonly [string, AttemptEnd, object])[] = [
  ['a result returns', returned({ a: 1 }), { kind: 'returned', attempt: 2 }],
  ['a timeout leaves the effect unknown', { kind: 'timed_out' }, { kind: 'failed', attempt: 2, effect: 'unknown' }],
  ['a cancellation cancels', { kind: 'cancelled', scope: 'ToolCancelled' }, { kind: 'cancelled' }],
  [
    'a failure has the effect that it states',
    failedWith({ effect: 'none' }),
    { kind: 'failed', attempt: 2, effect: 'none' },
  ],
];

for (const [name, end, event] of events) test(name, () => assert.deepEqual(interpret(end).event, event));

const results: readonly (readonly [string, unknown, unknown])[] = [
  ['a result is told as it is stored', { b: 1, a: undefined }, { b: 1 }],
  ['nothing returned is null', undefined, null],
];

for (const [name, output, result] of results)
  test(name, () => {
    const { result: kept, say } = interpret(returned(output));
    assert.deepEqual(kept, result);
    const reply = say(envelope, 'applied');
    assert.deepEqual('result' in reply ? reply.result : null, result);
  });

const malformed: readonly (readonly [string, unknown, RegExp])[] = [
  ['a result that is not JSON', { when: 1n }, /the result is not JSON at '\/when'/],
  ['a result that is too large', 'x'.repeat(19), /the result has 21 bytes; the limit is 20/],
  ['a result that is too deep', [[[[[1]]]]], /the result is not JSON/],
];

for (const [name, output, message] of malformed)
  test(`${name} is a failure that says why`, () => {
    const { result, facts, say } = interpret(returned(output));
    assert.deepEqual([result, facts['kind'], facts['subject']], [undefined, 'schema_validation', 'response']);
    assert.match(JSON.stringify(say(envelope, 'unknown')), message);
  });

test('a result of exactly the limit is no failure', () =>
  assert.equal(interpret(returned('x'.repeat(18))).facts['bytes'], 20));

test('the code that an author gave stands in place of the one of the table', () => {
  const { facts } = interpret(failedWith({ code: 'RateLimited' }));
  assert.deepEqual([facts['code'], facts['recognised']], ['RateLimited', true]);
});

test('the cause is kept for the audit, cut to what fits, and is not in the reply', () => {
  const { payloads, say } = interpret(failedWith({ cause: 'c'.repeat(limits.maxMessageChars * 9) }));
  assert.deepEqual(
    payloads.map(({ part }) => part),
    ['cause'],
  );
  assert.equal(JSON.parse(payloads[0]?.text ?? '').length, limits.maxMessageChars * 8);
  assert.doesNotMatch(JSON.stringify(say(envelope, 'none')), /ccc/);
  assert.deepEqual(interpret(failedWith({})).payloads, []);
});

test('items that failed are counted, and each is told with its code', () => {
  const items = [{ item: 3, kind: '404_not_found', message: 'no such order' }] as never;
  const { facts, say } = interpret(returned({}, items));
  assert.equal(facts['failed_items'], 1);
  assert.match(JSON.stringify(say(envelope, 'applied')), /"item":3,"message":"no such order"/);
});

test('the reply of a timeout says how long it may take; of a cancellation, who asked for it', () => {
  const timeout = interpret({ kind: 'timed_out' });
  assert.deepEqual(timeout.facts, { kind: 'timeout', timeout_ms: 1_500 });
  const cancelled = interpret({ kind: 'cancelled', scope: 'SessionCancelled' });
  assert.deepEqual(cancelled.facts, { kind: 'cancelled', scope: 'SessionCancelled' });
  assert.match(JSON.stringify(cancelled.say(envelope, 'none')), /"code":"SessionCancelled"/);
});

const uses: readonly (readonly [string, AttemptEnd, object | undefined])[] = [
  ['a time limit', { kind: 'timed_out' }, { kind: 'unknown' }],
  ['a cancellation', { kind: 'cancelled', scope: 'ToolCancelled' }, { kind: 'unknown' }],
  ['a failure that says nothing', failedWith({}), { kind: 'unknown' }],
  ['a failure that used nothing', failedWith({ used: null }), undefined],
  ['what was never sent', failedWith({ kind: 'never_sent' }), undefined],
  ['a failure that says it', failedWith({ used: { cost: '1 USD' } }), { kind: 'known', usage: { cost: '1 USD' } }],
  ['an answer that cannot be kept', returned('x'.repeat(30)), { kind: 'unknown' }],
];

for (const [name, end, use] of uses)
  test(`${name} has used ${use === undefined ? 'nothing' : JSON.stringify(use)}`, () =>
    assert.deepEqual(interpret(end).use, use));

test('what had arrived of a stream is kept for the audit, unless it is too large', () => {
  const partOf = (partial: Failure['partial'] & {}) =>
    interpret(failedWith({ partial })).payloads.find(({ part }) => part === 'partial')?.text;
  assert.equal(partOf({ b: 1, a: 'x' }), '{"a":"x","b":1}');
  assert.equal(partOf('x'.repeat(30)), '{"left_out":"too large"}');
});
