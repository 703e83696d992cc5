/** Reversals over HTTP: an agent redeems its token, an admin names the call, others do neither. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { bookingTools, noBookings } from '../../support/reversals/bookings.ts';
import { openHttp } from '../http/open-http.ts';

async function open(t: TestContext) {
  const ledger = noBookings();
  const bot = anAgent('bot', [
    ['permit', 'book'],
    ['permit', 'note'],
    ['permit', 'find'],
  ]);
  const http = await openHttp(t, { tools: bookingTools(ledger) as never, policy: aPolicy([bot]) });
  const book = async (id: string, more: object = {}) => {
    const { body } = await http.call({ tool: 'book', args: { id }, ...more });
    return { call: String(body['call_id']), token: String(body['reversal_token']), session: String(body['session']) };
  };
  return { ...http, ledger, book };
}

test('an agent redeems its token, and nobody else does', async (t) => {
  const { ask, keys, ledger, book } = await open(t);
  const { token, call } = await book('a');
  for (const key of [keys.viewer, keys.admin])
    assert.equal((await ask('POST', '/v1/reversals', { key, body: { token } })).status, 403);
  const undone = await ask('POST', '/v1/reversals', { key: keys.agent, body: { token } });
  assert.deepEqual([undone.status, undone.body['action']], [200, 'cancel']);
  assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  const view = await ask('GET', `/v1/calls/${call}/reversal`, { key: keys.viewer });
  assert.deepEqual([view.body['state'], view.body['reversed_by']], ['redeemed', undone.body['call_id']]);
  const refused = await ask('POST', '/v1/reversals', { key: keys.agent, body: { token: 'rev_none' } });
  assert.deepEqual([refused.status, refused.body['code']], [403, 'POLICY_DENY']);
});

test('an admin looks at what would be sent, and has the call undone with their name', async (t) => {
  const { ask, keys, ledger, book } = await open(t);
  const { call } = await book('a');
  const view = await ask('GET', `/v1/calls/${call}/reversal`, { key: keys.admin });
  assert.deepEqual([view.body['reverser'], view.body['args']], ['cancel', { id: 'a', booking: 'b-a' }]);
  assert.equal((await ask('POST', '/v1/reversals', { key: keys.agent, body: { call } })).status, 403);
  assert.equal((await ask('POST', '/v1/reversals', { key: keys.admin, body: {} })).status, 422);
  const undone = await ask('POST', '/v1/reversals', { key: keys.admin, body: { call, reason: 'twice' } });
  assert.equal(undone.status, 200);
  assert.deepEqual(ledger.done, ['book a', 'cancel a']);
  const again = await ask('POST', '/v1/reversals', { key: keys.admin, body: { call } });
  const outcome = again.body['outcome'] as Record<string, unknown>;
  const resolution = again.body['resolution'] as Record<string, unknown>;
  assert.deepEqual([outcome['kind'], resolution['type'], resolution['queue']], ['exhausted', 'escalated', 'reversals']);
});

test('a session is rolled back by its agent or an admin, and how it stands is told', async (t) => {
  const { ask, keys, ledger, book } = await open(t);
  const opened = await ask('POST', '/v1/sessions', { key: keys.agent, body: {} });
  const session = String(opened.body['session']);
  await book('a', { session });
  await book('b', { session });
  assert.equal((await ask('POST', `/v1/sessions/${session}/rollback`, { key: keys.viewer, body: {} })).status, 403);
  assert.equal((await ask('GET', `/v1/sessions/${session}/rollback`, { key: keys.viewer })).status, 404);
  const back = await ask('POST', `/v1/sessions/${session}/rollback`, { key: keys.agent, body: { reason: 'off' } });
  assert.equal(back.status, 200, back.text);
  assert.deepEqual([back.status, back.body['state'], back.body['left'], back.body['by']], [200, 'finished', 0, 'bot']);
  const seen = await ask('GET', `/v1/sessions/${session}/rollback`, { key: keys.viewer });
  assert.deepEqual(seen.body, back.body);
  assert.deepEqual(ledger.done, ['book a', 'book b', 'cancel b', 'cancel a']);
});
