import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultLimits } from '../../../src/index.ts';
import { aTool, createCountingTool, createHeldTool } from '../../support/tools.ts';
import { type Closing, type OpenedHttp, openHttp, openOnce } from './open-http.ts';

const amounts = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

async function opened(t: Closing) {
  const refund = createCountingTool('refund', { input: amounts });
  const slow = createHeldTool('slow');
  const broken = aTool('broken', () => {
    throw new Error('the till is jammed');
  });
  const quick = aTool('quick', () => new Promise(() => undefined), { timeout_seconds: 0.05, effect: 'pure' });
  const http = await openHttp(t, { tools: [refund.definition, slow.definition, broken, quick] });
  return { ...http, refund, slow };
}

test('a call that succeeds is 200 with the reply as it is', async (t) => {
  const { call, refund } = await opened(t);
  const { status, headers, body } = await call({ tool: 'refund', args: { amount: 5 } });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['cache-control'], 'no-store');
  assert.deepEqual(Object.keys(body).sort(), [
    'action',
    'call_id',
    'result',
    'seq',
    'session',
    'state',
    'valid_next_actions',
  ]);
  assert.deepEqual(body['result'], { ran: 1, args: { amount: 5 } });
  assert.equal(refund.runs(), 1);
});

test('an integer that is not kept exactly is refused where it stands, and everywhere in a body', async (t) => {
  const { ask, refund } = await opened(t);
  const bodies = [
    '{"tool":"refund","args":{"amount":9007199254740993}}',
    '{"tool":"refund","args":{"amount":5},"wait_seconds":9007199254740993}',
    '{"tool":"refund","args":{"amount":5},"expected_seq":9007199254740993}',
  ];
  for (const bytes of bodies) {
    const { status, body } = await ask('POST', '/v1/calls', { bytes });
    assert.deepEqual([status, body['error']], [422, 'validation_failed'], bytes);
  }
  assert.equal(refund.runs(), 0);
});

test('a deadline and a wait of a fraction of a millisecond are none of the gateway’s faults', async (t) => {
  const { ask, call } = await opened(t);
  const body = { tool: 'refund', args: { amount: 5 } };
  for (const seconds of [12.3456, 60.000_04, 86_399.999_999]) {
    assert.equal((await call({ ...body, deadline_seconds: seconds, wait_seconds: seconds })).status, 200);
    assert.equal((await ask('POST', `/v1/calls?wait=${seconds}`, { body })).status, 200);
  }
});

interface Refused {
  readonly what: string;
  readonly body: unknown;
  readonly status: number;
  readonly error: string;
  readonly code: string;
}

const refusals: readonly Refused[] = [
  {
    what: 'an unknown tool',
    body: { tool: 'refnd', args: {} },
    status: 404,
    error: 'unknown_action',
    code: 'UnknownAction',
  },
  {
    what: 'wrong arguments',
    body: { tool: 'refund', args: { amount: 'x' } },
    status: 422,
    error: 'validation_failed',
    code: 'InputInvalid',
  },
  {
    what: 'a field that nobody knows',
    body: { tool: 'refund', args: { amount: 1 }, kee: 'k' },
    status: 422,
    error: 'validation_failed',
    code: 'InputInvalid',
  },
  { what: 'a list', body: [1], status: 400, error: 'validation_failed', code: 'InputInvalid' },
  { what: 'no tool', body: {}, status: 400, error: 'validation_failed', code: 'InputInvalid' },
  {
    what: 'arguments beyond the limit',
    body: { tool: 'refund', args: { amount: 1, x: 'x'.repeat(defaultLimits.maxInputBytes) } },
    status: 413,
    error: 'validation_failed',
    code: 'InputTooLarge',
  },
  {
    what: 'an unknown session',
    body: { tool: 'refund', args: { amount: 1 }, session: 'ses_none' },
    status: 404,
    error: 'session_error',
    code: 'UnknownSession',
  },
  {
    what: 'a sequence that is not current',
    body: { tool: 'refund', args: { amount: 1 }, expected_seq: 7 },
    status: 409,
    error: 'session_error',
    code: 'StaleSequence',
  },
  {
    what: 'a tool that fails',
    body: { tool: 'broken', args: {} },
    status: 502,
    error: 'action_error',
    code: 'ExecutionFailed',
  },
  {
    what: 'a tool that takes too long',
    body: { tool: 'quick', args: {} },
    status: 504,
    error: 'action_timeout',
    code: 'ExecutionTimeout',
  },
];

describe('a call that comes to nothing', () => {
  const http = openOnce(opened);
  for (const { what, body, status, error, code } of refusals)
    test(`${what} is ${status} with the members of the reply and of RFC 9457`, async () => {
      const answered = await http().call(body);
      assert.equal(answered.status, status, answered.text);
      assert.equal(answered.headers['content-type'], 'application/problem+json');
      const { type, title, detail, instance, message, call_id: id } = answered.body;
      assert.deepEqual([answered.body['error'], answered.body['code']], [error, code]);
      assert.equal(type, `urn:recourse:code:${code}`);
      assert.equal(detail, message);
      assert.equal(instance, `urn:recourse:call:${String(id)}`);
      assert.ok(typeof title === 'string' && title !== '');
    });
});

