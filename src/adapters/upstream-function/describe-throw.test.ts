/** What a body threw, wrapped or not: kind, code and effect of the failure inside, and the whole chain for the audit. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureOf } from './describe-throw.ts';
import { maxLinks } from './cause-chain.ts';
import { ToolFailure } from './tool-failure.ts';

const live = new AbortController().signal;
const inner = () =>
  new ToolFailure({ kind: '404_not_found', message: 'no order 7', effect: 'none', retry_after_seconds: 3 });
const reply = {
  error: 'denied',
  class: 'Governance',
  code: 'POLICY_DENY',
  message: 'denied: refund blocked by policy',
  effect: 'none',
  resolution: { type: 'rule_block', rule_id: 'a:1' },
};
const told = (thrown: unknown) => {
  const { kind, code, effect, message } = failureOf(thrown, live);
  return [kind, code, effect, message];
};

function nested(depth: number, innermost: unknown): unknown {
  let link = innermost;
  for (let at = 1; at < depth; at++) link = new Error(`link ${depth - at}`, { cause: link });
  return link;
}

describe('the outermost typed failure of a chain speaks', () => {
  const table: readonly (readonly [string, unknown, readonly unknown[]])[] = [
    ['unwrapped', inner(), ['404_not_found', null, 'none', 'no order 7']],
    [
      'wrapped twice',
      new Error('while refunding', { cause: new TypeError('at the bank', { cause: inner() }) }),
      ['404_not_found', null, 'none', 'while refunding: at the bank: no order 7'],
    ],
    [
      'wrapped by an error that repeats its message',
      new Error('cannot refund: no order 7', { cause: inner() }),
      ['404_not_found', null, 'none', 'cannot refund: no order 7'],
    ],
    [
      'a failure around a failure: the outer one',
      new ToolFailure({ kind: '5xx', message: 'the bank is closed', cause: inner() }),
      ['5xx', null, null, 'the bank is closed'],
    ],
    [
      'with a code',
      new Error('outer', { cause: new ToolFailure({ kind: 'unknown', code: 'NetworkTimeout', message: 'late' }) }),
      ['unknown', 'NetworkTimeout', null, 'outer: late'],
    ],
    [
      'in an object that is no error',
      { message: 'outer', cause: inner() },
      ['404_not_found', null, 'none', 'outer: no order 7'],
    ],
    ['the cause of which is text', new Error('outer', { cause: 'text' }), ['threw', null, null, 'outer']],
    [
      'the only one of a group',
      new AggregateError([inner()], 'all'),
      ['404_not_found', null, 'none', 'all: no order 7'],
    ],
    ['among several: none speaks', new AggregateError([inner(), new Error('x')], 'all'), ['threw', null, null, 'all']],
    [
      'among several, of which one may have happened',
      new AggregateError([inner(), new ToolFailure({ kind: 'timeout', message: 'late' })], 'all'),
      ['threw', null, 'unknown', 'all'],
    ],
    ['a reply of a tool that it called', reply, ['403_forbidden', 'POLICY_DENY', null, reply.message]],
    [
      'such a reply, wrapped',
      new Error('while refunding', { cause: reply }),
      ['403_forbidden', 'POLICY_DENY', null, `while refunding: ${reply.message}`],
    ],
    [
      'a reply whose effect is not none',
      { ...reply, error: 'action_error', class: 'ProviderTransient', code: 'Provider5xx', effect: 'applied' },
      ['5xx', 'Provider5xx', 'unknown', reply.message],
    ],
    [
      'a reply with a code that no failed action has: told in words',
      { ...reply, error: 'unknown_action', class: 'Workflow', code: 'UnknownAction', message: 'no such tool' },
      ['threw', null, null, 'no such tool (Workflow/UnknownAction)'],
    ],
  ];
  for (const [name, thrown, expected] of table)
    test(name, () => {
      assert.deepEqual(told(thrown), expected);
    });
});

test('a chain of a thousand links is followed to its end, and its audit says how much was left out', () => {
  const found = failureOf(nested(maxLinks, inner()), live);
  assert.deepEqual([found.kind, found.message.endsWith('…: no order 7')], ['404_not_found', true]);
  assert.match(found.message, /^link 1: link 2: /);
  assert.match(found.cause ?? '', /^Error: link 1\n[\s\S]*caused by: Error: link 20\n/);
  assert.match(failureOf(nested(maxLinks, new Error('x'.repeat(40_000))), live).cause ?? '', /… and 1 more$/);
  assert.equal(failureOf(nested(maxLinks + 1, inner()), live).kind, 'threw');
});

test('a cycle of causes ends, and every link is in the audit once', () => {
  const [one, other] = [new Error('one'), new Error('other')];
  one.cause = other;
  other.cause = one;
  assert.deepEqual(told(one), ['threw', null, null, 'one']);
  assert.equal(failureOf(one, live).cause?.match(/Error: one/g)?.length, 1);
});

test('getters and proxies that throw hide only themselves', () => {
  const refuses = () => {
    throw new Error('no');
  };
  const odd = Object.defineProperties(new Error('odd', { cause: 1 }), {
    cause: { get: refuses },
    errors: { get: refuses },
    stack: { get: refuses },
    name: { get: refuses },
  });
  assert.deepEqual(told(odd), ['threw', null, null, 'odd']);
  const hostile = new Proxy({}, { get: refuses, getPrototypeOf: refuses, has: refuses, ownKeys: refuses });
  assert.equal(told(hostile)[0], 'threw');
  assert.deepEqual(told(new Error('outer', { cause: hostile })), ['threw', null, null, 'outer']);
  assert.deepEqual(told(new AggregateError([hostile], 'all')), ['threw', null, null, 'all']);
});

test('an abort that was wrapped is still an abort', () => {
  const controller = new AbortController();
  controller.abort();
  const wrapped = new Error('stopped', { cause: controller.signal.reason });
  assert.equal(failureOf(wrapped, controller.signal).kind, 'cancelled');
});
