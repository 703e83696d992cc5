import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { createClient } from '../create-client.ts';
import { httpTransport } from './http-transport.ts';

const secret = 'rk_live_5ecre7';

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ['no address', { key: secret }, /'url' must be an address/],
  ['an address of another sort', { url: 'file:///etc/passwd', key: secret }, /'url' must be an address/],
  ['a secret in the address', { url: `http://me:${secret}@host`, key: 'k' }, /no user, query or fragment/],
  ['a query in the address', { url: `http://host?key=${secret}`, key: 'k' }, /no user, query or fragment/],
  ['no key', { url: 'http://host' }, /'key' must be an API key/],
  ['a key with a line end', { url: 'http://host', key: `${secret}\n` }, /'key' must be an API key/],
  ['an unknown option', { url: 'http://host', key: 'k', retries: 3 }, /no option 'retries'/],
  ['a time that is none', { url: 'http://host', key: 'k', answerTimeoutSeconds: -1 }, /must be a number/],
];

for (const [what, options, message] of wrong)
  test(`${what} is refused, and no secret is repeated`, () =>
    assert.throws(
      () => httpTransport(options as never),
      (error) => message.test(String(error)) && !inspect(error).includes(secret),
    ));

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A platform's fetch, for what a server cannot see or do. */
function recording(answer: () => Promise<Response>) {
  const sent: Sent[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    sent.push({ url: String(url), init });
    return answer();
  };
  return { sent, fetch: fetch as typeof globalThis.fetch };
}

const success = {
  action: 'refund',
  result: 1,
  state: null,
  valid_next_actions: [],
  call_id: 'call_1',
  session: null,
  seq: 1,
};

test('a call is one request, with its keys in two headers', async () => {
  const { sent, fetch } = recording(async () => Response.json(success));
  const client = createClient({ transport: httpTransport({ url: 'http://host/base/', key: secret, fetch }) });
  await client.call('refund', { order: 1 }, { key: 'k 1', session: 'ses_1' });
  assert.equal(sent.length, 1);
  assert.equal(sent[0]?.url, 'http://host/base/v1/calls');
  const { method, headers, body, redirect } = sent[0].init;
  assert.deepEqual([method, redirect], ['POST', 'manual']);
  assert.deepEqual(headers, {
    'content-type': 'application/json',
    accept: 'application/json',
    'idempotency-key': 'k 1',
    authorization: `Bearer ${secret}`,
  });
  assert.deepEqual(JSON.parse(String(body)), {
    tool: 'refund',
    args: { order: 1 },
    session: 'ses_1',
    wait_seconds: 30,
  });
});

test('a key of a call that no header can hold travels in the body', async () => {
  for (const key of ['schlüssel', ' k', 'k\n']) {
    const { sent, fetch } = recording(async () => Response.json(success));
    await createClient({ transport: httpTransport({ url: 'http://host', key: secret, fetch }) }).call(
      'refund',
      {},
      { key },
    );
    assert.ok(!('idempotency-key' in (sent[0]?.init.headers ?? {})));
    assert.equal((JSON.parse(String(sent[0]?.init.body)) as { key: string }).key, key);
  }
});

test('the key of the agent is in no error, whatever went wrong', async () => {
  const answers: readonly (() => Promise<Response>)[] = [
    async () => Response.json({ type: 'urn:recourse:code:Unauthenticated', code: 'Unauthenticated', title: 'No key' }),
    async () => new Response('<html>', { status: 502 }),
    async () => Promise.reject(new TypeError('fetch failed', { cause: new Error('socket hang up') })),
    async () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
  ];
  for (const answer of answers) {
    const transport = httpTransport({ url: 'http://host', key: secret, fetch: recording(answer).fetch });
    assert.ok(!inspect(transport, { depth: 9, showHidden: true }).includes(secret));
    const error: unknown = await createClient({ transport, maxResends: 0 })
      .call('refund')
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Error && !inspect(error, { depth: 9, showHidden: true }).includes(secret));
    assert.ok(!JSON.stringify(error).includes(secret));
  }
});
