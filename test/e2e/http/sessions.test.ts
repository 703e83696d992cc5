import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openWorkflow } from '../../support/open-workflow.ts';
import { coffee, counter, createHeld } from '../../support/workflows.ts';
import { type Closing, openHttp, type OpenedHttp, openOnce } from './open-http.ts';

async function opened(t: Closing) {
  const held = createHeld({ timeout_seconds: 30 });
  const http = await openHttp(t, { workflows: [coffee(), held.workflow] });
  return { ...http, held };
}

async function open({ ask }: Pick<OpenedHttp, 'ask'>, workflow = 'coffee', key?: string): Promise<string> {
  const { status, body } = await ask('POST', '/v1/sessions', {
    body: { workflow },
    ...(key === undefined ? {} : { key }),
  });
  assert.equal(status, 200);
  return String(body['session']);
}

test('who accepted a changed workflow is on record, beside the agent; whoever looked before changed nothing', async (t) => {
  const first = await openWorkflow(t, [counter()], { agent: 'bot' });
  const session = await first.open();
  await first.close();
  const { ask, keys } = await openHttp(t, { workflows: [counter({ version: '2' })], file: first.file });
  for (const at of ['', '/history']) await ask('GET', `/v1/sessions/${session}${at}`, { key: keys.viewer });
  const { body: reply } = await ask('POST', `/v1/sessions/${session}/accept`, { key: keys.admin });
  assert.equal(reply['seq'], 1);
  const { body: page } = await ask('GET', `/v1/sessions/${session}/history`);
  const entries = page['entries'] as { kind: string; agent: string; detail: Record<string, unknown> }[];
  const accepted = entries.find(({ kind }) => kind === 'session_migrated');
  assert.deepEqual([accepted?.agent, accepted?.detail['accepted_by']], ['bot', 'ada']);
});

