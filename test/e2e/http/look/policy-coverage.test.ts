/** What people see of a policy over HTTP: how often each of its rules has decided. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Policy } from '../../../../src/core/policy/policy.ts';
import { aPolicy, anAgent } from '../../../support/a-policy.ts';
import { aTool } from '../../../support/tools.ts';
import { openHttp, type OpenedHttp } from '../open-http.ts';

type Body = Record<string, unknown>;

const ruled = (mode: 'enforce' | 'audit' = 'enforce') =>
  aPolicy(
    [
      anAgent('bot', [
        ['permit', 'read'],
        ['deny', 'drop'],
        ['defer', 'refund'],
        ['permit', 'never'],
      ]),
      anAgent('ben', [['permit', 'read']]),
    ],
    mode,
  );

async function open(t: TestContext, policy: Policy = ruled()): Promise<OpenedHttp> {
  const tools = ['read', 'drop', 'refund', 'other', 'never'].map((name) => aTool(name, () => ({ ok: true })));
  return openHttp(t, { tools, policy });
}

async function coverageOf({ ask, keys }: OpenedHttp, key = keys.viewer) {
  const { body } = await ask('GET', '/v1/policy/coverage', { key });
  const rules = body['rules'] as readonly Body[];
  const counts = rules.map(({ agent, ref, part, ran, denied, deferred, softened }) =>
    [agent, ref, part, ran, denied, deferred, softened].join(' '),
  );
  return { body, counts };
}

test('each rule is told with how often it let run, denied and deferred, repeats among them', async (t) => {
  const http = await open(t);
  await http.call({ tool: 'read', args: { a: 1 } });
  await http.call({ tool: 'read', args: { a: 2 } });
  for (let times = 0; times < 3; times++) await http.call({ tool: 'drop', args: {} });
  await http.call({ tool: 'refund', args: {} });
  await http.call({ tool: 'other', args: {} });
  await http.call({ tool: 'nowhere', args: {} });
  const { body, counts } = await coverageOf(http);
  assert.deepEqual(counts, [
    'bot recourse.yaml:10 rule 2 0 0 0',
    'bot recourse.yaml:11 rule 0 3 0 0',
    'bot recourse.yaml:12 rule 0 0 1 0',
    'bot recourse.yaml:13 rule 0 0 0 0',
    'bot recourse.yaml:5 default 0 1 0 0',
    'ben recourse.yaml:10 rule 0 0 0 0',
    'ben recourse.yaml:5 default 0 0 0 0',
  ]);
  assert.deepEqual([body['decisions'], body['other'], body['elsewhere'], body['complete']], [8, 1, 0, true]);
  // A second look reads only what came since, repeats of an earlier refusal among it.
  for (let times = 0; times < 10; times++) await http.call({ tool: 'drop', args: {} });
  await http.call({ tool: 'read', args: { a: 3 } });
  const later = await coverageOf(http);
  assert.equal(later.counts[0], 'bot recourse.yaml:10 rule 3 0 0 0');
  // The journal hears of repeats at 1, 10, 100 and from the sweeper.
  assert.match(later.counts[1] ?? '', /^bot recourse\.yaml:11 rule 0 1[0-3] 0 0$/);
});

test('what an audited policy let run is told at the rule that would have denied it', async (t) => {
  const http = await open(t, ruled('audit'));
  await http.call({ tool: 'drop', args: {} });
  const { counts } = await coverageOf(http);
  assert.equal(counts[1], 'bot recourse.yaml:11 rule 0 0 0 1');
});

test('people see the decisions of their own tenant, and agents see none', async (t) => {
  const http = await open(t);
  await http.call({ tool: 'read', args: {} });
  const stranger = await http.makeKey('other', 'viewer', 'olga');
  const { body } = await coverageOf(http, stranger);
  assert.equal(body['decisions'], 0);
  for (const at of ['coverage', 'file']) assert.equal((await http.ask('GET', `/v1/policy/${at}`)).status, 403);
  assert.equal((await http.ask('GET', '/v1/policy/file', { key: stranger })).status, 403);
  assert.equal((await http.ask('GET', '/v1/policy/file', { key: http.keys.viewer })).status, 200);
});

test('a line with several patterns is one rule', async (t) => {
  const agent = anAgent('bot', [
    ['permit', 'read'],
    ['permit', 'other'],
  ]);
  const oneLine = { ...agent, rules: agent.rules.map((rule) => ({ ...rule, ref: 'recourse.yaml:10' })) };
  const http = await open(t, aPolicy([oneLine]));
  await http.call({ tool: 'other', args: {} });
  const { body, counts } = await coverageOf(http);
  assert.deepEqual(counts, ['bot recourse.yaml:10 rule 1 0 0 0', 'bot recourse.yaml:5 default 0 0 0 0']);
  assert.equal((body['rules'] as readonly Body[])[0]?.['match'], 'read, other');
});

test('rate limits are told as they stand, and looking takes nothing from them', async (t) => {
  const limits = [{ match: 'read', rate: '2/hour', burst: null, ref: 'recourse.yaml:30' }];
  const http = await open(t, aPolicy([anAgent('bot', [['permit', 'read']], { limits })]));
  const look = async () => {
    const { body } = await http.ask('GET', '/v1/limits', { key: http.keys.viewer });
    const [limit] = body['limits'] as readonly Body[];
    return [limit?.['agent'], limit?.['match'], limit?.['rate'], limit?.['left'], limit?.['next_in_seconds'] !== null];
  };
  assert.deepEqual(await look(), ['bot', 'read', '2/hour', 2, false]);
  for (let times = 0; times < 2; times++) await http.call({ tool: 'read', args: { times } });
  assert.deepEqual(await look(), ['bot', 'read', '2/hour', 0, true]);
  assert.deepEqual(await look(), ['bot', 'read', '2/hour', 0, true]);
  assert.equal((await http.ask('GET', '/v1/limits')).status, 403);
});

test('what a person denied was not decided by the rule that asked for them', async (t) => {
  const http = await open(t);
  const { body } = await http.call({ tool: 'refund', args: {} });
  const id = String((body['resolution'] as Body)['approval_id']);
  await http.ask('POST', `/v1/approvals/${id}/deny`, { key: http.keys.approver, body: {} });
  const again = await http.call({ tool: 'refund', args: {} });
  assert.deepEqual([again.status, again.body['code']], [403, 'POLICY_DENY']);
  const { body: coverage, counts } = await coverageOf(http);
  assert.deepEqual([counts[2], coverage['other']], ['bot recourse.yaml:12 rule 0 0 1 0', 1]);
});
