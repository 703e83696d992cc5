/** Every fault over real sockets: what the client gets, and what the ledger says has happened. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { type Answered, openFaults } from '../../test/support/faults/open-faults.ts';
import { faultNames } from './fault-table.ts';

/** Long enough that no test waits for it. */
const hour = 3_600_000;

interface Row {
  readonly rule: { readonly fault: string; readonly [setting: string]: unknown };
  /** A status, or that the connection was cut. */
  readonly answers: number | 'cut';
  readonly effects: number;
  readonly looks?: (answered: Answered) => void;
}

const code = (expected: string) => (answered: Answered) => {
  assert.equal(answered.headers['content-type'], 'application/problem+json');
  assert.equal(answered.body()['code'], expected);
};
const done = (answered: Answered) => assert.deepEqual(Object.keys(answered.body()), ['id', 'order', 'amount']);

const rows: readonly Row[] = [
  { rule: { fault: 'none' }, answers: 200, effects: 1, looks: done },
  { rule: { fault: 'drop_before' }, answers: 'cut', effects: 0 },
  { rule: { fault: 'drop_after' }, answers: 'cut', effects: 1 },
  { rule: { fault: 'slow', ms: 1 }, answers: 200, effects: 1, looks: done },
  { rule: { fault: 'slow_after', ms: 1 }, answers: 200, effects: 1, looks: done },
  { rule: { fault: 'late_execution', ms: 1 }, answers: 'cut', effects: 1 },
  { rule: { fault: 'late_execution', ms: hour }, answers: 'cut', effects: 0 },
  { rule: { fault: 'duplicate' }, answers: 200, effects: 2, looks: done },
  {
    rule: { fault: '429', seconds: 7 },
    answers: 429,
    effects: 0,
    looks: ({ headers }) => assert.equal(headers['retry-after'], '7'),
  },
  {
    rule: { fault: '429', retry_after: 'http_date', seconds: 60 },
    answers: 429,
    effects: 0,
    looks: ({ headers }) => assert.ok(Date.parse(String(headers['retry-after'])) > Date.parse(String(headers['date']))),
  },
  {
    rule: { fault: '429', retry_after: 'none' },
    answers: 429,
    effects: 0,
    looks: ({ headers }) => assert.equal(headers['retry-after'], undefined),
  },
  { rule: { fault: '500' }, answers: 500, effects: 0, looks: code('server_error') },
  { rule: { fault: '500', when: 'after' }, answers: 500, effects: 1 },
  { rule: { fault: '502' }, answers: 502, effects: 0 },
  { rule: { fault: '503', when: 'after' }, answers: 503, effects: 1 },
  { rule: { fault: 'malformed' }, answers: 200, effects: 1, looks: ({ body }) => assert.throws(body) },
  {
    rule: { fault: 'wrong_schema' },
    answers: 200,
    effects: 1,
    looks: ({ body }) => assert.deepEqual(body(), { unexpected: ['shape'] }),
  },
  { rule: { fault: 'truncated' }, answers: 'cut', effects: 1, looks: ({ text }) => assert.equal(text, '{"id":') },
  {
    rule: { fault: 'huge', bytes: 1 << 20 },
    answers: 200,
    effects: 1,
    looks: ({ text }) => assert.ok(text.length > 1 << 20),
  },
  { rule: { fault: '401' }, answers: 401, effects: 0, looks: code('unauthenticated') },
  { rule: { fault: '403' }, answers: 403, effects: 0, looks: code('forbidden') },
  { rule: { fault: '404' }, answers: 404, effects: 0, looks: code('not_found') },
  { rule: { fault: '409', subject: 'completed' }, answers: 409, effects: 0, looks: code('idempotency_key_completed') },
  { rule: { fault: '412' }, answers: 412, effects: 0, looks: code('precondition_failed') },
  { rule: { fault: 'problem', status: 402, code: 'no_funds' }, answers: 402, effects: 0, looks: code('no_funds') },
  {
    rule: { fault: 'rpc_status', rpc: 'ABORTED', when: 'after' },
    answers: 409,
    effects: 1,
    looks: ({ body }) => assert.partialDeepStrictEqual(body(), { error: { code: 10, status: 'ABORTED' } }),
  },
  {
    rule: { fault: 'redirect', to: '/orders/o1' },
    answers: 307,
    effects: 0,
    looks: ({ headers }) => assert.equal(headers['location'], '/orders/o1'),
  },
  { rule: { fault: 'refuse_connections', ms: hour }, answers: 'cut', effects: 0 },
  { rule: { fault: 'tool_error' }, answers: 422, effects: 0, looks: code('tool_error') },
  { rule: { fault: 'rpc_error', when: 'after' }, answers: 500, effects: 1, looks: code('rpc_error') },
];

