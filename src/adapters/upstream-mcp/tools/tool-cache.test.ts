import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import type { McpUpstreamConfig } from '../mcp-config.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';
import { createToolCache } from './tool-cache.ts';
import { createWire } from '../wire.ts';

const config: McpUpstreamConfig = {
  name: 'own',
  connect: { kind: 'http', url: 'https://example.com/mcp', headers: {} },
  timeoutMs: null,
  trustAnnotations: false,
  rules: [],
};

/** A shelf, and a server that answers only when it is told to. */
async function open(t: TestContext, limits = defaultMcpLimits) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const wire = createWire(ours, limits, { toolsChanged: () => undefined, ending: () => 'over' });
  const asked: ((names: readonly string[]) => void)[] = [];
  theirs.onmessage = (message) => {
    const { id } = message as { id: number };
    asked.push((names) => {
      const tools = names.map((name) => ({ name, inputSchema: { type: 'object', title: name } }));
      void theirs.send({ jsonrpc: '2.0', id, result: { tools } } as JSONRPCMessage);
    });
  };
  await theirs.start();
  await wire.transport.start();
  let changes = 0;
  const shelf = createToolCache(config, { limits, defaultTimeoutMs: 1, onTools: () => changes++ }, () => undefined);
  t.after(() => shelf.close());
  return { shelf, wire, asked, theirs, changes: () => changes, names: () => shelf.entries().map(({ name }) => name) };
}

test('a listing without news tells nobody and keeps the very same entries', async (t) => {
  const { shelf, wire, asked, changes, names } = await open(t);
  const first = shelf.fill(wire);
  asked[0]?.(['a', 'b']);
  assert.equal(await first, null);
  const before = shelf.entries();
  const second = shelf.fill(wire);
  asked[1]?.(['a', 'b']);
  assert.equal(await second, null);
  assert.equal(changes(), 1);
  assert.equal(shelf.entries()[1], before[1]);
  const third = shelf.fill(wire);
  asked[2]?.(['b']);
  await third;
  assert.deepEqual([changes(), names()], [2, ['own/b']]);
});

test('of two listings that overlap, the one that was asked for later speaks', async (t) => {
  const { shelf, wire, asked, names } = await open(t);
  const early = shelf.fill(wire);
  const late = shelf.fill(wire);
  asked[1]?.(['new']);
  await late;
  asked[0]?.(['old']);
  await early;
  assert.deepEqual(names(), ['own/new']);
});

test('a server that cannot list its tools any more keeps those it had', async (t) => {
  const { shelf, wire, asked, theirs, names } = await open(t);
  const first = shelf.fill(wire);
  asked[0]?.(['a']);
  await first;
  const second = shelf.fill(wire);
  await theirs.close();
  assert.equal(await second, 'it does not list its tools: over');
  assert.deepEqual(names(), ['own/a']);
});

test('many wishes to list again are one, and closing ends them', async (t) => {
  const { shelf, wire, asked } = await open(t, { ...defaultMcpLimits, relistDebounceMs: 5, relistEveryMs: 5 });
  const first = shelf.fill(wire);
  asked[0]?.(['a']);
  await first;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let at = 0; at < 100; at++) shelf.refreshSoon();
  t.mock.timers.tick(1_000);
  assert.equal(asked.length, 2);
  shelf.refreshSoon();
  shelf.close();
  t.mock.timers.tick(1_000);
  assert.equal(asked.length, 2);
});
