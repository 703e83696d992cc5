/** Model calls through `recourse up`: a real process, real keys, local providers behind it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { recourse } from '../../support/compiled-recourse.ts';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { requests } from '../../support/models/model-upstream.ts';
import { openaiErrors, withHeaders } from '../../support/models/provider-errors.ts';
import type { Script } from '../../support/models/script.ts';
import { type Provider, startProvider } from '../../support/models/start-provider.ts';
import { objectsIn } from '../../support/recourse-process.ts';

const key = 'sk-of-the-provider-0123456789';

const yamlFor = ({ openai, anthropic }: Provider) => `models:
  openai:
    kind: openai
    url: ${openai}
    headers: { Authorization: Bearer ${key} }
    models:
      gpt-5: { context: 1000, price: { input: 2 USD, output: 8 USD } }
    aliases: { fast: gpt-5 }
  claude:
    kind: anthropic
    url: ${anthropic}
    headers: { X-Api-Key: ${key} }
agents:
  bot:
    rules: [{ permit: "**" }]
    budgets:
      daily: { match: openai/*, max: 1 USD, cost: usage.cost, window: total }
`;

async function open(t: TestContext) {
  const provider = await startProvider(t, { keys: [key], models: ['gpt-5', 'gpt-6'], prices: { input: 2, output: 8 } });
  const up = await startGoverned(t, yamlFor(provider));
  await up.ready();
  const agent = up.keyOf('bot');
  const call = (tool: string, args: object) => up.ask('/v1/calls', { key: agent, body: { tool, args } });
  const run = (words: readonly string[]) => recourse([...words, '--url', up.url], { cwd: up.home });
  const models = () => objectsIn(run(['status', '--json']).stdout)[0]?.['models'] as Record<string, unknown>[];
  return { provider, up, call, run, models };
}

const says = { text: 'Fine.', tokens: { input: 100, output: 10 } };

test('each operation of a provider is a tool, plain and streamed, with the key of the file', async (t) => {
  const { provider, call, run, models } = await open(t);
  provider.always({ says });
  for (const [tool, request] of [
    ['openai/chat', requests.chat],
    ['openai/responses', requests.responses],
    ['claude/messages', requests.messages],
  ] as const)
    for (const stream of [false, true]) {
      const { status, body } = await call(tool, { ...request, stream });
      assert.equal(status, 200, JSON.stringify(body));
      assert.match(JSON.stringify(body['result']), /Fine\./);
    }
  const asked = provider.ledger.filter(({ method }) => method === 'POST');
  assert.deepEqual([asked.length, new Set(asked.map(({ ended }) => ended))], [6, new Set(['whole'])]);
  await eventually('the lists of models', async () => models().every(({ state }) => state === 'reachable'));
  const [openai] = models();
  assert.deepEqual(openai?.['used'], { calls: 4, input_tokens: 400, output_tokens: 40, cost: '0.00112 USD' });
  const known = openai['models'] as { readonly name: string; readonly declared: unknown; readonly said: unknown }[];
  assert.deepEqual(
    known.map(({ name, declared, said }) => [name, declared !== null, said !== null]),
    [
      ['gpt-5', true, true],
      ['gpt-6', false, true],
    ],
  );
  assert.match(run(['status']).stdout, /openai: openai, reachable, 2 models, 4 calls, 400 \+ 40 tokens, 0.00112 USD/);
  assert.match(run(['budgets']).stdout, /bot\/daily .*\$0\.00112/);
});

test('what the provider refuses is told by its code, and nothing of it is charged', async (t) => {
  const { provider, call, run } = await open(t);
  const refused = async (script: Script) => {
    provider.next(script);
    const { status, body } = await call('openai/chat', { ...requests.chat, model: 'fast' });
    return [status, body['code'], body['effect'], body['attempts'] ?? 1];
  };
  assert.deepEqual(await refused({ refuses: openaiErrors.contextTooLong }), [422, 'ContextWindowTooSmall', 'none', 1]);
  assert.deepEqual(await refused({ refuses: openaiErrors.noQuota }), [502, 'RateLimited', 'none', 1]);
  assert.deepEqual(await refused({ refuses: openaiErrors.noSuchModel }), [502, 'NotFound', 'none', 1]);
  const limited = { refuses: withHeaders(openaiErrors.limited, { 'retry-after': '1' }) };
  const { status, body } = await (provider.next(limited, { says }), call('openai/chat', requests.chat));
  assert.deepEqual([status, body['attempts']], [200, 2]);
  assert.match(run(['budgets']).stdout, /bot\/daily .*\$0\.00028/);
});