test('the header Idempotency-Key is the key: the second call gets the stored reply', async (t) => {
  const { call, refund } = await opened(t);
  const headers = { 'idempotency-key': 'order-1' };
  const first = await call({ tool: 'refund', args: { amount: 5 } }, { headers });
  const again = await call({ tool: 'refund', args: { amount: 5 } }, { headers });
  const inBody = await call({ tool: 'refund', args: { amount: 5 }, key: 'order-1' });
  const both = await call({ tool: 'refund', args: { amount: 5 }, key: 'order-1' }, { headers });
  for (const each of [again, inBody, both]) assert.deepEqual(each.body, { ...first.body, replayed: true });
  const other = await call({ tool: 'refund', args: { amount: 6 } }, { headers });
  assert.deepEqual([other.status, other.body['code']], [422, 'KeyReused']);
  assert.equal(refund.runs(), 1);
});

test('a key in the body that is not the one in the header is 400, and nothing runs', async (t) => {
  const { call, refund } = await opened(t);
  const headers = { 'idempotency-key': 'order-1' };
  for (const key of ['order-2', 7, '']) {
    const { status, body } = await call({ tool: 'refund', args: { amount: 5 }, key }, { headers });
    assert.deepEqual([status, body['error'], body['details']], [400, 'validation_failed', { field: 'key', got: null }]);
  }
  assert.equal(refund.runs(), 0);
});

const waits: readonly (readonly [string, string, object, Record<string, string>])[] = [
  ['in the body', '', { wait_seconds: 0 }, {}],
  ['in the query', '?wait=0', {}, {}],
  ['in Prefer', '', {}, { prefer: 'respond-async, wait=0' }],
  ['in the body, whatever the others say', '?wait=600', { wait_seconds: 0 }, { prefer: 'wait=600' }],
];

for (const [where, query, more, headers] of waits)
  test(`a wait ${where} ends in 202, and the call can be polled until it has its reply`, async (t) => {
    const { ask, slow } = await opened(t);
    const {
      status,
      headers: got,
      body,
    } = await ask('POST', `/v1/calls${query}`, {
      body: { tool: 'slow', args: {}, ...more },
      headers,
    });
    assert.deepEqual([status, body['pending'], body['requested']], [202, true, 'slow']);
    const id = String(body['call_id']);
    assert.equal(got['location'], `/v1/calls/${id}`);
    assert.equal(got['retry-after'], '1');
    const polled = await ask('GET', `/v1/calls/${id}`);
    assert.deepEqual([polled.status, polled.body], [202, body]);
    (await slow.begun()).finish('done');
    const reply = await finished(ask, id);
    assert.deepEqual([reply.status, reply.body['result']], [200, 'done']);
    const head = await ask('HEAD', `/v1/calls/${id}`);
    assert.deepEqual([head.status, head.headers['content-length']], [200, reply.headers['content-length']]);
  });

async function finished(ask: OpenedHttp['ask'], id: string) {
  for (;;) {
    const polled = await ask('GET', `/v1/calls/${id}`);
    if (polled.status !== 202) return polled;
  }
}

test('a wait that cannot be read is refused, and a preference that cannot be read is not', async (t) => {
  const { ask, call, refund } = await opened(t);
  const body = { tool: 'refund', args: { amount: 1 } };
  const wrong = await ask('POST', '/v1/calls?wait=soon', { body });
  assert.deepEqual([wrong.status, wrong.body['details']], [422, { field: 'wait', got: 'soon' }]);
  assert.equal((await call(body, { headers: { prefer: 'wait=soon, handling=lenient' } })).status, 200);
  assert.equal(refund.runs(), 1);
});

test('the reply of a call can be read by its agent and by those who may look, and by nobody else', async (t) => {
  const { ask, call, keys, makeKey } = await opened(t);
  const { body } = await call({ tool: 'refund', args: { amount: 5 } });
  const target = `/v1/calls/${String(body['call_id'])}`;
  for (const key of Object.values(keys)) assert.deepEqual((await ask('GET', target, { key })).body, body);
  for (const [tenant, role, name] of [
    ['default', 'agent', 'rob'],
    ['other', 'agent', 'bot'],
    ['other', 'admin', 'bot'],
  ] as const) {
    const { status, body: no } = await ask('GET', target, { key: await makeKey(tenant, role, name) });
    assert.deepEqual([status, no['code']], [404, 'UnknownCall']);
  }
});