describe('workflow sessions', () => {
  const http = openOnce(opened);

  test('a session without a workflow has nothing to look at, and where its calls are is told', async () => {
    const { ask, keys } = http();
    const session = String((await ask('POST', '/v1/sessions', { body: {} })).body['session']);
    const told = new RegExp(`'${session}' has no workflow.* GET /v1/calls\\?session=${session} lists its calls`);
    for (const key of [keys.agent, keys.viewer])
      for (const at of ['', '/history']) {
        const { status, body } = await ask('GET', `/v1/sessions/${session}${at}`, { key });
        assert.deepEqual([status, body['code']], [404, 'UnknownSession']);
        assert.match(String(body['message']), told);
      }
    const step = await ask('POST', `/v1/sessions/${session}/steps`, { body: { action: 'pay' } });
    assert.match(String(step.body['message']), told);
    assert.equal((await ask('GET', `/v1/calls?session=${session}`)).status, 200);
    const { body: unknown } = await ask('GET', '/v1/sessions/ses_nobody');
    assert.match(String(unknown['message']), /is not known; open one/);
  });

  test('a workflow is walked to its end, and its history tells how', async () => {
    const { ask } = http();
    const session = await open(http());
    const step = (body: object) => ask('POST', `/v1/sessions/${session}/steps`, { body });
    const first = await step({ action: 'take_order', inputs: { drink: 'latte' } });
    assert.deepEqual([first.status, first.body['seq']], [200, 1]);
    assert.deepEqual(first.body['valid_next_actions'], ['add_modifier', 'pay', 'cancel']);
    const early = await step({ action: 'fulfill' });
    assert.deepEqual([early.status, early.body['error']], [409, 'invalid_transition']);
    const wrong = await step({ action: 'add_modifier', inputs: { modifier: 'gravel' } });
    assert.deepEqual([wrong.status, wrong.body['error']], [422, 'validation_failed']);
    assert.equal((await step({ action: 'dance' })).body['error'], 'unknown_action');
    const stale = await step({ action: 'pay', expected_seq: 0 });
    assert.deepEqual([stale.status, stale.body['code']], [409, 'StaleSequence']);
    assert.equal((await step({ action: 'pay' })).status, 200);
    assert.equal((await step({ action: 'fulfill' })).body['done'], true);
    const { body: view } = await ask('GET', `/v1/sessions/${session}`);
    assert.deepEqual([view['status'], view['seq'], view['valid_next_actions']], ['done', 3, []]);
    const { body: page } = await ask('GET', `/v1/sessions/${session}/history`);
    const entries = page['entries'] as { action: string | null; outcome: string | null; entry: number }[];
    assert.deepEqual(
      entries.map(({ action, outcome }) => `${action} ${outcome}`),
      [
        'null null',
        'take_order succeeded',
        'fulfill invalid_transition',
        'add_modifier validation_failed',
        'dance unknown_action',
        'pay session_error',
        'pay succeeded',
        'fulfill succeeded',
      ],
    );
    const after = entries[1]?.entry ?? 0;
    const { body: short } = await ask('GET', `/v1/sessions/${session}/history?after=${after}&limit=2`);
    assert.deepEqual(short['entries'], entries.slice(2, 4));
    assert.equal(short['next'], entries[3]?.entry);
  });

  test('the key of a step is its idempotency key', async () => {
    const { ask } = http();
    const session = await open(http());
    const sent = { body: { action: 'take_order', inputs: { drink: 'latte' } }, headers: { 'idempotency-key': 'k1' } };
    const first = await ask('POST', `/v1/sessions/${session}/steps`, sent);
    const again = await ask('POST', `/v1/sessions/${session}/steps`, sent);
    assert.deepEqual(again.body, { ...first.body, replayed: true });
    const differ = { ...sent, body: { ...sent.body, key: 'k2' } };
    assert.equal((await ask('POST', `/v1/sessions/${session}/steps`, differ)).status, 400);
  });

  test('a step that outlives its wait is 202; a second one waits for its turn; a reset is refused meanwhile', async () => {
    const { ask, held } = http();
    const session = await open(http(), 'held');
    const step = (query = '') => ask('POST', `/v1/sessions/${session}/steps${query}`, { body: { action: 'slow' } });
    const first = await step('?wait=0');
    assert.deepEqual([first.status, first.headers['location']], [202, `/v1/calls/${String(first.body['call_id'])}`]);
    const reset = await ask('POST', `/v1/sessions/${session}/reset`);
    assert.deepEqual([reset.status, reset.body['error']], [409, 'action_in_flight']);
    held.runs[0]?.finish('one');
    const second = step();
    while (held.runs.length < 2) await ask('GET', '/healthz');
    held.runs[1]?.finish('two');
    assert.deepEqual((await second).body['seq'], 2);
  });

  test('a session is reset, and forked from where it stood', async () => {
    const { ask } = http();
    const session = await open(http());
    await ask('POST', `/v1/sessions/${session}/steps`, { body: { action: 'take_order', inputs: { drink: 'tea' } } });
    const fork = await ask('POST', `/v1/sessions/${session}/fork`, { body: { seq: 0 } });
    assert.deepEqual([fork.status, fork.body['valid_next_actions']], [200, ['take_order']]);
    assert.notEqual(fork.body['session'], session);
    const here = await ask('POST', `/v1/sessions/${session}/fork`);
    assert.deepEqual(here.body['valid_next_actions'], ['add_modifier', 'pay', 'cancel']);
    const missing = await ask('POST', `/v1/sessions/${session}/fork`, { body: { seq: 9 } });
    assert.deepEqual([missing.status, missing.body['error']], [422, 'validation_failed']);
    for (const body of [{ seq: -1 }, { seq: 'x' }, { sec: 1 }, [], 'seq'])
      assert.equal((await ask('POST', `/v1/sessions/${session}/fork`, { body })).status, 422);
    const reset = await ask('POST', `/v1/sessions/${session}/reset`, { body: {} });
    assert.deepEqual([reset.status, reset.body['valid_next_actions']], [200, ['take_order']]);
  });

  test('an administrator accepts a session, and operators look at those of every agent of the tenant', async () => {
    const { ask, keys } = http();
    const session = await open(http());
    for (const key of [keys.viewer, keys.approver, keys.admin]) {
      assert.equal((await ask('GET', `/v1/sessions/${session}`, { key })).body['session'], session);
      assert.equal((await ask('GET', `/v1/sessions/${session}/history`, { key })).body['session'], session);
    }
    assert.equal((await ask('POST', `/v1/sessions/${session}/accept`)).body['code'], 'RoleForbidden');
    assert.equal((await ask('POST', `/v1/sessions/${session}/accept`, { key: keys.admin })).status, 200);
  });

  test('sessions are listed to their agent and to operators, filtered', async () => {
    const { ask, keys, makeKey } = http();
    const rob = await makeKey('default', 'agent', 'rob');
    const mine = await open(http(), 'held', rob);
    const list = async (query: string, key: string) =>
      (await ask('GET', `/v1/sessions${query}`, { key })).body['sessions'] as { session: string; agent: string }[];
    assert.deepEqual(
      (await list('', rob)).map(({ session }) => session),
      [mine],
    );
    assert.deepEqual(
      (await list('?agent=bot', rob)).map(({ session }) => session),
      [mine],
      'a filter widens nothing',
    );
    assert.deepEqual(
      (await list('?agent=rob', keys.viewer)).map(({ session }) => session),
      [mine],
    );
    assert.ok((await list('?workflow=coffee&status=open', keys.viewer)).every(({ agent }) => agent === 'bot'));
    assert.ok((await list('', keys.viewer)).length > 1);
    assert.equal((await ask('GET', '/v1/sessions?status=asleep')).status, 422);
  });

  test('what is not known, or not theirs, is refused with the words of a step', async () => {
    const { ask, makeKey } = http();
    const session = await open(http());
    const rob = await makeKey('default', 'agent', 'robin');
    const other = await makeKey('other', 'agent', 'bot');
    for (const [method, at] of [
      ['GET', ''],
      ['GET', '/history'],
      ['POST', '/steps'],
      ['POST', '/reset'],
      ['POST', '/fork'],
    ] as const) {
      const ask_ = (key: string, id: string) =>
        ask(method, `/v1/sessions/${id}${at}`, {
          key,
          ...(method === 'GET' ? {} : { body: at === '/steps' ? { action: 'pay' } : {} }),
        });
      assert.deepEqual([(await ask_(rob, session)).body['code']], ['ResumeMismatch'], at);
      assert.deepEqual([(await ask_(other, session)).body['code']], ['UnknownSession'], at);
      assert.deepEqual([(await ask_(rob, 'ses_none')).status], [404], at);
    }
    const unknown = await ask('POST', '/v1/sessions', { body: { workflow: 'tea' } });
    assert.deepEqual([unknown.status, unknown.body['known_actions']], [404, ['coffee', 'held']]);
    assert.equal((await ask('POST', '/v1/sessions', { body: { workflow: 7 } })).status, 422);
    const body = { action: 'pay', session: 'ses_another' };
    const differ = await ask('POST', `/v1/sessions/${session}/steps`, { body });
    assert.deepEqual([differ.status, differ.body['details']], [400, { field: 'session', got: null }]);
    assert.equal((await ask('POST', `/v1/sessions/${session}/steps`, { body: [1] })).status, 400);
  });
});
