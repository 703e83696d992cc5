/** Ids over HTTP may be shortened to a beginning that is unique, within what the key may see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { createCountingTool, createHeldTool } from '../../support/tools.ts';
import { openHttp } from './open-http.ts';

test('a call is found by the beginning of its id, by nobody else, and of several none is taken', async (t) => {
  const act = createCountingTool('act');
  const { call, ask, keys, makeKey } = await openHttp(t, { tools: [act.definition] });
  const ids: string[] = [];
  for (let count = 0; count < 3; count++)
    ids.push(String((await call({ tool: 'act', args: { count } })).body['call_id']));
  const [first = '', , last = ''] = ids;
  const read = (id: string, key = keys.agent) => ask('GET', `/v1/calls/${id}`, { key });
  for (const id of ids) assert.equal((await read(id.slice(0, -3))).body['call_id'], id);
  const shared = first.slice(0, 'call_'.length + 4);
  assert.ok(last.startsWith(shared));
  const several = await read(shared);
  assert.deepEqual([several.status, several.body['code']], [409, 'AmbiguousId']);
  for (const id of ids) assert.match(String(several.body['detail']), new RegExp(id));
  const stranger = await makeKey('default', 'agent', 'other');
  for (const beginning of [shared, first.slice(0, -3), first])
    assert.equal((await read(beginning, stranger)).body['code'], 'UnknownCall', 'not even that there are several');
  assert.equal((await read('call_')).body['code'], 'UnknownCall');
  assert.equal((await read('call_0~')).body['code'], 'UnknownCall');
  assert.equal((await read(first.slice(0, -3), keys.viewer)).body['call_id'], first);
});

test('a decision needs eight characters of an id', async (t) => {
  const act = createCountingTool('act');
  const policy = aPolicy([anAgent('bot', [['defer', 'act']])]);
  const { call, ask, keys } = await openHttp(t, { tools: [act.definition], policy });
  const held = await call({ tool: 'act' });
  const { approval_id: id } = held.body['resolution'] as { readonly approval_id: string };
  const key = keys.approver;
  const short = id.slice(0, 'apr_'.length + 4);
  assert.equal((await ask('GET', `/v1/approvals/${short}`, { key })).body['approval_id'], id, 'looking needs fewer');
  for (const act of ['approve', 'deny', 'revoke']) {
    const { status, body } = await ask('POST', `/v1/approvals/${short}/${act}`, { key, body: { reason: 'no' } });
    assert.deepEqual([status, body['code']], [409, 'AmbiguousId'], act);
    assert.match(String(body['detail']), new RegExp(`begins ${id}, and is too short to decide by: .* 8 characters`));
  }
  const unknown = await ask('POST', '/v1/approvals/apr_zzz/approve', { key, body: {} });
  assert.equal(unknown.body['code'], 'UnknownApproval');
  const longer = id.slice(0, 'apr_'.length + 12);
  assert.equal((await ask('POST', `/v1/approvals/${longer}/approve`, { key, body: {} })).body['approval_id'], id);
  assert.equal((await call({ tool: 'act' })).status, 200);
});

test('a call in doubt is settled by the beginning of its id', async (t) => {
  const slow = createHeldTool('slow', { timeout_seconds: 0.05 });
  const { call, ask, keys } = await openHttp(t, { tools: [slow.definition] });
  const id = String((await call({ tool: 'slow' })).body['call_id']);
  const settle = (given: string) =>
    ask('POST', `/v1/calls/${given}/settle`, { key: keys.admin, body: { happened: 'no', force: true } });
  assert.equal((await settle(id.slice(0, 9))).body['code'], 'AmbiguousId');
  assert.equal((await settle('call_zzz')).body['code'], 'UnknownCall');
  assert.equal((await settle(id.slice(0, -2))).body['call_id'], id);
});