test('calls are listed newest first, page by page, filtered, and an agent sees its own', async (t) => {
  const { ask, call, keys, makeKey } = await opened(t);
  const rob = await makeKey('default', 'agent', 'rob');
  for (const amount of [1, 2, 3]) await call({ tool: 'refund', args: { amount } });
  await call({ tool: 'refund', args: { amount: 4 } }, { key: rob });
  await call({ tool: 'broken', args: {} });
  const list = async (query: string, key: string = keys.viewer) => {
    const { status, body } = await ask('GET', `/v1/calls${query}`, { key });
    assert.equal(status, 200);
    return body as { calls: { call_id: string; agent: string; tool: string; state: string }[]; next: string | null };
  };
  const all = await list('');
  assert.deepEqual(
    all.calls.map(({ agent, tool, state }) => `${agent} ${tool} ${state}`),
    ['bot broken IN_DOUBT', 'rob refund SUCCEEDED', ...Array(3).fill('bot refund SUCCEEDED')],
  );
  assert.equal(all.next, null);
  const first = await list('?limit=2');
  const rest = await list(`?limit=2&before=${first.next}`);
  assert.deepEqual([...first.calls, ...rest.calls], all.calls.slice(0, 4));
  assert.deepEqual((await list('?state=IN_DOUBT')).calls, all.calls.slice(0, 1));
  assert.deepEqual((await list('?agent=rob')).calls, all.calls.slice(1, 2));
  assert.deepEqual((await list('?tool=refund&agent=bot')).calls, all.calls.slice(2));
  assert.deepEqual((await list('', rob)).calls, all.calls.slice(1, 2));
  assert.deepEqual((await list('?agent=bot', rob)).calls, all.calls.slice(1, 2), 'a filter widens nothing');
  for (const query of ['?limit=1000', '?state=LOST', '?tol=refund', '?limit=1&limit=2', '?agent='])
    assert.equal((await ask('GET', `/v1/calls${query}`)).status, 422, query);
});

test('an administrator settles a call in doubt, and nobody else does', async (t) => {
  const { ask, call, keys, makeKey } = await opened(t);
  const id = String((await call({ tool: 'broken', args: {} })).body['call_id']);
  const target = `/v1/calls/${id}/settle`;
  const settle = (key: string, body: unknown, at = target) => ask('POST', at, { key, body });
  for (const key of [keys.agent, keys.viewer, keys.approver])
    assert.equal((await settle(key, { happened: 'no' })).body['code'], 'RoleForbidden');
  assert.equal((await settle(await makeKey('other', 'admin', 'ada'), { happened: 'no' })).body['code'], 'UnknownCall');
  for (const wrong of [{}, { happened: 'maybe' }, { happened: 'no', by: 'somebody else' }])
    assert.equal((await settle(keys.admin, wrong)).status, 422);
  assert.equal((await ask('GET', `/v1/calls/${id}`)).status, 502, 'it is still in doubt');
  const settled = await settle(keys.admin, { happened: 'yes', result: { paid: true } });
  assert.deepEqual([settled.status, settled.body], [200, { call_id: id, happened: 'yes', by: 'ada' }]);
  assert.deepEqual((await ask('GET', `/v1/calls/${id}`)).body['result'], { paid: true });
  const again = await settle(keys.admin, { happened: 'no' });
  assert.deepEqual([again.status, again.body['code']], [409, 'NotInDoubt']);
  assert.equal((await settle(keys.admin, { happened: 'no' }, '/v1/calls/call_none/settle')).status, 404);
});

test('evaluate tells what would be decided and leaves no trace', async (t) => {
  const { ask, refund, keys } = await opened(t);
  const evaluate = (body: unknown, key = keys.agent) => ask('POST', '/v1/evaluate', { key, body });
  const would = await evaluate({ tool: 'refund', args: { amount: 1 } });
  assert.deepEqual([would.status, would.body['decision'], would.body['agent']], [200, 'run', 'bot']);
  const not = await evaluate({ tool: 'refund', args: {} });
  assert.deepEqual([not.status, not.body['decision']], [200, 'refuse']);
  assert.equal((not.body['reply'] as { error: string }).error, 'validation_failed');
  assert.equal((await evaluate({ tool: 'refund', args: { amount: 1 }, agent: 'bot' })).status, 200);
  assert.equal((await evaluate({ tool: 'refund', args: { amount: 1 }, agent: 'rob' })).body['code'], 'RoleForbidden');
  const forRob = await evaluate({ tool: 'refund', args: { amount: 1 }, agent: 'rob' }, keys.viewer);
  assert.deepEqual([forRob.status, forRob.body['agent']], [200, 'rob']);
  assert.equal((await evaluate({ tool: 'refund', args: { amount: 1 } }, keys.viewer)).status, 422, 'for whom?');
  assert.equal((await evaluate({ tool: 'refund', key: 'k' })).status, 422);
  assert.equal(refund.runs(), 0);
  assert.deepEqual((await ask('GET', '/v1/calls', { key: keys.viewer })).body['calls'], []);
});
