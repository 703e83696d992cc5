import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultLimits } from '../limits.ts';
import { readRequest } from './request.ts';

test('reads a whole call', () => {
  const read = readRequest(
    {
      tool: 'pay',
      args: { b: 1, a: 2 },
      session: 'ses_1',
      key: 'k',
      turn: 't',
      expected_seq: 3,
      wait_seconds: 0.5,
      deadline_seconds: 9,
      model: 'claude',
    },
    defaultLimits,
  );
  assert.deepEqual(read, {
    ok: true,
    request: {
      tool: 'pay',
      args: { a: 2, b: 1 },
      argsText: '{"a":2,"b":1}',
      session: 'ses_1',
      key: 'k',
      turn: 't',
      expectedSeq: 3,
      waitMs: 500,
      model: 'claude',
      deadlineMs: 9_000,
    },
  });
});

test('arguments that are left out are an empty object', () => {
  const read = readRequest({ tool: 'pay' }, defaultLimits);
  assert.ok(read.ok);
  assert.deepEqual(read.request.args, {});
});

test('the arguments are a copy: changing them afterwards changes nothing', () => {
  const args = { amount: 1 };
  const read = readRequest({ tool: 'pay', args }, defaultLimits);
  args.amount = 1_000;
  assert.ok(read.ok);
  assert.deepEqual(read.request.args, { amount: 1 });
});

const wrong: readonly (readonly [string, unknown, string])[] = [
  ['an unknown field', { tool: 'pay', kee: 'k' }, '/kee'],
  ['no tool', { args: {} }, '/tool'],
  ['a tool that is no text', { tool: 7 }, '/tool'],
  ['an empty key', { tool: 'pay', key: '' }, '/key'],
  ['a key beyond the limit', { tool: 'pay', key: 'k'.repeat(257) }, '/key'],
  ['a sequence that is no whole number', { tool: 'pay', expected_seq: 1.5 }, '/expected_seq'],
  ['a negative wait', { tool: 'pay', wait_seconds: -1 }, '/wait_seconds'],
  ['arguments with a bigint', { tool: 'pay', args: { n: 1n } }, '/args/n'],
];

for (const [what, value, path] of wrong) {
  test(`refuses ${what} by its path`, () => {
    const read = readRequest(value, defaultLimits);
    assert.ok(!read.ok);
    assert.equal(read.problem, 'invalid');
    assert.deepEqual(
      read.errors.map((error) => error.path),
      [path],
    );
  });
}

test('seconds are whole milliseconds, at least one if there are any', () => {
  const seconds = fc.oneof(fc.double({ min: 0, max: 86_400, noNaN: true }), fc.constantFrom(12.3456, 0.000_01, 0));
  fc.assert(
    fc.property(seconds, (amount) => {
      const read = readRequest({ tool: 'pay', deadline_seconds: amount, wait_seconds: amount }, defaultLimits);
      assert.ok(read.ok);
      const { deadlineMs, waitMs } = read.request;
      assert.ok(Number.isSafeInteger(deadlineMs) && deadlineMs === waitMs, `${amount}: ${deadlineMs}`);
      assert.ok(Math.abs((deadlineMs ?? 0) - amount * 1_000) <= 1 && (deadlineMs === 0) === (amount === 0));
    }),
  );
});

test('lists every wrong field, up to the limit', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]));
  const read = readRequest({ tool: 'pay', ...many }, { ...defaultLimits, maxFieldErrors: 5 });
  assert.ok(!read.ok);
  assert.equal(read.errors.length, 5);
});

test('a huge payload is too large, with the limit in the answer', () => {
  const read = readRequest(
    { tool: 'pay', args: { text: 'x'.repeat(2_000) } },
    { ...defaultLimits, maxInputBytes: 1_000 },
  );
  assert.ok(!read.ok);
  assert.equal(read.problem, 'too_large');
  assert.match(read.errors[0]?.expected ?? '', /1000 bytes/);
});

test('any value at all is read or refused, and nothing throws', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withObjectString: true }), (value) => {
      const read = readRequest(value, defaultLimits);
      if (!read.ok) assert.ok(read.errors.length > 0 && JSON.stringify(read.errors).length < 100_000);
    }),
    { numRuns: 3_000 },
  );
});
