/** A source of secrets, a notifier, a validator or a cost of an extension that throws, hangs or lies: it fails alone. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createCredentials } from '../../../src/adapters/credentials/create-credentials.ts';
import { nodeClock } from '../../../src/adapters/system-node/clock.ts';
import { guardNotifier, guardProvider, guardValidator } from '../../../src/compose/extensions/guard-kinds.ts';
import { loadPolicy } from '../../../src/compose/project/load-policy.ts';
import { aHost } from '../../../src/extension/testing.ts';
import type { CredentialKind, DeliverNotice, ValidatorFunction } from '../../../src/extension/index.ts';
import { createGateway, httpTool } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { moduleOf, projectFolder } from '../../support/extensions/extension-project.ts';
import { listenApi } from '../../support/http/api.ts';
import { aHook, openNoticeHome, quickLimits } from '../../support/notice-home.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import { declare } from '../credentials/proves-credentials.ts';

const forever = (): Promise<never> => new Promise(() => undefined);
const guarded = (kind: string) => ({ extension: 'ext', kind, host: aHost() });
const planted = 'planted-secret-0123456789';

describe('a source of secrets that', () => {
  const cases: readonly (readonly [string, CredentialKind['create'], RegExp])[] = [
    ['throws when it is made', () => assert.fail(planted), /^it threw AssertionError$/],
    ['throws', () => ({ name: 'x', usualAgeMs: null, fetch: () => assert.fail(planted) }), /^it threw AssertionError$/],
    [
      'rejects',
      () => ({ name: 'x', usualAgeMs: null, fetch: async () => Promise.reject(new TypeError(planted)) }),
      /^it threw TypeError$/,
    ],
    [
      'fails by class and code',
      (_, host) => ({
        name: 'x',
        usualAgeMs: null,
        fetch: async () => host.fail('Governance', 'CREDENTIAL_UNAVAILABLE', 'the ring is locked'),
      }),
      /^the ring is locked \(CREDENTIAL_UNAVAILABLE\)$/,
    ],
    ['hangs', () => ({ name: 'x', usualAgeMs: null, fetch: forever }), /^no answer within 0.05 s$/],
    [
      'gives nothing',
      () => ({ name: 'x', usualAgeMs: null, fetch: async () => undefined as never }),
      /^an answer that is none$/,
    ],
    [
      'gives a secret of two lines',
      () => ({
        name: 'x',
        usualAgeMs: null,
        fetch: async () => ({ ok: true, secret: 'one-line\ntwo-lines', lifetimeMs: null }),
      }),
      /^a secret that is not one line/,
    ],
  ];
  for (const [what, create, reason] of cases)
    test(what, async (t) => {
      const config = declare({ provider: 'extension', kind: 'ring', settings: {} }, { timeoutMs: 50 });
      const providerOf = () => guardProvider({ create }, {}, guarded('ring'));
      const credentials = createCredentials([config], {
        clock: nodeClock,
        env: {},
        onSecret: () => undefined,
        providerOf,
      });
      t.after(() => credentials.close());
      const answer = await credentials.fetch('it');
      assert.ok(!answer.ok);
      assert.equal(answer.provider, 'ring');
      assert.match(answer.reason, reason);
    });
});

describe('a notifier that', () => {
  const cases: readonly (readonly [string, () => DeliverNotice, RegExp])[] = [
    ['throws when it is made', () => assert.fail(planted), /it threw AssertionError/],
    ['throws', () => () => assert.fail(planted), /it threw AssertionError/],
    ['rejects', () => async () => Promise.reject(new TypeError(planted)), /it threw TypeError/],
    ['hangs', () => forever, /not taken within 0.05 seconds/],
    ['gives nothing', () => async () => undefined as never, /its notifier did not say how it ended/],
  ];
  for (const [what, create, says] of cases)
    test(`${what}: it is told and tried again, and another is told of everything`, async (t) => {
      const home = await openNoticeHome(t);
      const hook = await startReceiver(t);
      const bell = {
        ...aHook({ url: 'http://x' }),
        via: 'extension',
        kind: 'bell',
        name: 'bell',
        settings: {},
      } as const;
      const notifierOf = () => guardNotifier({ create }, {}, guarded('bell'));
      const limits = { ...quickLimits, notifierTimeoutMs: 50 };
      await home.start([bell, aHook({ url: hook.url })], { limits, notifierOf });
      for (let count = 0; count < 3; count++) await home.record();
      await eventually('the other is told of everything', async () => hook.got.length === 3);
      await eventually('it is told', async () =>
        home.troubles.some((text) => text.startsWith("bell 'bell' did not take")),
      );
      assert.match(home.troubles[0] ?? '', says);
      assert.ok(!home.troubles.join().includes(planted));
    });
});

describe('a validator that', () => {
  const cases: readonly (readonly [string, ValidatorFunction, RegExp])[] = [
    ['throws', () => assert.fail(planted), /failed: it threw AssertionError/],
    ['rejects', async () => Promise.reject(new TypeError(planted)), /failed: it threw TypeError/],
    ['gives nothing', () => undefined as never, /gave no judgement/],
    ['gives true', () => true as never, /gave no judgement/],
    ['gives arguments that are no JSON', () => ({ ok: true, args: { a: 1n } as never }), /no JSON/],
    ['refuses without a reason', () => ({ ok: false, errors: [] }), /refused these arguments/],
  ];
  for (const [what, validate, says] of cases)
    test(`${what} lets nothing pass`, async () => {
      const judged = await guardValidator(validate, guarded('iban'))({}, { tool: 'x/y' });
      assert.ok(!judged.ok);
      assert.match(judged.errors[0]?.expected ?? '', says);
      assert.match(judged.errors[0]?.expected ?? '', /^the validator 'iban' of the extension 'ext'/);
    });
});

async function withCost(t: TestContext, cost: string, reserve = '') {
  const api = await listenApi(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ usage: { letters: 3 } }));
  });
  const budget = `{ max: 10 calls, match: "*", ${reserve} cost: { function: letters } }`;
  const { folder } = projectFolder(t, {
    'recourse.yaml': `extensions: { letters: ./letters.ts }\nagents:\n  local:\n    default: deny\n    rules: [{ permit: "*" }]\n    budgets: { daily: ${budget} }\n`,
    'letters.ts': moduleOf('letters', `costs: { letters: ${cost} },`),
  });
  const policy = await loadPolicy(`${folder}/recourse.yaml`, { onWarning: () => undefined });
  const write = httpTool({ name: 'write', method: 'GET', url: api.url, input: { type: 'object' } });
  const gateway = await createGateway({ tools: [write], policy, file: `${folder}/recourse.db` });
  t.after(() => gateway.close());
  const call = async (text: string) =>
    (await gateway.handle({ tool: 'write', args: { text } })) as unknown as Readonly<Record<string, unknown>>;
  return { gateway, call, sent: () => api.heard.length };
}

describe('a cost function', () => {
  test('says what a call costs, from its arguments', async (t) => {
    const { call } = await withCost(t, '({ args }) => args.text.length');
    assert.equal((await call('123456'))['code'], undefined);
    assert.equal((await call('12345'))['code'], 'BUDGET_EXCEEDED');
    assert.equal((await call('1234'))['code'], undefined);
  });

  test('with reserve it is asked at the end, of the result and its usage', async (t) => {
    const { gateway, call } = await withCost(t, '({ usage }) => usage.letters', 'reserve: 5 calls,');
    await call('x');
    const budgets = await gateway.budgets.list();
    assert.match(JSON.stringify(budgets), /"spent":3,/);
  });

  for (const [what, cost] of [
    ['throws', `() => { throw new Error('${planted}'); }`],
    ['gives nothing', '() => undefined'],
    ['gives what is no number', `() => Number.NaN`],
    ['gives less than nothing', '() => -1'],
    ['gives a promise', 'async () => 1'],
    ['gives another unit', `() => '1 EUR'`],
  ] as const)
    test(`that ${what} denies by name, and nothing is sent`, async (t) => {
      const { call, sent } = await withCost(t, cost);
      const reply = await call('x');
      assert.deepEqual([reply['error'], reply['code'], sent()], ['denied', 'POLICY_DENY', 0], JSON.stringify(reply));
      assert.match(String(reply['message']), /blocked by budget daily: its cost cannot be told/);
      assert.ok(!JSON.stringify(reply).includes(planted));
    });

  test('that changes what it is given changes no call', async (t) => {
    const { call } = await withCost(t, '({ args }) => { args.text = "changed"; return 1; }');
    assert.equal((await call('x'))['code'], undefined);
  });
});
