import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { eventually } from '../../../../test/support/eventually.ts';
import { createLineTransport } from './line-transport.ts';

const maxLineBytes = 1_000;

async function started(opened: Promise<unknown> | null = null) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = createLineTransport({ input, output }, maxLineBytes, opened);
  const heard: JSONRPCMessage[] = [];
  let written = '';
  let closes = 0;
  transport.onmessage = (message) => heard.push(message);
  transport.onclose = () => (closes += 1);
  output.on('data', (data: Buffer) => (written += data.toString()));
  await transport.start();
  const lines = () =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { input, output, transport, heard, lines, closes: () => closes };
}

const ping = (id: number, note = '') => ({ jsonrpc: '2.0' as const, id, method: 'ping', params: { note } });

test('messages arrive whole and in order, wherever the stream was cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 40 })),
      fc.array(fc.nat(64)),
      async (notes, cuts) => {
        const { input, heard } = await started();
        const messages = notes.map((note, id) => ping(id, note));
        let rest = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
        for (const cut of [...cuts, rest.length]) {
          input.write(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        input.write(rest);
        await eventually('every message', async () => heard.length === messages.length);
        assert.deepEqual(heard, messages);
      },
    ),
    { numRuns: 50 },
  );
});

test('before it is open greetings alone pass; the rest waits, in order, and so does the end of the input', async () => {
  const opened = Promise.withResolvers<void>();
  const { input, transport, heard, closes } = await started(opened.promise);
  const hello = { jsonrpc: '2.0' as const, id: 1, method: 'initialize' };
  const calls = [2, 3].map((id) => ({ jsonrpc: '2.0' as const, id, method: 'tools/call' }));
  input.end([hello, ...calls].map((message) => `${JSON.stringify(message)}\n`).join(''));
  await eventually('the greeting', async () => heard.length > 0 && input.isPaused());
  assert.deepEqual(heard, [hello]);
  opened.resolve();
  await eventually('the calls', async () => heard.length > 1);
  assert.deepEqual([heard, closes()], [[hello, ...calls], 0]);
  for (const { id } of [hello, ...calls]) await transport.send({ jsonrpc: '2.0', id, result: {} });
  await eventually('the end', async () => closes() === 1);
});

test('what is no message is answered, with its id if it has one', async () => {
  const { input, lines, heard } = await started();
  input.write('no json\n[1]\n{"id":7}\n{"jsonrpc":"2.0","id":8,"method":"tools/call","params":[1]}\n\n');
  input.write(`${JSON.stringify(ping(9))}\n`);
  await eventually('the message after them', async () => heard.length === 1);
  const answers = lines().map(({ id, error }) => [id, (error as { code: number }).code]);
  assert.deepEqual(answers, [
    [null, -32_700],
    [null, -32_600],
    [7, -32_600],
    [8, -32_600],
  ]);
});

test('a line beyond the limit costs that line and nothing else', async () => {
  const { input, lines, heard } = await started();
  for (let part = 0; part < 20; part++) input.write('x'.repeat(maxLineBytes));
  // Nothing of it is kept until its end, which may never come.
  await eventually('the refusal', async () => lines().length === 1);
  assert.match(JSON.stringify(lines()), /longer than 1000 bytes/);
  input.write(`tail\n${JSON.stringify(ping(1))}\n`);
  await eventually('the next message', async () => heard.length === 1);
  assert.equal(lines().length, 1, 'and it is refused once');
  assert.deepEqual(heard, [ping(1)]);
});

test('the end of the input closes the connection once', async () => {
  const { input, transport, closes } = await started();
  input.end();
  await eventually('the end', async () => closes() === 1);
  await transport.close();
  assert.equal(closes(), 1);
  await assert.rejects(transport.send(ping(1)), /closed/);
});

test('after the end of the input what was asked is still answered, but for what was cancelled', async () => {
  const { input, transport, closes, heard, lines } = await started();
  input.write([ping(1), ping(2)].map((message) => `${JSON.stringify(message)}\n`).join(''));
  input.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n');
  await eventually('all of it', async () => heard.length === 3);
  input.end();
  await eventually('the end of the input', async () => input.readableEnded);
  assert.equal(closes(), 0);
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
  assert.equal(closes(), 1);
  assert.deepEqual(lines(), [{ jsonrpc: '2.0', id: 1, result: {} }]);
});

test('a broken pipe closes the connection, and its late errors harm nobody', async () => {
  const { output, closes } = await started();
  output.destroy(new Error('EPIPE'));
  await eventually('the end', async () => closes() === 1);
  output.emit('error', new Error('EPIPE'));
});
