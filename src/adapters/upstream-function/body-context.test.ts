import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallId } from '../../core/call/call.ts';
import type { Json } from '../../core/values/json.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { Reply } from '../../core/call/reply.ts';
import { codes, errors, type ErrorCode, type ErrorSubject } from '../../core/taxonomy.ts';
import type { AgentClient, Attempt } from '../../ports/upstream.ts';
import { createFunctionUpstream } from './function-upstream.ts';
import { tool } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

type Body = (args: never, ctx: ToolContext) => unknown;

const unstopped = new AbortController().signal;

async function run(body: Body, more: Partial<Attempt> = {}, isolate = false, signal = unstopped) {
  const definition = tool({ name: 'it', input: {}, run: body, ...(isolate ? { isolate: true } : {}) } as never);
  const { upstream, close } = createFunctionUpstream([definition as never]);
  const attempt: Attempt = {
    callId: 'call_1' as CallId,
    attempt: 1,
    tool: 'it',
    args: {},
    session: null,
    tenant: 't',
    agent: 'a',
    deadlineAtMs: 0,
    timeoutMs: 1,
    workflowContext: null,
    client: null,
    callTool: () => Promise.reject(new Error('no tools here')),
    ...more,
  };
  try {
    return await upstream.invoke(attempt, signal);
  } finally {
    await close();
  }
}

const failureOf = async (...given: Parameters<typeof run>) => {
  const result = await run(...given);
  assert.ok(result.kind === 'failed', JSON.stringify(result));
  return result.failure;
};

const client: AgentClient = {
  elicit: async (message, schema) => ({ action: 'accept', content: { message, schema } }),
  sample: async (request) => ({ role: 'assistant', request }),
};

test('a body asks the user, the model and other tools', async () => {
  const asked: Json[] = [];
  const callTool = async (name: string, args: Json) => {
    asked.push(name, args);
    return { reply: { action: name } as unknown as Reply, effect: 'none' } as const;
  };
  const body: Body = async (_args, ctx) => [
    await ctx.elicit('sure?'),
    await ctx.elicit('which?', { type: 'object' }),
    await ctx.sample({ messages: [] }),
    await ctx.tools.call('other', { a: 1 }),
  ];
  const result = await run(body, { client, callTool });
  const form = { type: 'object', properties: {} };
  assert.deepEqual(result.kind === 'returned' && result.output, [
    { action: 'accept', content: { message: 'sure?', schema: form } },
    { action: 'accept', content: { message: 'which?', schema: { type: 'object' } } },
    { role: 'assistant', request: { messages: [] } },
    { action: 'other' },
  ]);
  assert.deepEqual(asked, ['other', { a: 1 }]);
});

const alone: readonly (readonly [string, Body])[] = [
  ['elicit', async (_args, ctx) => ctx.elicit('sure?')],
  ['sample', async (_args, ctx) => ctx.sample({})],
  ['tools.call', async (_args, ctx) => ctx.tools.call('x')],
];

for (const [name, body] of alone) {
  test(`ctx.${name} says that nobody can be asked: without a client, in a worker, and after the end`, async () => {
    if (name !== 'tools.call') {
      const { errorType, message } = await failureOf(body);
      assert.equal(errorType, 'NotAvailable');
      assert.match(message, /this call came from nobody who can be asked$/);
    }
    const isolated = await failureOf(body, { client }, true);
    assert.match(isolated.message, new RegExp(`^ctx.${name} is not available in an isolated body`));
    const stopped = new AbortController();
    const late: Body = async (args, ctx) => {
      stopped.abort();
      return body(args, ctx);
    };
    const gone = await failureOf(late, { client }, false, stopped.signal);
    assert.match(gone.message, /nobody waits for this call$/);
  });
}

test('a question that is none is refused, not thrown through', async () => {
  assert.equal((await failureOf(async (_a, ctx) => ctx.elicit(3 as never), { client })).errorType, 'TypeError');
  assert.equal((await failureOf(async (_a, ctx) => ctx.tools.call(3 as never))).errorType, 'TypeError');
});

