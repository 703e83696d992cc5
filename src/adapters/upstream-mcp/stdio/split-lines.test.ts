import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineSplitter } from './split-lines.ts';

function linesOf(chunks: readonly Buffer[], maxBytes: number) {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = createLineSplitter(
    maxBytes,
    (line) => lines.push(line.toString('utf8')),
    () => tooLong++,
  );
  for (const chunk of chunks) splitter.push(chunk);
  return { lines, tooLong };
}

test('however a stream is cut into chunks, its lines are the same', () => {
  const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'ü', '👋', '\r', ' ') }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(text, fc.array(fc.nat(20), { maxLength: 10 }), (lines, cuts) => {
      const whole = Buffer.from(`${lines.join('\n')}\n`);
      const chunks: Buffer[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(whole.subarray(from, from + cut));
        from += cut;
      }
      chunks.push(whole.subarray(from));
      assert.deepEqual(linesOf(chunks, 1_000), { lines, tooLong: 0 });
    }),
  );
});

test('a line of exactly the limit is read, a longer one ends the reading once and for all', () => {
  const chunks = ['aaaa\nbbb', 'bb\ncc\n', 'dd\n'].map((text) => Buffer.from(text));
  assert.deepEqual(linesOf(chunks, 4), { lines: ['aaaa'], tooLong: 1 });
  assert.deepEqual(linesOf(chunks, 5), { lines: ['aaaa', 'bbbbb', 'cc', 'dd'], tooLong: 0 });
});

test('a line that never ends is given up before it is whole', () => {
  const chunks = Array.from({ length: 100 }, () => Buffer.alloc(10, 'x'));
  assert.deepEqual(linesOf(chunks, 50), { lines: [], tooLong: 1 });
});
