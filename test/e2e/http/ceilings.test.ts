import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aTool } from '../../support/tools.ts';
import { coffee } from '../../support/workflows.ts';
import { openHttp } from './open-http.ts';

test('a session that is opened for less reaches no further, with a workflow and without', async (t) => {
  const look = aTool('look', () => ({}), { effect: 'pure' });
  const { ask } = await openHttp(t, { tools: [look, aTool('burn', () => ({}))], workflows: [coffee()] });
  const opened = await ask('POST', '/v1/sessions', { body: { mode: 'read_only' } });
  assert.deepEqual([opened.status, opened.body['valid_next_actions']], [200, ['look']]);
  const session = String(opened.body['session']);
  const call = (tool: string) => ask('POST', '/v1/calls', { body: { tool, session } });
  assert.equal((await call('look')).status, 200);
  const denied = await call('burn');
  assert.deepEqual([denied.status, denied.body['code'], denied.body['rule_ref']], [403, 'POLICY_DENY', 'session']);

  const walked = await ask('POST', '/v1/sessions', { body: { workflow: 'coffee', mode: 'read_only' } });
  assert.deepEqual(walked.body['valid_next_actions'], [], 'every action of it writes');
  const path = `/v1/sessions/${String(walked.body['session'])}/steps`;
  const step = await ask('POST', path, { body: { action: 'take_order', inputs: { drink: 'latte' } } });
  assert.deepEqual([step.status, step.body['code']], [403, 'POLICY_DENY']);

  const odd = await ask('POST', '/v1/sessions', { body: { mode: 'readonly' } });
  assert.equal(odd.status, 422);
});
