import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { boundBody } from './bounded-body.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';

const limits = { ...defaultMcpLimits, maxMessageBytes: 20 };

function answer(chunks: readonly string[], type: string, bounds = limits): Response {
  const stream = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
  return boundBody(new Response(stream, { headers: { 'content-type': type }, status: 201 }), bounds);
}

test('a body within its bound arrives unchanged, with its status and headers', async () => {
  const response = answer(['{"a":', '1}'], 'application/json');
  assert.deepEqual([response.status, response.headers.get('content-type')], [201, 'application/json']);
  assert.deepEqual(await response.json(), { a: 1 });
  const empty = new Response(null, { status: 204 });
  assert.equal(boundBody(empty, limits), empty);
});

test('a body beyond its bound breaks off with a fault that says so', async () => {
  await assert.rejects(answer(['x'.repeat(15), 'x'.repeat(15)], 'application/json').text(), {
    name: 'MessageTooLarge',
  });
});

test('a stream may last for ever, an event may not', async () => {
  const small = Array.from({ length: 50 }, (_, at) => `data: ${at}\n\n`);
  assert.equal(await answer(small, 'text/event-stream; charset=utf-8').text(), small.join(''));
  const windows = small.map((event) => event.replaceAll('\n', '\r\n'));
  assert.equal(await answer(windows, 'text/event-stream').text(), windows.join(''));
  for (const large of [`data: ${'x'.repeat(30)}\n\n`, 'data: xxxxx\ndata: xxxxx\ndata: xxxxx\n', ':'.repeat(30)]) {
    await assert.rejects(answer([large], 'text/event-stream').text(), { name: 'MessageTooLarge' }, large);
  }
});

test('events end alike, whichever way their lines do and byte by byte', async () => {
  const text = Array.from({ length: 50 }, (_, at) => `data: ${at}\n\n`).join('');
  for (const end of ['\n', '\r\n', '\r']) {
    const bytes = text.replaceAll('\n', end).split('');
    assert.equal(await answer(bytes, 'text/event-stream').text(), bytes.join(''), JSON.stringify(end));
    const large = [...`data: ${'x'.repeat(7)}${end}data: ${'x'.repeat(7)}${end}${end}`];
    await assert.rejects(answer(large, 'text/event-stream').text(), { name: 'MessageTooLarge' }, JSON.stringify(end));
    const paced = { ...limits, floodBurst: 1, floodPerSecond: 1_000 };
    const began = performance.now();
    await answer(bytes, 'text/event-stream', paced).text();
    assert.ok(performance.now() - began >= 40, `${JSON.stringify(end)} was not paced`);
  }
});

test('however a stream is cut, the same events pass and the same are too large', async () => {
  const event = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.boolean());
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 6 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      async (events, cuts) => {
        const text = events.map(([length, big]) => `data: ${'x'.repeat(big ? length + 20 : length)}\n\n`).join('');
        const chunks: string[] = [];
        let from = 0;
        for (const cut of cuts) chunks.push(text.slice(from, (from += cut)));
        chunks.push(text.slice(from));
        const read = answer(chunks, 'text/event-stream').text();
        if (events.some(([, big]) => big)) await assert.rejects(read, { name: 'MessageTooLarge' });
        else assert.equal(await read, text);
      },
    ),
    { numRuns: 50 },
  );
});

test('a stream that floods is read no faster than its pace', async () => {
  const began = performance.now();
  const events = Array.from({ length: 30 }, () => 'data: x\n\n');
  await answer(events, 'text/event-stream', { ...limits, floodBurst: 10, floodPerSecond: 100 }).text();
  assert.ok(performance.now() - began >= 150);
});

test('of very many events in one read only a few are handed on before its pace counts, and of lines that are no events as well', async () => {
  const paced = { ...defaultMcpLimits, floodBurst: 1, floodPerSecond: 0.001 };
  for (const [flood, most] of [
    ['data: x\n\n', 128],
    ['\n', 128],
    ['\r', 128],
    [':\n', 1_024],
    ['data: x\r\n', 1_024],
  ] as const) {
    const reader = answer([flood.repeat(10_000)], 'text/event-stream', paced).body?.getReader();
    const first = await reader?.read();
    // The two halves of one end may be parted.
    const short = flood.length * most - (first?.value?.length ?? 0);
    assert.ok(short === 0 || (short === 1 && flood.endsWith('\r\n')), JSON.stringify(flood));
    const second = reader?.read().then(() => 'read');
    assert.equal(await Promise.race([second, pause(20, 'rests')]), 'rests', JSON.stringify(flood));
    await Promise.all([second, reader?.cancel()]);
  }
});
