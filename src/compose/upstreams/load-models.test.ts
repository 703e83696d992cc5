/** A project with providers of models: loaded, checked and pinned without asking any of them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { kinds } from '../../../test/support/models/a-provider.ts';
import { listProvider } from './list-servers.ts';
import { createRecovery, recoveryOf } from './tool-recovery.ts';
import { checkErrors } from '../project/check-errors.ts';
import { loadProject } from '../project/load-project.ts';

function load(t: TestContext, yaml: string) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-models-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(path.join(cwd, 'recourse.yaml'), yaml);
  return loadProject({ cwd, kinds, env: {} });
}

async function loadWhole(t: TestContext, yaml: string) {
  const loaded = await load(t, yaml);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.project;
}

const priced = 'price: { input: 1 USD, output: 2 USD }';
const local = 'agents:\n  local: { rules: [{ permit: echo/* }] }\n';

test('operations become tools, at the usual address of their kind, and rules are checked with them', async (t) => {
  const project = await loadWhole(t, `models:\n  echo: { kind: echo, timeout: 30s }\n${local}`);
  assert.deepEqual(
    project.models.map(({ name, url, timeoutMs }) => [name, url, timeoutMs]),
    [['echo', 'https://echo.test/v1', 30_000]],
  );
  assert.deepEqual([...project.config.declared.keys()], ['echo/chat']);
  assert.deepEqual(checkErrors(project), []);
  const wrong = await loadWhole(
    t,
    'models:\n  echo: { kind: echo }\nagents:\n  local: { rules: [{ permit: echo/chaat }] }\n',
  );
  assert.match(JSON.stringify(checkErrors(wrong)) + JSON.stringify(wrong.warnings), /echo\/chaat|echo\/chat/);
});

test('a provider is pinned from its kind, and the lock is the same as long as its tools are', async (t) => {
  const [provider] = (await loadWhole(t, `models:\n  echo: { kind: echo }\n${local}`)).models;
  assert.ok(provider !== undefined);
  const { tools } = listProvider(provider);
  assert.deepEqual([...tools.keys()], ['chat']);
  assert.deepEqual(tools.get('chat')?.description, 'Asks a model.');
});

const mistakes: readonly (readonly [string, string, RegExp])[] = [
  [
    'an unknown kind',
    'models:\n  p: { kind: ech }\n',
    /^2 there are no models of the kind 'ech'; did you mean echo\?$/,
  ],
  [
    'no usual address',
    'models:\n  p:\n    kind: plain\n',
    /^2 a provider of the kind 'plain' has no usual address; add url$/,
  ],
];
for (const [what, yaml, expected] of mistakes)
  test(`${what} is told with its place and a fix`, async (t) => {
    const loaded = await load(t, yaml);
    assert.ok(!loaded.ok);
    assert.match(loaded.problems.map(({ line, message, fix }) => `${line} ${message}; ${fix}`).join('\n'), expected);
  });

describe('retries of a provider', () => {
  const pauses = async (t: TestContext, more: string, verdict: 'transient_timeout' | 'server_error_5xx') => {
    const { config, models } = await loadWhole(t, `models:\n  echo: { kind: echo${more} }\n${local}`);
    const entry = config.declared.get('echo/chat');
    assert.ok(entry !== undefined);
    const { playbook, retry, breaker } = createRecovery(recoveryOf(config, models))(entry);
    const { action, jitter } = playbook[verdict].pure;
    return { backoff: 'backoff_ms' in action ? action.backoff_ms : action.kind, jitter, retry, breaker };
  };

  test('are those of the error model: 1, 2 and 4 seconds with jitter, behind a breaker', async (t) => {
    for (const verdict of ['transient_timeout', 'server_error_5xx'] as const) {
      const { backoff, jitter, retry, breaker } = await pauses(t, '', verdict);
      assert.deepEqual([backoff, jitter, retry, breaker?.failures], [[1_000, 2_000, 4_000], 0.2, null, 5]);
    }
  });

  test('are what the file says where it says something', async (t) => {
    const own = ', playbook: { server_error_5xx: { retry_with_backoff: { backoff: [9s] } } }';
    assert.deepEqual((await pauses(t, own, 'server_error_5xx')).backoff, [9_000]);
    assert.deepEqual((await pauses(t, own, 'transient_timeout')).backoff, [1_000, 2_000, 4_000]);
    assert.equal((await pauses(t, ', retry: { max_attempts: 7 }', 'transient_timeout')).retry?.maxAttempts, 7);
    assert.equal((await pauses(t, ', breaker: off', 'transient_timeout')).breaker, null);
  });
});

describe('check warns of', () => {
  const warnings = async (t: TestContext, models: string, agent: string, tools = '') => {
    const yaml = `models:\n  echo: { kind: echo${models} }\n${tools}agents:\n  local:\n    rules: [{ permit: "**" }]\n${agent}`;
    return (await loadWhole(t, yaml)).warnings
      .map(({ message }) => message)
      .filter((each) => /model|metered/.test(each));
  };
  const budget = (more: string) => `    budgets: { daily: { max: 5 USD, cost: usage.cost${more} } }\n`;
  const shop =
    'tools:\n  shop: { http: { url: "http://shop.test" }, tools: { buy: { request: { method: POST, path: /buy } } } }\n';

  const cases: readonly (readonly [
    string,
    Parameters<typeof warnings> extends [unknown, ...infer Rest] ? Rest : never,
    readonly string[],
  ])[] = [
    ['nothing where each model has a price', [`, models: { a: { ${priced} } }`, budget('')], []],
    [
      'a model that nobody may ask for, with its alias and price',
      [`, models: { a: {}, b: { ${priced} } }, aliases: { fast: b }`, '    model_policy: { allow: [a] }\n'],
      ["no agent may ask 'echo' for the model 'b'; its alias fast and its price can never count"],
    ],
    [
      'a model_policy that permits no declared model',
      [', models: { a: {} }', '    model_policy: { allow: [z] }\n'],
      [
        "no agent may ask 'echo' for the model 'a'",
        "the model_policy of 'local' permits none of the declared models that its rules reach",
      ],
    ],
    ['no model_policy where any model may be asked for', ['', '    model_policy: { allow: [z] }\n'], []],
    [
      'a budget of money for a model without a price',
      [`, models: { a: {}, b: { ${priced} } }`, budget('')],
      ["budget daily denies every call of echo/chat for the model 'a': it has no price in USD"],
    ],
    [
      'a budget in another currency than the price',
      [', models: { a: { price: { input: 1 EUR, output: 2 EUR } } }', budget('')],
      ["budget daily denies every call of echo/chat for the model 'a': it has no price in USD"],
    ],
    ['no budget with a reserve', [', models: { a: {} }', budget(', reserve: 1 USD')], []],
    [
      'no budget of tokens',
      [', models: { a: {} }', '    budgets: { daily: { max: 9 tokens, cost: usage.total_tokens } }\n'],
      [],
    ],
    [
      'a tool that is not metered under a budget without a reserve',
      ['', budget(''), shop],
      ['budget daily denies every call of shop/buy: it is not metered'],
    ],
    ['no such tool with a match that leaves it out', ['', budget(', match: echo/*'), shop], []],
  ];
  for (const [what, given, expected] of cases)
    test(what, async (t) => assert.deepEqual(await warnings(t, ...given), expected));
});
