import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createStderrTail } from './stderr-tail.ts';

const limits = { maxStderrLines: 3, maxStderrLineChars: 5 };

test('the last lines are kept, each cut, and every line is told once', () => {
  const told: string[] = [];
  const tail = createStderrTail(limits, (line) => told.push(line));
  for (const text of ['one\ntw', 'o\r\n\nthree is long\nfo', 'ur\nopen']) tail.push(text);
  assert.deepEqual(told, ['one', 'two', 'three', 'four']);
  assert.deepEqual(tail.lines(), ['two', 'three', 'four']);
});

test('a line without an end is told once it is too long, and its rest is skipped', () => {
  const told: string[] = [];
  const tail = createStderrTail(limits, (line) => told.push(line));
  for (let at = 0; at < 100; at++) tail.push('xyz');
  tail.push('end\nnext\n');
  assert.deepEqual(told, ['xyzxy', 'next']);
});

test('whatever is said, no more is kept than the limits allow', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '\r', '👋') })), (texts) => {
      const tail = createStderrTail(limits, () => undefined);
      for (const text of texts) tail.push(text);
      assert.ok(tail.lines().length <= 3 && tail.lines().every((line) => line.length <= 5));
    }),
  );
});