test('every fault has a row below', () => {
  assert.deepEqual(new Set(rows.map(({ rule }) => rule.fault)), new Set(faultNames));
});

describe('over HTTP, the fault', () => {
  for (const { rule, answers, effects, looks } of rows)
    test(`${JSON.stringify(rule)} answers ${answers} and makes ${effects} effects`, async (t) => {
      const faults = await openFaults(t);
      await faults.fault(rule);
      const answered = await faults.refund();
      assert.equal(answered.status, answers === 'cut' ? 0 : answers, answered.cut ?? answered.text);
      looks?.(answered);
      // What is executed late comes by itself; all else is on record before the answer.
      if (rule.fault === 'late_execution') await eventually('the late effect', async () => faults.effects() >= effects);
      assert.equal(faults.effects(), effects);
    });
});

test('while it waits before the effect nothing has happened, and a repeated key is in flight', async (t) => {
  const faults = await openFaults(t);
  await faults.fault({ fault: 'slow', ms: hour });
  const gone = new AbortController();
  const waiting = faults.refund({ order: 'o1', amount: 5 }, 'k', gone.signal);
  await eventually('the request', async () => faults.entries().some(({ fault }) => fault === 'slow'));
  const repeated = await faults.refund({ order: 'o1', amount: 5 }, 'k');
  assert.equal(repeated.status, 409);
  assert.equal(repeated.body()['code'], 'idempotency_key_in_flight');
  assert.equal(faults.effects(), 0);
  gone.abort();
  assert.equal((await waiting).status, 0);
});

test('while it waits after the effect, the effect is there and the answer is not', async (t) => {
  const faults = await openFaults(t);
  await faults.fault({ fault: 'slow_after', ms: hour });
  const gone = new AbortController();
  const waiting = faults.refund({ order: 'o1', amount: 5 }, 'k', gone.signal);
  await eventually('the effect', async () => faults.effects() === 1);
  assert.ok(!faults.entries().some(({ kind }) => kind === 'answered'));
  const found = await faults.ask('/refunds?order=o1');
  assert.deepEqual(found.body()['refunds'], [{ id: 're_2', amount: 5, key: 'k' }]);
  gone.abort();
  await waiting;
});

test('a late execution that answers nothing leaves the caller waiting and happens', async (t) => {
  const faults = await openFaults(t);
  await faults.fault({ fault: 'late_execution', ms: 1, answer: 'nothing' });
  const gone = new AbortController();
  const waiting = faults.refund({ order: 'o1', amount: 5 }, undefined, gone.signal);
  await eventually('the effect', async () => faults.effects() === 1);
  gone.abort();
  assert.equal((await waiting).status, 0);
});

test('connections are refused for a while, and accepted at the same port after it', async (t) => {
  const faults = await openFaults(t);
  await faults.fault({ fault: 'refuse_connections', ms: hour });
  await faults.refund();
  assert.equal((await faults.refund()).cut, 'ECONNREFUSED');
  const other = await openFaults(t);
  await other.fault({ fault: 'refuse_connections', ms: 1 });
  await other.refund();
  await eventually('it listens again', async () => (await other.refund()).status === 200);
});

test('a duplicate is deduplicated by a key', async (t) => {
  const faults = await openFaults(t);
  await faults.fault({ fault: 'duplicate' });
  assert.equal((await faults.refund({ order: 'o1', amount: 5 }, 'k')).status, 200);
  assert.equal(faults.effects(), 1);
});

