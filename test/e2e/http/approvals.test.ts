/** Approvals over HTTP: an agent asks, people look, wait and decide, and what they decided is what runs, once. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openapiDocument } from '../../../src/core/http/openapi-paths.ts';
import { doorProblems } from '../../../src/core/http/door-problems.ts';
import { codeOfProblem } from '../../../src/doors/http/approval-routes.ts';
import { decideProblems } from '../../../src/shell/approval/approval-service.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { eventually } from '../../support/eventually.ts';
import { shapeOf } from '../../support/shape-of.ts';
import { aTool } from '../../support/tools.ts';
import { listenTo } from './listen.ts';
import { type HttpOptions, openHttp, type OpenedHttp } from './open-http.ts';

type Fields = Record<string, unknown>;

async function open(t: TestContext, more: Partial<HttpOptions> = {}) {
  const ran: unknown[] = [];
  const refund = aTool('refund', (args) => {
    ran.push(args);
    return { refunded: true };
  });
  const agents = ['bot', 'ben'].map((name) => anAgent(name, [['defer', 'refund', { reason: 'money leaves' }]]));
  const http = await openHttp(t, { tools: [refund], policy: aPolicy(agents), door: { streamEveryMs: 5 }, ...more });
  return { http, ran };
}

/** Asks for a refund and gives the id of the approval that it waits for. */
async function defer({ call }: OpenedHttp, args: object = { amount: 900 }, key?: string): Promise<string> {
  const { status, headers, body } = await call({ tool: 'refund', args }, key === undefined ? {} : { key });
  assert.deepEqual([status, headers['content-type'], body['code']], [202, 'application/json', 'POLICY_DEFER']);
  assert.ok(!('type' in body) && !('status' in body), 'it is no problem yet');
  const { type, approval_id: id } = body['resolution'] as Record<string, string>;
  assert.equal(type, 'pending_approval');
  return String(id);
}

test('[S002-defer-2] an agent asks, a person approves what they saw, the agent asks again, and it runs once', async (t) => {
  const { http, ran } = await open(t);
  const { ask, call, keys } = http;
  const id = await defer(http);
  const seen = await ask('GET', `/v1/approvals/${id}`, { key: keys.approver });
  assert.deepEqual(
    ['state', 'agent', 'tool', 'args', 'rule_ref', 'reason', 'needed'].map((name) => seen.body[name]),
    ['pending', 'bot', 'refund', { amount: 900 }, 'recourse.yaml:10', 'money leaves', 1],
  );
  assert.deepEqual(shapeOf(seen.body), {
    approval_id: 'string',
    state: 'string',
    agent: 'string',
    tool: 'string',
    session: 'string',
    call_id: 'string',
    args: { amount: 'number' },
    rule_ref: 'string',
    reason: 'string',
    approvers: 'null',
    needed: 'number',
    approved_by: [],
    decided: 'null',
    on_approve: 'string',
    opened_at: 'string',
    expires_at: 'string',
    shown: 'string',
  });
  const approved = await ask('POST', `/v1/approvals/${id}/approve`, {
    key: keys.approver,
    body: { shown: seen.body['shown'], reason: 'known customer' },
  });
  assert.deepEqual([approved.status, approved.body['state']], [200, 'granted']);
  assert.deepEqual(
    (approved.body['approved_by'] as Fields[]).map(({ by }) => by),
    ['abel'],
  );
  const done = await call({ tool: 'refund', args: { amount: 900 } });
  assert.deepEqual([done.status, done.body['call_id']], [200, seen.body['call_id']]);
  assert.deepEqual(ran, [{ amount: 900 }]);
  const used = await ask('GET', `/v1/approvals/${id}`);
  assert.equal(used.body['state'], 'used');
  assert.notEqual(await defer(http), id, 'an approval covers one call');
});

test('a denial reaches the agent with who and why; what was changed runs as it was changed, and is told', async (t) => {
  const { http, ran } = await open(t);
  const { ask, call, keys } = http;
  const denied = await defer(http, { amount: 1 });
  const no = await ask('POST', `/v1/approvals/${denied}/deny`, { key: keys.admin, body: { reason: 'too small' } });
  assert.deepEqual([no.status, no.body['state']], [200, 'denied']);
  const again = await call({ tool: 'refund', args: { amount: 1 } });
  assert.deepEqual([again.status, again.body['code']], [403, 'POLICY_DENY']);
  assert.match(String(again.body['human_message']), /denied by ada: too small/);
  const taken = await ask('POST', `/v1/approvals/${denied}/revoke`, { key: keys.admin, body: {} });
  assert.deepEqual([taken.status, taken.body['state']], [200, 'revoked']);
  await defer(http, { amount: 1 });

  const id = await defer(http, { amount: 2 });
  const edited = await ask('POST', `/v1/approvals/${id}/approve`, {
    key: keys.approver,
    body: { args: { amount: 3 } },
  });
  assert.deepEqual([edited.status, edited.body['edited_args']], [200, { amount: 3 }]);
  const done = await call({ tool: 'refund', args: { amount: 2 } });
  assert.equal(done.status, 200);
  assert.ok(JSON.stringify(done.body['notices']).includes('APPROVAL_EDITED'));
  assert.deepEqual(ran, [{ amount: 3 }]);
});

