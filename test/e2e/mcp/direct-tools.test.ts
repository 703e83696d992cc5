import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { z } from 'zod';
import { isRefusal, isSuccess, type Reply } from '../../../src/core/call/reply.ts';
import { aTool } from '../../support/builders.ts';
import {
  type ConnectedClient,
  connectHttp,
  connectInMemory,
  type Revision,
  revisions,
  serveHttp,
} from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';

const listing = {
  title: 'Buy',
  description: 'Buys a thing.',
  annotations: { destructiveHint: true, vendorHint: 'odd' },
  icons: [{ src: 'data:image/png;base64,AA==' }],
  _meta: { 'shop/x': [1] },
  vendor: { a: 1 },
};
const inputSchema = {
  type: 'object',
  properties: { what: { type: 'string' } },
  required: ['what'],
  $comment: 'theirs',
};
const theirs = {
  content: [
    { type: 'hologram', data: { a: [1, null] }, vendor: true },
    { type: 'text', text: 'bought', annotations: { priority: 1 } },
  ],
  structuredContent: { price: 3 },
  vendor: { nested: ['x'] },
  _meta: { 'shop/receipt': 7 },
};

/** The same, as far as the official client of 2026-07-28 lets it through. */
const sold = { ...theirs, content: theirs.content.slice(1) };

const tools = [
  { ...aTool({ name: 'shop/buy', listing, inputSchema }), run: () => theirs },
  { ...aTool({ name: 'shop/sell', listing: {} }), run: () => sold },
  {
    ...aTool({ name: 'add', description: 'Adds.' }),
    run: ({ a, b }: Readonly<Record<string, unknown>>) => ({ sum: Number(a) + Number(b) }),
  },
  {
    ...aTool({ name: 'shop/break', listing: {} }),
    run: () => {
      throw new RangeError('no such thing');
    },
  },
];

const ways = {
  'in memory': async (t: TestContext, revision: Revision) =>
    connectInMemory(t, (await openDoor(t, { tools })).door, revision),
  'over HTTP': async (t: TestContext, revision: Revision) => {
    const { url } = await serveHttp(t, (await openDoor(t, { tools })).door);
    return connectHttp(t, url, revision);
  },
};

/** Without the schemas of the client, which drop what they do not know. */
const raw = ({ client }: ConnectedClient, method: string, params: object) =>
  client.request({ method, params } as never, z.looseObject({})) as Promise<Record<string, unknown>>;

const replyOf = (result: Record<string, unknown>) => result['structuredContent'] as Reply;

/** Everything of theirs is there, and nothing else but our part of `_meta`, which is returned. */
function checkPassed(result: Record<string, unknown>, expected: typeof theirs): Record<string, unknown> {
  const { _meta: meta, ...rest } = result;
  const { _meta: theirMeta, ...theirRest } = expected;
  delete rest['resultType'];
  assert.deepEqual(rest, theirRest);
  const told = meta as Record<string, unknown>;
  assert.equal(told['shop/receipt'], theirMeta['shop/receipt']);
  return told;
}

