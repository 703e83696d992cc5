import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryTransport, type JSONRPCMessage, type TransportSendOptions } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { defaultMcpLimits } from './mcp-limits.ts';
import { createWire } from './wire.ts';

/** The wire on one side; on the other whoever answers. */
async function connected(
  answering: (message: JSONRPCMessage & { id: number }, say: (message: unknown) => void) => void,
) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const heard: JSONRPCMessage[] = [];
  let changes = 0;
  const wire = createWire(ours, defaultMcpLimits, { toolsChanged: () => changes++, ending: () => 'it went away' });
  const toClient: unknown[] = [];
  wire.transport.onmessage = (message) => toClient.push(message);
  theirs.onmessage = (message) => {
    heard.push(message);
    answering(message as never, (reply) => void theirs.send(reply as JSONRPCMessage));
  };
  await theirs.start();
  await wire.transport.start();
  return { wire, theirs, heard, toClient, changes: () => changes };
}

const question = { method: 'tools/call', params: { name: 'x' }, timeoutMs: 5_000 };

test('a question gets exactly its own answer, untouched, in whatever order answers come', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue(), { minLength: 1, maxLength: 10 }),
      fc.infiniteStream(fc.nat(100)),
      async (values, order) => {
        const held: { id: number; say: (message: unknown) => void }[] = [];
        const { wire } = await connected(({ id }, say) => held.push({ id, say }));
        const asked = values.map(() => wire.ask(question));
        const results = held.map(({ id, say }, at) => ({
          rank: order.next().value ?? 0,
          id,
          say,
          result: { value: values[at] },
        }));
        for (const { id, say, result } of results.toSorted((a, b) => a.rank - b.rank)) {
          say({ jsonrpc: '2.0', id, result });
          say({ jsonrpc: '2.0', id, result: { value: 'again' } });
        }
        const answers = await Promise.all(asked);
        assert.deepEqual(
          answers.map((answer) => answer.kind === 'result' && answer.result),
          values.map((value) => ({ value })),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test('answers that nobody awaits and news that nobody needs reach nobody', async () => {
  const { wire, theirs, toClient, changes } = await connected(({ id }, say) => say({ jsonrpc: '2.0', id, result: {} }));
  await wire.transport.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} });
  const news = [
    { id: 7, result: {} },
    { id: '0', result: {} },
    { method: 'notifications/message', params: {} },
    { method: 'notifications/tools/list_changed' },
    { id: 'r', method: 'sampling/createMessage' },
  ];
  for (const each of news) await theirs.send({ jsonrpc: '2.0', ...each } as JSONRPCMessage);
  assert.deepEqual(toClient, [
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id: 'r', method: 'sampling/createMessage' },
  ]);
  assert.equal(changes(), 1);
});

test('when the connection ends, every open question is lost, and later ones are never sent', async () => {
  const { wire, theirs } = await connected(() => undefined);
  const asked = [wire.ask(question), wire.ask(question)];
  await theirs.close();
  for (const answer of await Promise.all(asked))
    assert.deepEqual(answer, { kind: 'lost', reason: 'it went away', cause: 'it went away' });
  assert.equal((await wire.ask(question)).kind, 'unsent');
  await wire.closed;
});

test('a question that nobody waits for is withdrawn: by its signal, or after its time', async () => {
  const { wire, heard } = await connected(() => undefined);
  const stop = new AbortController();
  const asked = wire.ask({ ...question, signal: stop.signal });
  stop.abort();
  assert.deepEqual(await asked, { kind: 'aborted', sent: true });
  assert.deepEqual(await wire.ask({ ...question, timeoutMs: 1 }), { kind: 'timed_out' });
  assert.deepEqual(await wire.ask({ ...question, signal: AbortSignal.abort() }), { kind: 'aborted', sent: false });
  const requests = heard.filter((message) => 'id' in message).map((message) => 'id' in message && message.id);
  const withdrawn = heard.filter((message) => 'method' in message && message.method === 'notifications/cancelled');
  assert.equal(requests.length, 2);
  assert.deepEqual(
    withdrawn.map((message) => 'params' in message && (message.params as { requestId?: unknown }).requestId),
    requests,
  );
});

test('a retired wire answers what is open, takes nothing new and then closes', async () => {
  let release = (): void => undefined;
  const { wire } = await connected(({ id }, say) => {
    release = () => say({ jsonrpc: '2.0', id, result: { late: true } });
  });
  const asked = wire.ask(question);
  wire.retire();
  assert.equal((await wire.ask(question)).kind, 'unsent');
  assert.equal(wire.isClosed(), false);
  release();
  assert.deepEqual(await asked, { kind: 'result', result: { late: true } });
  await wire.closed;
});

test('a server that leaves our answers to its questions open holds only a few of them, and not for long', async () => {
  const [ours] = InMemoryTransport.createLinkedPair();
  let sent = 0;
  let open = 0;
  const send = async (_: JSONRPCMessage, options?: TransportSendOptions) => {
    sent++;
    open++;
    await new Promise((resolve) => options?.requestSignal?.addEventListener('abort', resolve));
    open--;
  };
  const limits = { ...defaultMcpLimits, maxAnswersUnderWay: 3, courtesyTimeoutMs: 20 };
  const inner = Object.assign(ours, { hasPerRequestStream: true, send });
  const wire = createWire(inner, limits, { toolsChanged: () => undefined, ending: () => '' });
  const answers = Array.from({ length: 10 }, (_, id) => wire.transport.send({ jsonrpc: '2.0', id, result: {} }));
  assert.deepEqual([sent, open], [3, 3]);
  // The signal of a time limit keeps no process alive.
  const awake = setInterval(() => undefined, 1_000);
  await Promise.all(answers);
  clearInterval(awake);
  assert.deepEqual([sent, open], [3, 0]);
});