describe('rules', () => {
  test('the first that matches is used up, and then the next', async (t) => {
    const faults = await openFaults(t);
    await faults.fault([
      { fault: 503, match: { operation: 'refund' }, times: 2 },
      { fault: '401', match: { operation: 'refund', key: 'k' } },
      { fault: '403', match: { operation: 'get_order', nth: 2 } },
    ]);
    const statuses = [];
    for (let at = 0; at < 4; at++) statuses.push((await faults.refund({ order: 'o1', amount: 5 }, 'k')).status);
    assert.deepEqual(statuses, [503, 503, 401, 200]);
    assert.equal((await faults.ask('/orders/o1')).status, 200);
    const left = (await faults.ask('/faults')).body()['rules'] as readonly object[];
    assert.deepEqual(left, [{ fault: '403', match: { operation: 'get_order', nth: 2 }, times: 1, seen: 1, left: 1 }]);
    assert.equal((await faults.ask('/orders/o1')).status, 403);
    await faults.fault({ fault: '404', times: 5 });
    await faults.ask('/faults', { method: 'DELETE' });
    assert.equal((await faults.ask('/orders/o1')).status, 200);
  });

  const wrong: Readonly<Record<string, RegExp>> = {
    '{"fault":"drop_aftr"}':
      /'drop_aftr' is not known here; did you mean drop_after\?\nfaults: .*\bdrop_before, drop_after,/,
    '{"fault":"slow","seconds":1}': /there is no key 'seconds' here; use one of fault, match, times, ms/,
    '{"fault":"slow","ms":-1}': /write a whole number from 0 to 3600000/,
    '{"match":{}}': /the key 'fault' is missing/,
    '{"fault":"none","match":{"operation":"pay"}}': /'pay' is not known here/,
    '[]': /an empty list stands here/,
    '': /there is no rule here/,
    '{"fault":': /line 1/,
  };
  for (const [body, says] of Object.entries(wrong))
    test(`${body} is refused, with the list of faults`, async (t) => {
      const faults = await openFaults(t);
      const refused = await faults.ask('/faults', { body });
      assert.equal(refused.status, 400);
      assert.match(String(refused.body()['detail']), says);
    });

  test('no more than a thousand are kept', async (t) => {
    const faults = await openFaults(t);
    await faults.fault(Array.from({ length: 1_000 }, () => ({ fault: 'none' })));
    const refused = await faults.ask('/faults', { body: { fault: 'none' } });
    assert.equal(refused.body()['code'], 'too_many_rules');
    const long = await faults.ask('/faults', { body: Array.from({ length: 1_001 }, () => ({ fault: 'none' })) });
    assert.match(String(long.body()['detail']), /longer than 1000/);
  });
});

test('a body that is too long, a foreign name and an unknown address get a typed answer', async (t) => {
  const faults = await openFaults(t, { limits: { maxBodyBytes: 100 } });
  const codeOf = async (place: string, sent: Parameters<typeof faults.ask>[1]) =>
    (await faults.ask(place, sent)).body()['code'];
  assert.equal(await codeOf('/refunds', { body: 'x'.repeat(101) }), 'too_large');
  assert.equal(await codeOf('/orders/o1', { headers: { host: 'evil.example' } }), 'not_local');
  assert.equal(await codeOf('/ledger', { method: 'DELETE' }), 'no_such_route');
  assert.equal(await codeOf('/refunds', { body: '[1]' }), 'invalid_json');
  assert.equal(await codeOf('/refunds', { body: { order: 'o1' } }), 'invalid_arguments');
  const headers = { 'idempotency-key': 'k'.repeat(256) };
  assert.equal(await codeOf('/refunds', { body: { order: 'o1', amount: 5 }, headers }), 'invalid_key');
  assert.equal(faults.effects(), 0);
});

test('connections beyond the limit are cut', async (t) => {
  const faults = await openFaults(t, { limits: { maxConnections: 1 } });
  await faults.fault({ fault: 'slow', ms: hour });
  const gone = new AbortController();
  const waiting = faults.refund({ order: 'o1', amount: 5 }, 'k', gone.signal);
  await eventually('the request', async () => faults.entries().length === 1);
  assert.equal((await faults.refund()).cut, 'ECONNRESET');
  gone.abort();
  await waiting;
});