test('what cannot be decided is a problem with a code of its own and the status of the table', async (t) => {
  for (const [problem, code] of Object.entries(codeOfProblem))
    assert.equal(doorProblems[code].status, decideProblems[problem as keyof typeof codeOfProblem], problem);
  const { http } = await open(t);
  const { ask, keys, makeKey } = http;
  const id = await defer(http);
  const namesake = await makeKey('default', 'approver', 'bot');
  const foreign = await makeKey('other', 'admin', 'ada');
  const cases: readonly (readonly [act: string, key: string, body: object, status: number, code: string])[] = [
    ['approve', foreign, {}, 404, 'UnknownApproval'],
    ['approve', namesake, {}, 403, 'OwnRequest'],
    ['approve', keys.approver, { shown: 'something else' }, 409, 'SawAnother'],
    ['deny', keys.approver, { shown: 'something else' }, 409, 'SawAnother'],
    ['revoke', keys.approver, {}, 409, 'NotPending'],
    ['approve', keys.approver, { yes: true }, 422, 'InputInvalid'],
    ['deny', keys.approver, { args: {} }, 422, 'InputInvalid'],
    ['revoke', keys.approver, { shown: 'x' }, 422, 'InputInvalid'],
    ['approve', keys.approver, {}, 200, ''],
    ['approve', keys.admin, {}, 409, 'NotPending'],
    ['deny', keys.admin, {}, 409, 'NotPending'],
  ];
  for (const [act, key, body, status, code] of cases) {
    const answered = await ask('POST', `/v1/approvals/${id}/${act}`, { key, body });
    assert.deepEqual([answered.status, answered.body['code'] ?? ''], [status, code], `${act} ${JSON.stringify(body)}`);
    if (status >= 400) assert.equal(answered.headers['content-type'], 'application/problem+json');
  }
  for (const act of ['', '/approve', '/deny', '/revoke']) {
    const method = act === '' ? 'GET' : 'POST';
    const unknown = await ask(method, `/v1/approvals/apr_of_nobody${act}`, { key: keys.admin });
    assert.deepEqual([unknown.status, unknown.body['code']], [404, 'UnknownApproval'], act);
  }
});

test("an agent's key never decides, whatever it sends, and sees its own approvals only", async (t) => {
  const { http, ran } = await open(t);
  const { ask, keys, makeKey } = http;
  const id = await defer(http);
  const ben = await makeKey('default', 'agent', 'ben');
  const { body: seen } = await ask('GET', `/v1/approvals/${id}`);
  const bodies = [undefined, {}, { shown: seen['shown'] }, { reason: 'me' }, { args: {} }, { by: 'ada' }, [], 'x'];
  for (const act of ['approve', 'deny', 'revoke'])
    for (const body of bodies)
      for (const key of [keys.agent, ben, keys.viewer]) {
        const sent = body === undefined ? { key } : { key, body };
        const { status, body: said } = await ask('POST', `/v1/approvals/${id}/${act}?force=1`, sent);
        assert.deepEqual([status, said['code']], [403, 'RoleForbidden']);
      }
  assert.equal((await ask('GET', `/v1/approvals/${id}`)).body['state'], 'pending');
  assert.equal((await ask('GET', `/v1/approvals/${id}`, { key: ben })).status, 404);
  const own = await defer(http, { amount: 5 }, ben);
  const idsFor = async (key: string, query = '') =>
    ((await ask('GET', `/v1/approvals${query}`, { key })).body['approvals'] as Fields[]).map(
      (each) => each['approval_id'],
    );
  assert.deepEqual(await idsFor(keys.agent), [id]);
  assert.deepEqual(await idsFor(keys.agent, '?agent=ben'), [id], 'the scope has the last word');
  assert.deepEqual(await idsFor(ben), [own]);
  assert.deepEqual(await idsFor(keys.viewer), [own, id]);
  assert.deepEqual(await idsFor(keys.viewer, '?agent=ben'), [own]);
  assert.deepEqual(await idsFor(keys.viewer, '?state=granted'), []);
  assert.deepEqual(await idsFor(keys.viewer, `?before=${own}`), [id]);
  const { body: page } = await ask('GET', '/v1/approvals?limit=1', { key: keys.viewer });
  assert.equal(page['next'], own);
  assert.deepEqual(ran, []);
});

