/** A plain call of 2026-07-28 is answered without the SDK's server: by the very words that the SDK's way has for it. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { aTool } from '../../support/builders.ts';
import { serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { introduce } from '../../support/mcp-raw.ts';

const priced = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
/** What it says of itself cannot be widened for our envelope. */
const intoItself = { type: 'object', properties: { amount: {}, price: { $ref: '#/properties/amount' } } };
const sale = {
  content: [{ type: 'text', text: 'sold – “für 3 €”' }],
  structuredContent: { price: 3 },
  _meta: { a: [1] },
};
const breaks = () => {
  throw new RangeError('no such thing');
};

const tools = [
  { ...aTool({ name: 'add' }), run: ({ a, b }: Readonly<Record<string, unknown>>) => ({ sum: Number(a) + Number(b) }) },
  { ...aTool({ name: 'break' }), run: breaks },
  { ...aTool({ name: 'shop/sell', listing: { description: 'Sells.' } }), run: () => sale },
  { ...aTool({ name: 'shop/odd', listing: {} }), run: () => 'no result of MCP' },
  { ...aTool({ name: 'shop/priced', listing: { outputSchema: priced } }), run: () => sale },
  { ...aTool({ name: 'shop/unpriced', listing: { outputSchema: priced } }), run: breaks },
  { ...aTool({ name: 'shop/itself', listing: { outputSchema: intoItself } }), run: () => sale },
  { ...aTool({ name: 'shop/itself-breaks', listing: { outputSchema: intoItself } }), run: breaks },
];

interface Asked {
  readonly name: string;
  readonly arguments?: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
}

const calls: readonly (readonly [string, Asked])[] = [
  ['a success', { name: 'add', arguments: { a: 1, b: 2 } }],
  ['a success without arguments', { name: 'add' }],
  ['arguments as a JSON text', { name: 'add', arguments: '{"a":1,"b":2}' }],
  ['arguments that are no object', { name: 'add', arguments: [1] }],
  ['a failure', { name: 'break', arguments: {} }],
  ['a refusal: a wait that is no number', { name: 'add', meta: { 'recourse/wait_seconds': 'long' } }],
  ['a refusal: a session that is not known', { name: 'add', meta: { 'recourse/session': 'ses_unknown' } }],
  ['an unknown tool', { name: 'shop/nothing', arguments: {} }],
  ['the result of an MCP server', { name: 'shop/sell', arguments: {} }],
  ['the result of an MCP server that is none', { name: 'shop/odd', arguments: {} }],
  ['a result with the schema that its server lists', { name: 'shop/priced', arguments: {} }],
  ['a failure beside such a schema', { name: 'shop/unpriced', arguments: {} }],
  ['a result beside a schema that cannot be widened', { name: 'shop/itself', arguments: {} }],
  ['a failure beside a schema that cannot be widened', { name: 'shop/itself-breaks', arguments: {} }],
];

/** The door, and how many servers of the SDK were made for it. */
async function served(t: TestContext) {
  const { door } = await openDoor(t, { tools });
  let made = 0;
  const counted: typeof door = { ...door, createServer: (connection) => ((made += 1), door.createServer(connection)) };
  const { url } = await serveHttp(t, counted);
  return { url, made: () => made };
}

async function ask(url: URL, { name, arguments: args, meta }: Asked, more: object = {}) {
  const params = { name, ...(args === undefined ? {} : { arguments: args }), _meta: { ...meta }, ...more };
  const { headers, message } = introduce({ id: 7, method: 'tools/call', params });
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
  const body = await response.text();
  return { status: response.status, type: response.headers.get('content-type'), body: withoutIds(JSON.parse(body)) };
}

/** Every call has its own id and number. */
function withoutIds(value: unknown): unknown {
  const text = JSON.stringify(value, (name, field: unknown) => (name === 'seq' ? 'n' : field));
  return JSON.parse(
    text
      .replaceAll(/call_[0-9a-zA-Z]+/g, 'call_x')
      .replaceAll(/tkt_[0-9a-z]+/g, 'tkt_x')
      .replaceAll(/, seq \d+/g, ', seq n'),
  );
}

for (const [what, asked] of calls)
  test(`the short way and the SDK's answer alike: ${what}`, async (t) => {
    const { url, made } = await served(t);
    const short = await ask(url, asked);
    const again = await ask(url, asked);
    assert.equal(made(), 0, 'a plain call needs no server of the SDK');
    // Answers that come with a call make it one that the SDK reads.
    const long = await ask(url, asked, { inputResponses: {} });
    assert.equal(made(), 1, 'the way of the SDK');
    assert.deepEqual(short, long);
    assert.deepEqual(again, long, 'by an envelope that is known');
  });

test('a key, which differs from call to call, does not keep a client from being recognised', async (t) => {
  const { url, made } = await served(t);
  for (const key of ['one', 'two', 'one']) {
    const { body } = await ask(url, { name: 'add', arguments: { a: 1, b: 2 }, meta: { 'recourse/key': key } });
    assert.match(JSON.stringify(body), /"sum":3/);
  }
  assert.equal(made(), 0);
});
