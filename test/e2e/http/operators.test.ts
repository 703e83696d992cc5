import assert from 'node:assert/strict';
import { writeFileSync, mkdtempSync, rmSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openapiDocument } from '../../../src/core/http/openapi-paths.ts';
import { aTool } from '../../support/tools.ts';
import { codeIn, tableIn } from '../../support/read-docs.ts';
import { coffee } from '../../support/workflows.ts';
import { type Closing, openHttp, openOnce } from './open-http.ts';

const tools = [aTool('echo', (args) => args, { effect: 'pure' }), aTool('pay', () => 'paid')];

describe('what operators ask', () => {
  const http = openOnce((t: Closing) => openHttp(t, { tools, workflows: [coffee()] }));

  test('the tools of an agent are listed to it, and to operators who name it', async () => {
    const { ask, keys } = http();
    const { body } = await ask('GET', '/v1/tools');
    assert.equal(body['agent'], 'bot');
    assert.deepEqual(
      (body['tools'] as { name: string; effect: string }[]).map(({ name, effect }) => `${name} ${effect}`),
      ['echo pure', 'pay plain'],
    );
    assert.equal((await ask('GET', '/v1/tools?agent=rob')).body['code'], 'RoleForbidden');
    assert.equal((await ask('GET', '/v1/tools?agent=rob', { key: keys.viewer })).body['agent'], 'rob');
    assert.equal((await ask('GET', '/v1/tools', { key: keys.viewer })).status, 422);
  });

  test('status says how the gateway is', async () => {
    const { status, body } = await http().ask('GET', '/v1/status', { key: http().keys.viewer });
    assert.equal(status, 200);
    assert.deepEqual([body['ready'], body['in_flight'], body['store']], [true, 0, 'available']);
  });

  test('without a policy there is none to show', async () => {
    assert.deepEqual((await http().ask('GET', '/v1/policy', { key: http().keys.viewer })).body, { policy: null });
  });

  test('the document is that of the code, and the one that is published', async () => {
    const { ask, keys } = http();
    const document = JSON.parse(JSON.stringify(openapiDocument())) as unknown;
    for (const key of Object.values(keys))
      assert.deepEqual((await ask('GET', '/v1/openapi.json', { key })).body, document);
    const published = path.join(import.meta.dirname, '../../../docs/reference/openapi.json');
    assert.deepEqual(JSON.parse(readFileSync(published, 'utf8')), document);
  });

  test('metrics count the calls of the tenant, and the guide names every one of them', async () => {
    const { ask, call, keys, makeKey } = http();
    const other = await makeKey('other', 'agent', 'bot');
    for (const tool of ['pay', 'pay', 'nothing']) await call({ tool, args: {} });
    await call({ tool: 'pay', args: {} }, { key: other });
    const { body: opened } = await ask('POST', '/v1/sessions', { body: { workflow: 'coffee' } });
    await ask('POST', `/v1/sessions/${String(opened['session'])}/steps`, { body: { action: 'pay' } });
    const { text, headers } = await ask('GET', '/metrics', { key: keys.viewer });
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    const lines = text.split('\n');
    assert.ok(lines.includes('recourse_calls_total{outcome="succeeded",code=""} 2'), text);
    assert.ok(lines.includes('recourse_calls_total{outcome="unknown_action",code="UnknownAction"} 1'), text);
    assert.ok(lines.includes('recourse_refusals_total{code="UnknownAction",outcome="unknown_action"} 1'), text);
    assert.ok(lines.includes('recourse_calls_total{outcome="invalid_transition",code="InvalidTransition"} 1'), text);
    assert.ok(lines.includes('recourse_calls_in_flight 0') && lines.includes('recourse_ready 1'), text);
    for (const line of lines)
      assert.match(line, /^(?:|# (?:HELP|TYPE) \w+ .+|\w+(?:\{(?:\w+="[^"\n]*",?)+\})? -?[\d.]+)$/);
    const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/guides/http.md'), 'utf8');
    const named = tableIn(guide, 'metric').map(([name = '']) => codeIn(name)[0]);
    assert.deepEqual(
      named,
      [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name),
    );
  });
});

test('a policy is applied as a whole, or its problems are told and nothing changes', async (t) => {
  const { loadProject } = await import('../../../src/compose/project/load-project.ts');
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-policy-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const write = (text: string) => writeFileSync(path.join(cwd, 'recourse.yaml'), text);
  write("agents:\n  bot:\n    rules:\n      - permit: '**'\n");
  const { ask, call, keys } = await openHttp(t, { tools, load: () => loadProject({ cwd, env: {} }) });
  const apply = (key = keys.admin) => ask('POST', '/v1/policy/apply', { key });
  assert.equal((await call({ tool: 'pay', args: {} })).status, 200);

  write('agents:\n  bot:\n    rules:\n      - permit: echo\n');
  for (const key of [keys.agent, keys.viewer, keys.approver])
    assert.equal((await apply(key)).body['code'], 'RoleForbidden');
  assert.equal((await call({ tool: 'pay', args: {} })).status, 200, 'nothing changed');
  assert.equal((await apply()).status, 200);
  const denied = await call({ tool: 'pay', args: {} });
  assert.deepEqual([denied.status, denied.body['code']], [403, 'POLICY_DENY']);
  assert.match(String(denied.body['rule_ref']), /^recourse\.yaml:\d+$/);
  const { body } = await ask('GET', '/v1/policy', { key: keys.viewer });
  const { agents } = body['policy'] as { agents: { agent: string; rules: { effect: string; ref: string }[] }[] };
  assert.deepEqual(
    agents.map(({ agent, rules }) => [agent, rules.map(({ effect, ref }) => `${effect} ${ref}`)]),
    [['bot', ['permit recourse.yaml:4']]],
  );

  write('agents:\n  bot:\n    rulez: []\n');
  const refused = await apply();
  assert.deepEqual([refused.status, refused.body['class']], [422, 'Validation']);
  const [problem] = refused.body['problems'] as { file: string; line: number; fix: string }[];
  assert.deepEqual([problem?.file, problem?.line], ['recourse.yaml', 3]);
  assert.deepEqual((await ask('GET', '/v1/policy', { key: keys.viewer })).body, body, 'nothing changed');
});

test('a policy is shown whole, in the names of the wire', async (t) => {
  const { loadProject } = await import('../../../src/compose/project/load-project.ts');
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-policy-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const yaml = `roles:
  finance: [ada]
agents:
  bot:
    default: defer
    model_policy: { allow: [opus] }
    completion: { require: [pay] }
    rules:
      - defer: pay
        reason: money leaves
        when: args.amount > 5
        approvers: [finance]
        needs: 1
        expires: 2h
        on_approve: run
        client_may_approve: true
      - permit: echo
`;
  writeFileSync(path.join(cwd, 'recourse.yaml'), yaml);
  const { ask, keys } = await openHttp(t, { tools, load: () => loadProject({ cwd, env: {} }) });
  const { status, body } = await ask('GET', '/v1/policy', { key: keys.viewer });
  assert.equal(status, 200);
  const terms = { roles: ['finance'], needed: 1, expires_ms: 7_200_000, on_approve: 'run', client_may_approve: true };
  const usual = { roles: null, needed: 1, expires_ms: 86_400_000, on_approve: 'wait', client_may_approve: false };
  assert.deepEqual(body['policy'], {
    mode: 'enforce',
    ref: 'recourse.yaml:3',
    roles: { finance: ['ada'] },
    agents: [
      {
        agent: 'bot',
        ref: 'recourse.yaml:4',
        default: { effect: 'defer', ref: 'recourse.yaml:5', terms: usual },
        rules: [
          {
            effect: 'defer',
            match: 'pay',
            when: 'args.amount > 5',
            reason: 'money leaves',
            ref: 'recourse.yaml:9',
            terms,
          },
          { effect: 'permit', match: 'echo', when: null, reason: null, ref: 'recourse.yaml:17' },
        ],
        ceiling: null,
        models: { allow: ['opus'], ref: 'recourse.yaml:6' },
        redact: [],
        completion: { require: ['pay'], when: null, condition: null, ref: 'recourse.yaml:7' },
      },
    ],
  });
});
