/**
 * Tools of an agent whose bodies the gateway in the same process runs: each shape, and what becomes of its failures.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { z } from 'zod';
import {
  type AnyTool,
  CallError,
  createClient,
  governTools,
  inProcessTransport,
  localTools,
} from '../../../src/client/index.ts';
import { createGateway } from '../../../src/index.ts';
import { folder } from '../../support/recourse-process.ts';

async function open(
  t: TestContext,
  tools: Parameters<typeof localTools>[0],
  options?: Parameters<typeof localTools>[1],
) {
  const gateway = await createGateway({ tools: localTools(tools, options), file: path.join(folder(t), 'recourse.db') });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  return gateway;
}

async function errorOf(call: Promise<unknown>): Promise<CallError> {
  const error: unknown = await call.then(
    () => assert.fail('it ran'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof CallError, String(error));
  return error;
}

const double = async ({ n }: { n: number }): Promise<number> => n * 2;

test('plain functions run in the gateway, on its record', async (t) => {
  const tools = { double };
  const gateway = await open(t, tools, {
    prefix: 'math/',
    settings: { double: { effect: 'pure', description: 'Doubles.' } },
  });
  const governed = governTools(tools, { gateway, agent: 'support', prefix: 'math/' });
  assert.equal(await governed.double({ n: 2 }), 4);
  const { call_id, action } = await createClient({ transport: inProcessTransport(gateway, { agent: 'support' }) }).send(
    'math/double',
    { n: 3 },
  );
  assert.equal(action, 'math/double');
  assert.notEqual(await gateway.reply(call_id, { agent: 'support' }), null);
  assert.equal(await gateway.reply(call_id, { agent: 'somebody else' }), null);
});

test('tools of the AI SDK run with their schema, their surroundings and their last word', async (t) => {
  const seen: unknown[] = [];
  const tools = {
    refund: {
      description: 'Gives money back.',
      inputSchema: z.object({ order: z.string(), amount: z.number().default(3) }),
      execute: async (
        args: { order: string; amount?: number },
        { toolCallId, abortSignal }: { toolCallId: string; abortSignal?: AbortSignal },
      ) => {
        seen.push(args, toolCallId.startsWith('call_'), abortSignal instanceof AbortSignal);
        return { refunded: args.amount };
      },
    },
    progress: {
      parameters: { jsonSchema: { type: 'object', properties: {}, additionalProperties: false } },
      async *execute() {
        yield 'half';
        yield 'all';
      },
    },
  };
  const gateway = await open(t, tools);
  const { refund, progress } = governTools(tools, { gateway, agent: 'support' });
  assert.deepEqual(await refund.execute({ order: 'ord_1' }, { toolCallId: 't1' }), { refunded: 3 });
  assert.deepEqual(seen, [{ order: 'ord_1', amount: 3 }, true, true]);
  const report = async (args: object) => (progress.execute as (args: object) => unknown)(args);
  assert.equal(await report({}), 'all');
  const wrong = await errorOf(refund.execute({ order: 7 as never }, { toolCallId: 't2' }));
  assert.deepEqual([wrong.error, wrong.effect], ['validation_failed', 'none']);
  assert.equal((await errorOf(report({ more: 1 }))).error, 'validation_failed');
});

test('tools of the OpenAI Agents SDK run with the text that they expect', async (t) => {
  const tool = {
    type: 'function' as const,
    name: 'refund',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    invoke: async (_context: unknown, input: string) => `refunded ${(JSON.parse(input) as { order: string }).order}`,
  };
  const gateway = await open(t, [tool], { invokeThrows: true });
  assert.equal(
    await governTools([tool], { gateway, agent: 'support' })[0].invoke({}, '{"order":"ord_1"}'),
    'refunded ord_1',
  );
  assert.throws(() => localTools([tool]), /may turn its failures into texts/);
});

test('a body that throws is a failure whose effect is not known, unless it only reads', async (t) => {
  const fails = async (_args: object): Promise<never> => {
    throw new RangeError('no such order');
  };
  const tools = { write: fails, read: fails };
  const gateway = await open(t, tools, { settings: { read: { effect: 'pure' } } });
  const { write, read } = governTools(tools, { gateway, agent: 'support' });
  const [doubt, harmless] = [await errorOf(write({})), await errorOf(read({}))];
  assert.deepEqual([doubt.error, doubt.effect, doubt.resolution?.type], ['action_error', 'unknown', 'reconcile']);
  assert.deepEqual([harmless.error, harmless.effect], ['action_error', 'none']);
  assert.match(doubt.message, /no such order/);
});

test('a signal cancels the call itself, and the gateway says what is known', async (t) => {
  const started = Promise.withResolvers<void>();
  const tools = {
    wait: async (_args: object, options?: { readonly signal?: AbortSignal }): Promise<void> => {
      started.resolve();
      await new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(new Error('stopped'))));
    },
  };
  const gateway = await open(t, tools);
  const stop = new AbortController();
  const call = governTools(tools, { gateway, agent: 'support' }).wait({}, { signal: stop.signal });
  await started.promise;
  stop.abort();
  const error = await errorOf(call);
  assert.deepEqual([error.error, error.code, error.effect], ['cancelled', 'ToolCancelled', 'unknown']);
});

test('a call that is longer than its wait is asked about in the same process, too', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const gateway = await open(t, { slow: async () => promise });
  const looks = {
    ...gateway,
    reply: async (...args: Parameters<typeof gateway.reply>) => (resolve('done'), gateway.reply(...args)),
  };
  const client = createClient({ transport: inProcessTransport(looks, { agent: 'support' }), waitSeconds: 0.01 });
  assert.equal(await client.call('slow'), 'done');
});

describe('what cannot be run is refused when it is given', () => {
  class Old {
    readonly parse = 1;
  }
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['no body', () => localTools({ ask: { description: 'Asks.', inputSchema: {} } }), /'ask' has no body/],
    [
      'a schema of an unknown sort',
      () => localTools({ a: { inputSchema: new Old(), execute: double } as AnyTool }),
      /'a' has a schema that cannot be read/,
    ],
    ['settings for nobody', () => localTools({ double }, { settings: { triple: {} } }), /there is no tool 'triple'/],
    ['an unknown option', () => localTools({ double }, { setting: {} } as never), /no option 'setting'/],
    ['no agent', () => inProcessTransport({} as never, {} as never), /'agent' must say who asks/],
  ];
  for (const [what, act, message] of cases) test(what, () => assert.throws(act, message));
});
