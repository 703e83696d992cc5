/** Cancelling over HTTP, by the command and by the client, through a real `recourse up`: the upstream hears of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createClient, httpTransport } from '../../../src/client/index.ts';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { listenApi } from '../../support/http/api.ts';
import { recourse } from '../../support/recourse-process.ts';

test('[C9-cancel-5] each way stops the request to the upstream, and says what there was to cancel', async (t) => {
  let closed = 0;
  const api = await listenApi(t, (_request, response) => {
    void once(response, 'close').then(() => (closed += 1));
  });
  const up = await startGoverned(
    t,
    `tools:
  slow:
    http: { url: ${api.url} }
    tools:
      act: { request: { method: POST, path: /act } }
agents:
  bot: { default: permit, rules: [] }
`,
  );
  await up.ready();
  const key = up.keyOf('bot');
  const begin = async (n: number, more = {}): Promise<string> => {
    const { body } = await up.ask('/v1/calls', {
      key,
      body: { tool: 'slow/act', args: { n }, wait_seconds: 0, ...more },
    });
    await eventually('the request', async () => api.heard.length >= n);
    return String(body['call_id']);
  };
  const endOf = async (id: string) => {
    const { body } = await up.ask(`/v1/calls/${id}`, { key });
    return [body['error'], body['code'], body['effect']];
  };

  const first = await begin(1);
  const stopped = await up.ask(`/v1/calls/${first}/cancel`, { key, body: {} });
  assert.deepEqual([stopped.status, stopped.body], [200, { cancelled: 'call', id: first }]);
  assert.deepEqual(await endOf(first), ['cancelled', 'ToolCancelled', 'unknown']);
  await eventually('the closed connection', async () => closed >= 1);
  const again = await up.ask(`/v1/calls/${first}/cancel`, { key, body: {} });
  assert.deepEqual([again.status, again.body['code']], [409, 'NotToCancel']);
  assert.equal((await up.ask('/v1/calls/call_unknown/cancel', { key, body: {} })).status, 404);

  const { body: opened } = await up.ask('/v1/sessions', { key, body: {} });
  const session = String(opened['session']);
  const second = await begin(2, { session, turn: 'lunch' });
  const turn = await up.ask(`/v1/sessions/${session}/cancel`, { key, body: { turn: 'lunch' } });
  assert.deepEqual(turn.body, { cancelled: 'turn', id: session });
  assert.deepEqual(await endOf(second), ['cancelled', 'TurnCancelled', 'unknown']);

  const third = await begin(3, { session });
  const words = ['calls', 'cancel', third, '--url', up.url, '--key', up.operatorKey()];
  const said = recourse(words, { cwd: up.home });
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /the call is cancelled/);
  assert.deepEqual(await endOf(third), ['cancelled', 'ToolCancelled', 'unknown']);

  const client = createClient({ transport: httpTransport({ url: up.url, key }) });
  assert.equal(await client.cancel({ session }), 'cancelled');
  assert.equal(await client.cancel({ call: third }), 'already_ended');
  assert.equal(await client.cancel({ session: 'ses_unknown' }), 'not_found');
  await eventually('every connection is closed', async () => closed >= 3);
});