test('whoever waits hears of the decision at once, or how it is when the time is over', async (t) => {
  const { http } = await open(t);
  const { ask, keys, door } = http;
  const id = await defer(http);
  const early = await ask('GET', `/v1/approvals/${id}?wait=0.05`);
  assert.equal(early.body['state'], 'pending');
  const waiting = ask('GET', `/v1/approvals/${id}?wait=600`);
  await ask('POST', `/v1/approvals/${id}/approve`, { key: keys.approver });
  assert.equal((await waiting).body['state'], 'granted');
  const other = await defer(http, { amount: 7 });
  const held = ask('GET', `/v1/approvals/${other}?wait=600`);
  await eventually('it is waited for', async () => http.shell.live.approvalWaiters.size > 0);
  await door.close({ drainMs: 3_600_000 });
  assert.equal((await held).body['state'], 'pending', 'a door that closes keeps nobody');
});

test('a stream tells each change to people of the tenant and to the agent whose it is, and goes on where it was', async (t) => {
  const { http } = await open(t);
  const { ask, keys, makeKey } = http;
  const document = openapiDocument();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'urn:recourse:doc', ...document });
  const isEvent = ajv.compile({ $ref: 'urn:recourse:doc#/components/schemas/ApprovalEvent' });
  const listen = (key: string, query = '', last?: string) =>
    listenTo(t, http, `/v1/approvals/events${query}`, key, last, ({ id, event, data }) => {
      if (event !== 'approval') return;
      assert.ok(isEvent(data), JSON.stringify([isEvent.errors, data]));
      assert.equal(data['position'], id);
    });
  const changesIn = ({ events }: { readonly events: readonly { readonly data: Fields }[] }) =>
    events.map(({ data }) => data['change']);
  const before = await defer(http, { amount: 1 });
  const person = await listen(keys.viewer);
  const agent = await listen(keys.agent);
  const ben = await makeKey('default', 'agent', 'ben');
  const bens = await listen(ben);
  const stranger = await listen(await makeKey('other', 'admin', 'ada'));
  const id = await defer(http, { amount: 2 });
  await ask('POST', `/v1/approvals/${id}/approve`, { key: keys.approver });
  await defer(http, { amount: 3 }, ben);
  await eventually('the changes', async () => person.events.length >= 3 && bens.events.length >= 1);
  assert.deepEqual(changesIn(person), ['opened', 'approved', 'opened'], 'from now on: what was before is in the list');
  await eventually("the agent's own", async () => agent.events.length >= 2);
  assert.deepEqual(changesIn(agent), ['opened', 'approved']);
  assert.deepEqual([changesIn(bens), changesIn(stranger)], [['opened'], []]);
  const told = person.events.map(({ data }) => (data['approval'] as Fields)['approval_id']);
  assert.ok(!told.includes(before) && told.includes(id));

  const all = await listen(keys.viewer, '?after=0.0&follow=false');
  await all.ended;
  assert.deepEqual(changesIn(all).slice(0, -1), ['opened', 'opened', 'approved', 'opened']);
  const rest = await listen(keys.viewer, '?follow=false', String(all.events[1]?.id));
  await rest.ended;
  assert.deepEqual(changesIn(rest).slice(0, -1), ['approved', 'opened']);
  for (const stream of [person, agent, bens, stranger]) stream.stop();
});

test('one holder of keys cannot take all streams', async (t) => {
  const { http } = await open(t, { door: { maxStreamsEach: 2 } });
  const { ask, keys } = http;
  for (let n = 0; n < 2; n++) await listenTo(t, http, '/v1/approvals/events', keys.agent);
  const third = await ask('GET', '/v1/approvals/events?follow=false', { key: keys.agent });
  assert.deepEqual([third.status, third.body['code']], [503, 'TooManyStreams']);
  await listenTo(t, http, '/v1/approvals/events', keys.viewer);
});

test('an agent completes when nothing stands against it', async (t) => {
  const { http } = await open(t);
  const { ask, keys } = http;
  const id = await defer(http);
  const blocked = await ask('POST', '/v1/complete', { body: {} });
  assert.deepEqual([blocked.status, blocked.body['code']], [409, 'COMPLETION_BLOCKED']);
  assert.equal(blocked.headers['content-type'], 'application/problem+json');
  assert.deepEqual(blocked.body['resolution'], { type: 'pending_approvals', approval_ids: [id] });
  await ask('POST', `/v1/approvals/${id}/deny`, { key: keys.approver, body: {} });
  const done = await ask('POST', '/v1/complete');
  assert.deepEqual([done.status, done.body['done']], [200, true]);
  const { body: opened } = await ask('POST', '/v1/sessions', { body: {} });
  const at = `/v1/sessions/${String(opened['session'])}/complete`;
  assert.equal((await ask('POST', at)).status, 200);
  assert.equal((await ask('POST', at, { body: { session: 'another' } })).status, 422);
  assert.equal((await ask('POST', '/v1/sessions/ses_of_nobody/complete')).status, 404);
  const unknown = await ask('POST', '/v1/calls/call_of_nobody/complete');
  assert.ok(unknown.status >= 400 && 'error' in unknown.body);
});