for (const [way, connect] of Object.entries(ways))
  for (const revision of revisions) {
    test(`tools are listed as their server describes them, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision);
      const { tools: listed } = (await raw(client, 'tools/list', {})) as { tools: Record<string, unknown>[] };
      assert.deepEqual(
        listed.map(({ name }) => name),
        ['shop__buy', 'shop__sell', 'add', 'shop__break'],
      );
      assert.deepEqual(listed[0], { ...listing, name: 'shop__buy', inputSchema });
      assert.deepEqual(listed[2]?.['inputSchema'], { type: 'object' });
      assert.equal(listed[2]?.['description'], 'Adds.');
    });

    test(`a result of an MCP server passes with what is known about the call, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision);
      const result = await raw(client, 'tools/call', { name: 'shop/sell', arguments: {} });
      const meta = checkPassed(result, sold);
      const about = meta['recourse/reply'] as { call_id: string; session: string; seq: number };
      assert.match(about.call_id, /^call_/);
      assert.match(about.session, /^ses_/);
    });

    test(`other tools answer with the reply, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision);
      const { reply, text } = await client.call('add', { a: 1, b: 2 });
      assert.ok(isSuccess(reply));
      assert.deepEqual(reply.result, { sum: 3 });
      assert.match(text, /^ok: add\. result: \{"sum":3\}/);
    });

    test(`refusals and failures are typed replies, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision);
      const table: readonly (readonly [object, string])[] = [
        [{ name: 'shop/nothing' }, 'unknown_action'],
        [{ name: '' }, 'validation_failed'],
        [{ name: 'shop/break', arguments: {} }, 'action_error'],
        [{ name: 'shop/break', arguments: {}, _meta: { 'recourse/key': 7 } }, 'validation_failed'],
      ];
      for (const [params, error] of table) {
        const result = await raw(client, 'tools/call', params);
        const reply = replyOf(result);
        assert.ok(isRefusal(reply) && reply.error === error, JSON.stringify(result));
        assert.equal(result['isError'], true);
      }
    });

    test(`the same key is the same call, ${way}, in ${revision}`, async (t) => {
      const client = await connect(t, revision);
      const params = { name: 'shop/sell', arguments: {}, _meta: { 'recourse/key': 'k1' } };
      const about = async () => {
        const { _meta } = (await raw(client, 'tools/call', params)) as {
          _meta: Record<string, { call_id: string; replayed?: true }>;
        };
        return _meta['recourse/reply'];
      };
      const first = await about();
      const again = await about();
      assert.equal(first?.replayed, undefined);
      assert.deepEqual(again, { ...first, replayed: true });
    });
  }

test('content that nobody knows passes without loss, in both revisions', async (t) => {
  const { url } = await serveHttp(t, (await openDoor(t, { tools })).door);
  const client = await connectHttp(t, url, '2025-11-25');
  const params = { name: 'shop/buy', arguments: { what: 'tea' } };
  checkPassed(await raw(client, 'tools/call', params), theirs);
  // The official client of 2026-07-28 refuses such content, so this one is written by hand.
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'shop/buy',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: envelope } }),
  });
  const { result } = (await response.json()) as { result: Record<string, unknown> };
  checkPassed(result, theirs);
});

test('structured content that is no object is wrapped for clients of 2025-11-25, as is its schema', async (t) => {
  const outputSchema = { type: 'array', items: { type: 'number' } };
  const numbers = { content: [{ type: 'text', text: '1, 2' }], structuredContent: [1, 2] };
  const odd = { content: 'not a list', structuredContent: 7 };
  const { door } = await openDoor(t, {
    tools: [
      { ...aTool({ name: 'numbers', listing: { outputSchema } }), run: () => numbers },
      { ...aTool({ name: 'odd', listing: {} }), run: () => odd },
    ],
  });
  const old = await connectInMemory(t, door, '2025-11-25');
  const { structuredContent } = await old.client.callTool({ name: 'numbers', arguments: {} });
  assert.deepEqual(structuredContent, { result: [1, 2] });
  const young = await connectInMemory(t, door, '2026-07-28');
  const passed = await young.client.callTool({ name: 'numbers', arguments: {} });
  assert.deepEqual(passed.structuredContent, [1, 2]);
  const nonsense = await raw(old, 'tools/call', { name: 'odd', arguments: {} });
  assert.equal(nonsense['content'], 'not a list', 'what cannot be read passes, too');
});

for (const revision of revisions)
  test(`a deadline of a fraction of a millisecond is kept (${revision})`, async (t) => {
    const { call } = await connectInMemory(t, (await openDoor(t, { tools })).door, revision);
    for (const seconds of [12.3456, 60.000_04]) {
      const meta = { 'recourse/deadline_seconds': seconds, 'recourse/wait_seconds': seconds };
      const { reply } = await call('add', { a: 1, b: 2 }, { meta });
      assert.ok(isSuccess(reply), JSON.stringify(reply));
    }
  });

test('a door without a workflow has no resources', async (t) => {
  const { client } = await connectInMemory(t, (await openDoor(t, { tools })).door, '2025-11-25');
  assert.equal(client.getServerCapabilities()?.resources, undefined);
  await assert.rejects(client.request({ method: 'resources/read', params: { uri: 'recourse://next' } }), {
    code: -32_601,
  });
});