test('every code of a failed action can be named with its class, in this thread and in a worker', async () => {
  for (const code of errors.action_error.codes) {
    const { class: errorClass } = codes[code];
    const found = await failureOf(async (_args, ctx) => ctx.fail(errorClass, code as never, 'why'));
    assert.deepEqual([found.code, found.message, found.effect], [code, 'why', null]);
  }
  const found = await failureOf(async (_args, ctx) => ctx.fail('ToolTerminal', 'NotFound'), {}, true);
  assert.deepEqual([found.code, found.kind], ['NotFound', '404_not_found']);
});

test('a refusal by code has had no effect, anything else is not known', async () => {
  const effectOf = async (code: ErrorCode) => {
    const found = await failureOf(async (_args, ctx) => ctx.fail(codes[code].class as never, code as never));
    return classify(found.kind, (found.subject ?? undefined) as ErrorSubject | undefined, 'plain').effect;
  };
  for (const code of ['InputInvalid', 'NotFound', 'Forbidden', 'ResourceBusy', 'RateLimited', 'KeyReused'] as const) {
    assert.equal(await effectOf(code), 'none', code);
  }
  for (const code of ['ExecutionFailed', 'Provider5xx', 'OutputMalformed', 'LifecycleFailure'] as const) {
    assert.equal(await effectOf(code), 'unknown', code);
  }
});

test('a code that names its table row classifies as itself', async () => {
  for (const code of [
    'InputInvalid',
    'NotFound',
    'Forbidden',
    'ResourceBusy',
    'RateLimited',
    'StaleEvidence',
  ] as const) {
    const found = await failureOf(async (_args, ctx) => ctx.fail(codes[code].class as never, code as never));
    assert.equal(classify(found.kind, (found.subject ?? undefined) as ErrorSubject | undefined, 'plain').code, code);
  }
});

test('what is stated beside the code is kept', async () => {
  const more = { effect: 'applied', retry_after_seconds: 4 } as const;
  const found = await failureOf(async (_args, ctx) => ctx.fail('ProviderTransient', 'RateLimited', 'slow', more));
  assert.deepEqual([found.effect, found.retryAfterSeconds, found.kind], ['applied', 4, '429']);
});

const odd: readonly (readonly unknown[])[] = [
  ['ToolTerminal', 'RateLimited', 'm'],
  ['ToolTerminal', 'Nonsense', 'm'],
  ['Nonsense', 'NotFound', 'm'],
  ['Workflow', 'InvalidTransition', 'm'],
  ['ToolTerminal', 7],
  ['constructor', 'constructor', {}, 9],
];

for (const given of odd) {
  test(`an unknown pair is a typed failure: ${JSON.stringify(given)}`, async () => {
    const found = await failureOf(async (_args, ctx) => (ctx.fail as (...given: unknown[]) => never)(...given));
    assert.deepEqual([found.kind, found.code, found.errorType], ['unknown', null, 'ToolFailure']);
    assert.match(found.message, /which no failed action can have/);
  });
}

test('a code that no failed action can have is not believed in a stated failure either', async () => {
  for (const code of ['Fenced', 'Nonsense', 'toString', 3]) {
    const found = await failureOf(async (_args, ctx) => ctx.fail({ kind: '5xx', code: code as never, message: 'm' }));
    assert.deepEqual([found.kind, found.code], ['5xx', null]);
  }
  const found = await failureOf(async (_args, ctx) => ctx.fail({ kind: '5xx', code: 'NetworkTimeout', message: 'm' }));
  assert.equal(found.code, 'NetworkTimeout');
});

test('a body that asks and does not listen for the answer brings nothing down', async () => {
  const unheard: unknown[] = [];
  const listen = (reason: unknown) => void unheard.push(reason);
  process.on('unhandledRejection', listen);
  const body: Body = async (_args, ctx) => {
    void ctx.elicit('nobody hears this');
    void ctx.sample({});
    void ctx.tools.call('nothing');
    return 1;
  };
  for (const isolate of [false, true]) assert.equal((await run(body, {}, isolate)).kind, 'returned');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', listen);
  assert.deepEqual(unheard, []);
});
