import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { boundEvents } from './bound-events.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';

const limits = { ...defaultMcpLimits, maxMessageBytes: 20 };

/** What passes, as text. */
async function passed(chunks: readonly string[], bounds = limits): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of boundEvents(streamOf(chunks), bounds)) parts.push(part);
  return Buffer.concat(parts).toString();
}

const streamOf = (chunks: readonly string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

test('a stream may last for ever, an event may not', async () => {
  const small = Array.from({ length: 50 }, (_, at) => `data: ${at}\n\n`);
  assert.equal(await passed(small), small.join(''));
  const windows = small.map((event) => event.replaceAll('\n', '\r\n'));
  assert.equal(await passed(windows), windows.join(''));
  for (const large of [`data: ${'x'.repeat(30)}\n\n`, 'data: xxxxx\ndata: xxxxx\ndata: xxxxx\n', ':'.repeat(30)]) {
    await assert.rejects(passed([large]), { name: 'MessageTooLarge' }, large);
  }
});

test('events end alike, whichever way their lines do and byte by byte', async () => {
  const text = Array.from({ length: 50 }, (_, at) => `data: ${at}\n\n`).join('');
  for (const end of ['\n', '\r\n', '\r']) {
    const bytes = text.replaceAll('\n', end).split('');
    assert.equal(await passed(bytes), bytes.join(''), JSON.stringify(end));
    const large = [...`data: ${'x'.repeat(7)}${end}data: ${'x'.repeat(7)}${end}${end}`];
    await assert.rejects(passed(large), { name: 'MessageTooLarge' }, JSON.stringify(end));
    const paced = { ...limits, floodBurst: 1, floodPerSecond: 1_000 };
    const began = performance.now();
    await passed(bytes, paced);
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
        const read = passed(chunks);
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
  await passed(events, { ...limits, floodBurst: 10, floodPerSecond: 100 });
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
    const stream = streamOf([flood.repeat(10_000)]);
    const reader = boundEvents(stream, paced);
    const first: Uint8Array | undefined = (await reader.next()).value ?? undefined;
    // The two halves of one end may be parted.
    const short = flood.length * most - (first?.length ?? 0);
    assert.ok(short === 0 || (short === 1 && flood.endsWith('\r\n')), JSON.stringify(flood));
    const second = reader.next().then(() => 'read');
    assert.equal(await Promise.race([second, pause(20, 'waits')]), 'waits', JSON.stringify(flood));
    stream.destroy();
  }
});
