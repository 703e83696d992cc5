import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readEvents } from './read-events.ts';

const stream =
  ': here\n\nid: 1.2\nevent: approval\ndata: {"a":1}\n\nevent: end\r\ndata: {"reason":"closing"}\r\n\r\ndata: two\ndata: lines\n\nid: 3\n\n';

const events = [
  { id: '1.2', event: 'approval', data: { a: 1 } },
  { id: '1.2', event: 'end', data: { reason: 'closing' } },
  { id: '1.2', event: 'message', data: 'two\nlines' },
];

test('events are read as they come, comments and events without data left out', () =>
  assert.deepEqual(readEvents().take(stream), events));

test('however the stream is cut into pieces', () =>
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const reading = readEvents();
      const told = at.slice(1).flatMap((end, index) => reading.take(stream.slice(at[index], end)) ?? []);
      assert.deepEqual(told, events);
    }),
  ));

test('a line without an end is given up', () => {
  const reading = readEvents();
  const piece = 'x'.repeat(8 << 20);
  const taken = Array.from({ length: 6 }, () => reading.take(piece));
  assert.equal(taken.at(-1), null);
});
