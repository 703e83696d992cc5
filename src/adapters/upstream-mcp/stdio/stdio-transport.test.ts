import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StdioConnection } from '../mcp-config.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';
import { createStdioTransport } from './stdio-transport.ts';

function child(source: string): StdioConnection {
  return { kind: 'stdio', command: process.execPath, args: ['-e', source], env: {}, cwd: null };
}

test('a child that does not read is not fed without end', async (t) => {
  const limits = { ...defaultMcpLimits, maxQueuedBytes: 1 << 20 };
  const transport = createStdioTransport(child('setInterval(() => {}, 1000)'), limits, () => undefined);
  t.after(() => transport.close());
  await transport.start();
  const message = { jsonrpc: '2.0' as const, method: 'x', params: { text: 'x'.repeat(1 << 18) } };
  const feed = async () => {
    for (let at = 0; at < 100; at++) await transport.send(message);
  };
  await assert.rejects(feed, { name: 'NotSent', message: 'the server does not read its input' });
});

test('what ends a line elsewhere does not end one here', async (t) => {
  const echo = "require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(line))";
  const transport = createStdioTransport(child(echo), defaultMcpLimits, () => undefined);
  t.after(() => transport.close());
  const came = Promise.withResolvers<unknown>();
  transport.onmessage = came.resolve;
  await transport.start();
  const message = { jsonrpc: '2.0' as const, method: 'x', params: { text: 'a\u2028b\u2029c\u0085d\r\ne' } };
  await transport.send(message);
  assert.deepEqual(await came.promise, message);
});

test('a command that does not exist is told at once, and sending says that nothing was sent', async () => {
  const server: StdioConnection = { ...child(''), command: 'recourse-no-such-command' };
  const transport = createStdioTransport(server, defaultMcpLimits, () => undefined);
  const message = "the command 'recourse-no-such-command' cannot be started: ENOENT";
  await assert.rejects(transport.start(), { name: 'NotSent', message });
  await assert.rejects(transport.send({ jsonrpc: '2.0', method: 'x' }), { name: 'NotSent' });
  await transport.close();
});

test('of a folder to run in that is not there, the folder is told and not the command', async () => {
  const server: StdioConnection = { ...child(''), cwd: '/recourse/no/such/folder' };
  const transport = createStdioTransport(server, defaultMcpLimits, () => undefined);
  await assert.rejects(transport.start(), { name: 'NotSent', message: 'there is no such folder as its cwd' });
  await transport.close();
});

test('a command that the system cannot even try is told as well', async () => {
  const transport = createStdioTransport({ ...child(''), args: ['a\0b'] }, defaultMcpLimits, () => undefined);
  await assert.rejects(transport.start());
  await transport.close();
});

test('an answer is handed on once, and only to a question that was asked', async (t) => {
  const parrot = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    for (const id of [5, 1, 1, '1']) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { id } }));
    console.log(JSON.stringify({ jsonrpc: '2.0', method: 'over' }));
  })`;
  const transport = createStdioTransport(child(parrot), defaultMcpLimits, () => undefined);
  t.after(() => transport.close());
  const over = Promise.withResolvers<void>();
  const heard: unknown[] = [];
  transport.onmessage = (message) => {
    if ('method' in message) over.resolve();
    else heard.push(message);
  };
  await transport.start();
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'x' });
  await over.promise;
  assert.deepEqual(heard, [{ jsonrpc: '2.0', id: 1, result: { id: 1 } }]);
});

test('what a child says on its standard error right before it ends is heard', async (t) => {
  // Read slowly, so that the end of the process overtakes its words.
  const limits = { ...defaultMcpLimits, stderrBytesBurst: 1_000, stderrBytesPerSecond: 500_000 };
  for (let round = 0; round < 3; round++) {
    let said = '';
    const source = "require('fs').writeSync(2, 'x'.repeat(100_000) + ' because'); process.exit(1)";
    const transport = createStdioTransport(child(source), limits, (text) => (said += text));
    t.after(() => transport.close());
    const gone = new Promise<void>((resolve) => (transport.onclose = resolve));
    await transport.start();
    await gone;
    assert.match(said, / because$/);
    assert.equal(transport.ending(), 'it ended by itself with exit code 1');
  }
});

test('a child that floods is read no faster than its pace', async (t) => {
  const source = `const block = (JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { t: 'x'.repeat(2000) } }) + '\\n').repeat(30);
    const more = () => { while (process.stdout.write(block)) continue; };
    process.stdout.on('drain', more); more();`;
  const limits = { ...defaultMcpLimits, floodBurst: 50, floodPerSecond: 100 };
  const transport = createStdioTransport(child(source), limits, () => undefined);
  t.after(() => transport.close());
  let heard = 0;
  const enough = Promise.withResolvers<void>();
  transport.onmessage = () => {
    if (++heard === 200) enough.resolve();
  };
  const began = performance.now();
  await transport.start();
  await enough.promise;
  // 50 at once, one chunk too many, the rest at 100 a second.
  assert.ok(performance.now() - began > 800, 'read without rest');
});
