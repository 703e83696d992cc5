/** What people see beside an approval over HTTP: what it does, the last such call, and whether its evidence holds. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { aPolicy, anAgent } from '../../../support/a-policy.ts';
import { aTool } from '../../../support/tools.ts';
import { openHttp, type OpenedHttp } from '../open-http.ts';

type Body = Record<string, unknown>;

async function open(t: TestContext) {
  const order = { total: 100 };
  const sent: string[] = [];
  const read = aTool('read', () => ({ ...order, seen: sent.push('read') > 0 }), { effect: 'pure' });
  const refund = aTool('refund', () => ({ refunded: true }), { effect: 'keyed' });
  const rules = anAgent('bot', [
    ['permit', 'read'],
    ['defer', 'refund'],
  ]);
  const http = await openHttp(t, { tools: [read, refund], policy: aPolicy([{ ...rules, redact: ['args.card'] }]) });
  const ref = String((await http.call({ tool: 'read', args: { order: 1 } })).body['call_id']);
  const ask = (args: object) => http.call({ tool: 'refund', args, evidence_refs: [ref] });
  return { http, order, ref, sent, ask };
}

const idIn = (body: Body) => String((body['resolution'] as Body)['approval_id']);

async function contextOf({ ask, keys }: OpenedHttp, id: string, query = '', key = keys.approver) {
  return (await ask('GET', `/v1/approvals/${id}/context${query}`, { key })).body;
}

test('what deciding does is told in words that name nothing of the agent', async (t) => {
  const { http, ask } = await open(t);
  const id = idIn((await ask({ amount: 5 })).body);
  const context = await contextOf(http, id, '', http.keys.viewer);
  assert.deepEqual(context['happens'], [
    'If approved, the call runs once, when the agent asks for it again; nothing runs before that.',
    'The tool changes something; if the answer is lost, sending it again does not do it twice.',
    'The tool counts as destructive: it may not be possible to undo what it does.',
    'If denied, it does not run, and equal calls are denied until this approval expires.',
  ]);
  assert.deepEqual([context['effect_class'], context['last']], ['keyed', null]);
});

test('the last such call that succeeded is there to compare with, masked as it is on record', async (t) => {
  const { http, ask } = await open(t);
  const first = { amount: 5, card: '4111 1111' };
  const { ask: send, keys } = http;
  const id = idIn((await ask(first)).body);
  await send('POST', `/v1/approvals/${id}/approve`, { key: keys.approver, body: {} });
  const { body } = await ask(first);
  const context = await contextOf(http, idIn((await ask({ amount: 900, card: '4222' })).body));
  const last = context['last'] as Body;
  assert.deepEqual([last['call_id'], last['args']], [body['call_id'], { amount: 5, card: '[redacted]' }]);
});

test('its evidence is named, and read again only if an approver asks for that', async (t) => {
  const { http, ask, ref, order, sent } = await open(t);
  const id = idIn((await ask({ amount: 5 })).body);
  const evidenceIn = async (query: string) => {
    const { evidence } = await contextOf(http, id, query);
    return (evidence as readonly Body[]).map(({ call_id: call, tool, args, now }) => [call, tool, args, now]);
  };
  const before = sent.length;
  assert.deepEqual(await evidenceIn(''), [[ref, 'read', { order: 1 }, 'unread']]);
  assert.equal(sent.length, before);
  assert.deepEqual(await evidenceIn('?evidence=again'), [[ref, 'read', { order: 1 }, 'same']]);
  order.total = 101;
  assert.deepEqual(await evidenceIn('?evidence=again'), [[ref, 'read', { order: 1 }, 'changed']]);
  const asked = sent.length;
  const { status } = await http.ask('GET', `/v1/approvals/${id}/context?evidence=again`, { key: http.keys.viewer });
  assert.deepEqual([status, sent.length], [403, asked]);
});

test('people of another tenant and agents are told nothing', async (t) => {
  const { http, ask } = await open(t);
  const id = idIn((await ask({ amount: 5 })).body);
  const stranger = await http.makeKey('other', 'approver', 'olga');
  for (const [key, status] of [
    [stranger, 404],
    [http.keys.agent, 403],
  ] as const)
    assert.equal((await http.ask('GET', `/v1/approvals/${id}/context`, { key })).status, status);
});
