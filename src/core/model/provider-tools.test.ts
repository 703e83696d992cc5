/** What a provider's tools say of a request: which model, what it lacks, how much it can use and did use. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { aProvider } from '../../../test/support/models/a-provider.ts';
import { readAmount } from '../budget/amount.ts';
import type { ToolEntry } from '../call/catalogue.ts';
import type { Json, JsonObject } from '../values/json.ts';
import type { DeclaredModel, DeclaredModels, Price } from './model-provider.ts';
import { costOf } from './price.ts';
import type { ListedModel } from './protocol.ts';
import { entriesOf } from './provider-tools.ts';

const price: Price = { currency: 'USD', inputMicros: 1_250_000, outputMicros: 10_000_000, cacheReadMicros: 125_000 };
const large: DeclaredModel = { name: 'large', contextTokens: 1_000, maxOutputTokens: 100, streaming: true, price };
const small: DeclaredModel = { name: 'small', contextTokens: 200, streaming: false, tools: false };
const declared: DeclaredModels = { models: [large, small], aliases: { fast: 'small', best: 'large' } };

function toolOf(models: DeclaredModels = declared, said: readonly ListedModel[] = []): ToolEntry {
  const entry = entriesOf(aProvider({ declared: models }), () => new Map(said.map((each) => [each.name, each]))).get(
    'echo/chat',
  );
  assert.ok(entry !== undefined);
  return entry;
}

const anyone = () => true;
const problemWith = (args: JsonObject, tool = toolOf(), permits: (model: string) => boolean = anyone) =>
  tool.models?.problemWith(args, permits) ?? null;

describe('the tool of an operation', () => {
  test('is a read with the host of its provider, and is metered', () => {
    const { effectClass, reach, host, port, timeoutMs, metered, policyName } = toolOf();
    assert.deepEqual([effectClass, reach, host, port], ['pure', 'read_only', 'echo.test', 443]);
    assert.deepEqual([timeoutMs, policyName, metered === undefined], [600_000, 'echo/chat', false]);
  });

  test('has a manifest that changes with a price', () => {
    const dearer = { ...large, price: { ...price, outputMicros: 1 } };
    assert.notEqual(toolOf().manifest, toolOf({ ...declared, models: [dearer, small] }).manifest);
  });

  test('judges its arguments by the schema of the operation', () => {
    const { input } = toolOf();
    assert.ok(input.kind === 'schema');
    assert.deepEqual([input.check({ model: 'large' }).length, input.check({}).length], [0, 1]);
  });
});

describe('which model, and whether it can answer', () => {
  test('an alias is the model that it stands for', () => {
    assert.equal(toolOf().models?.nameIn({ model: 'fast' }), 'small');
    assert.equal(toolOf().models?.nameIn({ model: 'large' }), 'large');
    assert.equal(toolOf().models?.nameIn([]), null);
  });

  const answers: readonly (readonly [string, JsonObject, string | null])[] = [
    ['a request that needs nothing passes', { model: 'small' }, null],
    ['a stream of a model that does not stream', { model: 'small', stream: true }, 'MissingStreaming'],
    ['the same by its alias', { model: 'fast', stream: true }, 'MissingStreaming'],
    ['tools of a model that calls none', { model: 'small', tools: [] }, 'MissingToolCalling'],
    ['tools of a model of which nobody knows', { model: 'large', tools: [] }, null],
    ['an answer that is longer than the window', { model: 'small', max_tokens: 201 }, 'ContextWindowTooSmall'],
    ['a text that is surely too long', { model: 'small', prompt: 'x'.repeat(1_608) }, 'ContextWindowTooSmall'],
    ['a text that may just fit', { model: 'small', prompt: 'x'.repeat(1_607) }, null],
    [
      'a text that fits alone and not with its answer',
      { model: 'small', prompt: 'x'.repeat(1_600), max_tokens: 1 },
      'ContextWindowTooSmall',
    ],
  ];
  for (const [what, args, code] of answers)
    test(`${what}: ${code ?? 'passes'}`, () => {
      const problem = problemWith(args);
      assert.equal(problem?.kind === 'lacks' ? problem.code : problem, code);
    });

  test('the models that could answer are named, if they are permitted', () => {
    const lacking = problemWith({ model: 'small', stream: true });
    assert.deepEqual(lacking?.kind === 'lacks' && lacking.qualified, ['large']);
    const permits = (name: string) => name !== 'large';
    const alone = problemWith({ model: 'small', stream: true }, toolOf(), permits);
    assert.deepEqual(alone?.kind === 'lacks' && alone.qualified, []);
  });

  test('a model that is not declared is a problem only where models are declared', () => {
    assert.deepEqual(problemWith({ model: 'huge' }), { kind: 'undeclared', model: 'huge', known: ['large', 'small'] });
    assert.equal(problemWith({ model: 'huge', stream: true }, toolOf({ models: [], aliases: {} })), null);
  });

  test('what the provider says counts where the file says nothing, and the file wins', () => {
    const said = [
      { name: 'large', tools: false, streaming: false },
      { name: 'other', streaming: false },
    ];
    const open = toolOf({ models: [], aliases: {} }, said);
    assert.equal(problemWith({ model: 'other', stream: true }, open)?.kind, 'lacks');
    const both = toolOf(declared, said);
    assert.equal(problemWith({ model: 'large', tools: [] }, both)?.kind, 'lacks');
    assert.equal(problemWith({ model: 'large', stream: true }, both), null);
  });
});

describe('how much it uses', () => {
  const most = (args: JsonObject, tool = toolOf()) => tool.metered?.most(args) ?? null;

  test('before a call it is the estimate of what it reads and the most that it may write, at the price of both', () =>
    // 100 characters are held as 50 tokens and 500 that the provider may add.
    assert.deepEqual(most({ model: 'best', prompt: 'x'.repeat(100), max_tokens: 20 }), {
      input_tokens: 550,
      output_tokens: 20,
      total_tokens: 570,
      cost: '0.000888 USD',
    }));

  test('without a limit in the request the model has one, or its window is one, or nothing bounds it', () => {
    const unbounded = toolOf({ models: [], aliases: {} });
    assert.equal(most({ model: 'large' })?.['output_tokens'], 100);
    assert.equal(most({ model: 'small' })?.['output_tokens'], 200);
    assert.equal(most({ model: 'any' }, unbounded), null);
    assert.equal(most({ model: 'any', max_tokens: 7 }, unbounded)?.['output_tokens'], 7);
  });

  test('no more is read than the window of the model takes', () =>
    assert.equal(most({ model: 'large', prompt: 'x'.repeat(1_000_000) })?.['input_tokens'], 1_000));

  test('input is held at the price of writing it to a cache where that is dearer', () => {
    const cached = { ...large, price: { ...price, cacheWriteMicros: 2_500_000 } };
    const held = most({ model: 'large', max_tokens: 0 }, toolOf({ models: [cached], aliases: {} }));
    assert.equal(held?.['cost'], '0.00125 USD');
  });

  test('after a call it is what the answer says, cached input at its own price', () => {
    const used = (answer: Json) => toolOf().metered?.used({ model: 'best' }, answer);
    assert.deepEqual(used({ usage: { in: 1_000, out: 10, cached: 800 } }), {
      input_tokens: 1_000,
      output_tokens: 10,
      total_tokens: 1_010,
      cost: '0.00045 USD',
    });
    assert.equal(used({ text: 'hello' }), null);
  });

  test('a model without a price has tokens and no cost', () =>
    assert.deepEqual(toolOf().metered?.used({ model: 'small' }, { usage: { in: 1, out: 1 } }), {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
    }));

  test('a cost is exact, rounded up to a millionth, and an amount that budgets read', () => {
    const count = fc.nat(10_000_000);
    const rate = fc.nat(1_000_000_000);
    fc.assert(
      fc.property(count, count, rate, rate, (inputTokens, outputTokens, inputMicros, outputMicros) => {
        const usage = { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
        const text = costOf({ currency: 'USD', inputMicros, outputMicros }, usage);
        const exact = BigInt(inputTokens) * BigInt(inputMicros) + BigInt(outputTokens) * BigInt(outputMicros);
        const micros = text === null ? null : readAmount(text)?.micros;
        assert.equal(micros, text === null ? null : Number((exact + 999_999n) / 1_000_000n));
      }),
    );
  });
});
