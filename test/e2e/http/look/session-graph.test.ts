import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coffee } from '../../../support/workflows.ts';
import { type Closing, openHttp, openOnce } from '../open-http.ts';

type Body = Record<string, unknown>;
const opened = (t: Closing) => openHttp(t, { workflows: [coffee()] });

describe('the graph of a workflow session', () => {
  const http = openOnce(opened);

  async function walked() {
    const { ask, keys } = http();
    const session = String((await ask('POST', '/v1/sessions', { body: { workflow: 'coffee' } })).body['session']);
    const step = (action: string, inputs: object = {}) =>
      ask('POST', `/v1/sessions/${session}/steps`, { body: { action, inputs } });
    await step('pay');
    await step('pay');
    await step('take_order', { drink: 'flat white' });
    await step('add_modifier', { modifier: 'oat' });
    await step('pay');
    return { session, step, ask, keys };
  }

  test('shows where it stands, the states it has visited, the edges it took, and where it was refused how often', async () => {
    const { session, ask, keys } = await walked();
    const { body } = await ask('GET', `/v1/sessions/${session}/graph`, { key: keys.viewer });
    assert.deepEqual(body['active'], ['paid']);
    assert.deepEqual([body['workflow'], body['agent'], body['seq'], body['status']], ['coffee', 'bot', 3, 'open']);
    assert.deepEqual(body['visited'], [
      { state: 'idle', times: 1 },
      { state: 'ordering', times: 1 },
      { state: 'paid', times: 1 },
    ]);
    assert.deepEqual(body['taken'], [
      { from: 'idle', to: 'ordering', action: 'take_order', times: 1 },
      { from: 'ordering', to: null, action: 'add_modifier', times: 1 },
      { from: 'ordering', to: 'paid', action: 'pay', times: 1 },
    ]);
    assert.deepEqual(body['refused'], [{ from: 'idle', to: null, action: 'pay', code: 'InvalidTransition', times: 2 }]);
    const path = body['path'] as readonly Body[];
    assert.deepEqual(
      path.map(({ action, refused, seq, active }) => [action, refused, seq, active]),
      [
        [null, false, 0, ['idle']],
        ['pay', true, 0, ['idle']],
        ['pay', true, 0, ['idle']],
        ['take_order', false, 1, ['ordering']],
        ['add_modifier', false, 2, ['ordering']],
        ['pay', false, 3, ['paid']],
      ],
    );
    assert.equal(body['complete'], true);
  });

  test('draws every state and every arrow at its place', async () => {
    const { session, ask, keys } = await walked();
    const { body } = await ask('GET', `/v1/sessions/${session}/graph`, { key: keys.viewer });
    const drawing = body['drawing'] as { readonly states: readonly Body[]; readonly arrows: readonly Body[] };
    assert.deepEqual(drawing.states.map(({ id }) => id).toSorted(), [
      '',
      'cancelled',
      'idle',
      'ordering',
      'paid',
      'served',
    ]);
    assert.deepEqual(
      drawing.arrows.map(({ from, to, title }) => `${String(from)} ${String(title)} ${String(to)}`).toSorted(),
      ['idle take_order ordering', 'ordering cancel cancelled', 'ordering pay paid', 'paid fulfill served'],
    );
    for (const { paths, heads } of drawing.arrows) assert.ok(Array.isArray(paths) && Array.isArray(heads));
  });

  test('the state after any step is there, as the author shows it, and a step that was never taken is told', async () => {
    const { session, ask, keys } = await walked();
    const at = async (query: string) =>
      (await ask('GET', `/v1/sessions/${session}/state${query}`, { key: keys.viewer })).body;
    const first = await at('?seq=1');
    assert.deepEqual(
      [first['active'], first['state']],
      [['ordering'], { value: 'ordering', context: { drink: 'flat white', modifiers: [] } }],
    );
    assert.deepEqual((await at(''))['active'], ['paid']);
    const never = await ask('GET', `/v1/sessions/${session}/state?seq=9`, { key: keys.viewer });
    assert.equal(never.status, 422);
    assert.match(never.text, /a step that is kept: 0 to 3/);
  });

  test('is for people of the tenant: not for agents, nor for people of another one', async () => {
    const { session, ask, makeKey } = { ...http(), ...(await walked()) };
    const stranger = await makeKey('other', 'admin', 'olga');
    for (const at of ['graph', 'state']) {
      assert.equal((await ask('GET', `/v1/sessions/${session}/${at}`)).status, 403);
      assert.equal((await ask('GET', `/v1/sessions/${session}/${at}`, { key: stranger })).status, 404);
    }
  });
});

test('of a state that the author shows to nobody, only where the machine stands is told', async (t) => {
  const { ask, keys } = await openHttp(t, { workflows: [coffee({ state: 'none' })] });
  const session = String((await ask('POST', '/v1/sessions', { body: { workflow: 'coffee' } })).body['session']);
  const { body } = await ask('GET', `/v1/sessions/${session}/state`, { key: keys.viewer });
  assert.deepEqual([body['active'], body['state']], [['idle'], null]);
});

test('an admin resets, forks and completes a session on behalf of its agent, by name on record; others may not', async (t) => {
  const { ask, keys, makeKey } = await openHttp(t, { workflows: [coffee()] });
  const session = String((await ask('POST', '/v1/sessions', { body: { workflow: 'coffee' } })).body['session']);
  const at = `/v1/sessions/${session}`;
  const stranger = await makeKey('other', 'admin', 'olga');
  for (const act of ['reset', 'fork', 'complete']) {
    for (const key of [keys.viewer, keys.approver])
      assert.equal((await ask('POST', `${at}/${act}`, { key, body: {} })).status, 403);
    assert.equal((await ask('POST', `${at}/${act}`, { key: stranger, body: {} })).status, 404);
  }
  await ask('POST', `${at}/steps`, { body: { action: 'take_order', inputs: { drink: 'tea' } } });
  const forked = await ask('POST', `${at}/fork`, { key: keys.admin, body: { seq: 1 } });
  const reset = await ask('POST', `${at}/reset`, { key: keys.admin, body: {} });
  assert.deepEqual([forked.status, reset.body['seq']], [200, 2]);
  const fork = String(forked.body['session']);
  assert.equal((await ask('GET', `/v1/sessions/${fork}`)).status, 200, 'the fork belongs to the same agent');
  const completed = await ask('POST', `${at}/complete`, { key: keys.admin, body: {} });
  assert.deepEqual([completed.status, completed.body['done']], [200, true]);
  const detailsOf = async (of: string) => {
    const { body } = await ask('GET', `/v1/sessions/${of}/history`, { key: keys.viewer });
    const entries = body['entries'] as readonly { kind: string; detail: Record<string, unknown> }[];
    return entries.flatMap(({ kind, detail }) => ('by' in detail ? [[kind, detail['by']]] : []));
  };
  assert.deepEqual(await detailsOf(session), [
    ['session_reset', 'ada'],
    ['session_completed', 'ada'],
  ]);
  assert.deepEqual(await detailsOf(fork), [['session_forked', 'ada']]);
});
