/** Providers of models in recourse.yaml: what is read, and every mistake with its place and fix. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig } from './read-config.ts';

const env = { TOKEN: 'secret' };
const read = (text: string) => readConfig(text, 'recourse.yaml', { env });
const told = (text: string) => read(text).problems.map(({ line, message, fix }) => `${line} ${message}; ${fix}`);

test('a provider is read with its models, prices and aliases', () => {
  const { config, problems } = read(`
models:
  openai:
    kind: openai
    url: https://api.openai.com/v1
    headers: { X-Team: "\${TOKEN}" }
    timeout: 5m
    connect_timeout: 2s
    connections: 8
    breaker: { failures: 3 }
    retry: { max_attempts: 1, base: 2s }
    models:
      gpt-5:
        context: 400000
        max_output: 128000
        streaming: true
        tools: true
        price: { input: 1.25 USD, cached: 0.125 USD, output: 10 USD }
      tiny: {}
    aliases: { fast: gpt-5 }
`);
  assert.deepEqual(problems, []);
  const [provider] = config.models;
  assert.ok(provider !== undefined);
  const { places, recovery, at, ...rest } = provider;
  assert.deepEqual(rest, {
    name: 'openai',
    kind: 'openai',
    url: 'https://api.openai.com/v1',
    headers: { 'X-Team': 'secret' },
    timeoutMs: 300_000,
    limits: { connectTimeoutMs: 2_000, maxConnections: 8 },
    declared: {
      models: [
        {
          name: 'gpt-5',
          contextTokens: 400_000,
          maxOutputTokens: 128_000,
          streaming: true,
          tools: true,
          price: { currency: 'USD', inputMicros: 1_250_000, outputMicros: 10_000_000, cacheReadMicros: 125_000 },
        },
        { name: 'tiny' },
      ],
      aliases: { fast: 'gpt-5' },
    },
  });
  assert.deepEqual([at.line, places.get('model gpt-5')?.line, places.get('alias fast')?.line], [3, 13, 20]);
  assert.deepEqual(recovery?.declared.breaker, { failures: 3, openMs: 30_000 });
  assert.deepEqual([recovery?.declared.retry?.maxAttempts, recovery?.declared.retry?.baseMs], [1, 2_000]);
});

const provider = (more: string) => `models:\n  p:\n    kind: echo\n${more}`;
const models = '    models: { a: {}, b: {} }\n';

describe('mistakes are told with their place and a fix', () => {
  const mistakes: readonly (readonly [string, string, RegExp])[] = [
    ['a provider without a kind', 'models:\n  p: { url: "http://x" }\n', /^2 .*kind/],
    ['an address that is none', provider('    url: http://\n'), /^4 this is no address; write the whole of it$/],
    [
      'an alias of a model that is not declared',
      provider(`${models}    aliases: { fast: gigantic }\n`),
      /^5 there is no model 'gigantic' of this provider; use one of a, b, or add it under models$/,
    ],
    [
      'an alias of an alias',
      provider(`${models}    aliases: { x: y, y: a }\n`),
      /^5 'y' is an alias itself; name the model/,
    ],
    [
      'an alias with the name of a model',
      provider(`${models}    aliases: { a: b }\n`),
      /^5 'a' is the name of a model; give/,
    ],
    [
      'prices in two currencies',
      provider(
        '    models:\n      a: { price: { input: 1 USD, output: 2 USD } }\n      b: { price: { input: 1 EUR, output: 2 EUR } }\n',
      ),
      /^6 this is in EUR, and other prices of the provider are in USD; use one$/,
    ],
    [
      'a price in two currencies',
      provider('    models: { a: { price: { input: 1 USD, output: 2 EUR } } }\n'),
      /^4 this is in EUR, and other prices/,
    ],
    [
      'a price in tokens',
      provider('    models: { a: { price: { input: 1 tokens, output: 2 USD } } }\n'),
      /^4 .*1\.25 USD/,
    ],
    ['a price without output', provider('    models: { a: { price: { input: 1 USD } } }\n'), /^4 .*output/],
    ['an unknown key of a model', provider('    models: { a: { contxt: 5 } }\n'), /^4 .*context/],
    [
      'a code of a refusal that is retried',
      provider('    retry: { classifier: { Forbidden: retry } }\n'),
      /^4 .*never retried/,
    ],
    [
      'the name of a server',
      `tools:\n  p: { mcp: { command: x } }\n${provider('')}`,
      /^4 the provider 'p' has the name of a server: .* \(recourse\.yaml:2\); give one of them another name$/,
    ],
    [
      'the name of a workflow',
      `${provider('')}workflows:\n  p: ./p.ts\n`,
      /^5 the workflow 'p' has the name of a server: .*; give one of them another name$/,
    ],
  ];
  for (const [what, text, expected] of mistakes)
    test(what, () => {
      const [first] = told(text);
      assert.match(first ?? 'nothing', expected);
    });
});
