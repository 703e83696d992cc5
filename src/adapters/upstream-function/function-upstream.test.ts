import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import * as z from 'zod';
import type { CallId, SessionId } from '../../core/call/call.ts';
import type { Json } from '../../core/values/json.ts';
import type { Attempt } from '../../ports/upstream.ts';
import { createFunctionUpstream } from './function-upstream.ts';
import { partial, ToolFailure } from './tool-failure.ts';
import { type Tool, tool } from './tool.ts';

function attemptOf(name: string, args: Json = {}): Attempt {
  return {
    callId: 'call_1' as CallId,
    attempt: 2,
    tool: name,
    args,
    session: 'ses_1' as SessionId,
    tenant: 'acme',
    agent: 'clerk',
    deadlineAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    timeoutMs: 1_000,
    workflowContext: null,
    client: null,
    callTool: () => Promise.reject(new Error('no tools here')),
  };
}

const base = { name: 'it', description: 'd', input: {} } as const;
const unstopped = new AbortController().signal;

function invoke(definition: Tool, args: Json = {}, signal = unstopped) {
  return createFunctionUpstream([definition]).upstream.invoke(attemptOf(definition.name, args), signal);
}

async function failureOfRun(run: () => Promise<unknown>, signal = unstopped) {
  const result = await invoke(tool({ ...base, run }), {}, signal);
  assert.ok(result.kind === 'failed');
  return result.failure;
}

test('the body gets its arguments and knows which call it serves', async () => {
  const seen: unknown[] = [];
  const look = tool({
    ...base,
    run: async (args: { a: number }, { signal, fail, elicit, sample, tools, suppressed, partial, ...facts }) => {
      seen.push(
        args,
        facts,
        signal.aborted,
        typeof fail,
        typeof elicit,
        typeof sample,
        typeof suppressed,
        typeof partial,
        Object.keys(tools),
      );
      return { b: args.a + 1 };
    },
  });
  assert.deepEqual(await invoke(look, { a: 1 }), { kind: 'returned', output: { b: 2 }, errors: [] });
  const facts = {
    call_id: 'call_1',
    attempt: 2,
    idempotency_key: 'call_1',
    session: 'ses_1',
    agent: 'clerk',
    tenant: 'acme',
    deadline: '2026-01-02T03:04:05.000Z',
    context: null,
  };
  assert.deepEqual(seen, [
    { a: 1 },
    facts,
    false,
    'function',
    'function',
    'function',
    'function',
    'function',
    ['call'],
  ]);
});

class CardDeclined extends Error {
  override name = 'CardDeclined';
}

const throws: readonly (readonly [string, unknown, { kind: string; errorType: string; message: string }])[] = [
  [
    'an error of its own',
    new CardDeclined('no funds'),
    { kind: 'threw', errorType: 'CardDeclined', message: 'no funds' },
  ],
  [
    'an error without a message',
    new TypeError(),
    { kind: 'threw', errorType: 'TypeError', message: 'threw without a message' },
  ],
  ['text', 'broken', { kind: 'threw', errorType: 'NonError', message: 'broken' }],
  ['nothing', undefined, { kind: 'threw', errorType: 'NonError', message: 'threw undefined' }],
  ['an object', { code: 7 }, { kind: 'threw', errorType: 'NonError', message: 'threw {"code":7}' }],
  ['an object like an error', { name: 'Like', message: 'm' }, { kind: 'threw', errorType: 'Like', message: 'm' }],
  [
    'an abort that we did not ask for',
    new DOMException('gone', 'AbortError'),
    { kind: 'threw', errorType: 'AbortError', message: 'gone' },
  ],
  ['a proxy that throws', hostileProxy(), { kind: 'threw', errorType: 'NonError', message: 'threw {…}' }],
  [
    'a revoked proxy',
    revokedProxy(),
    { kind: 'threw', errorType: 'NonError', message: 'threw something unreadable (object)' },
  ],
];

function hostileProxy(): object {
  const refuse = () => {
    throw new Error('do not touch');
  };
  return new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse });
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

for (const [name, thrown, expected] of throws) {
  test(`a body that throws ${name}`, async () => {
    const failure = await failureOfRun(async () => {
      throw thrown;
    });
    const { kind, errorType, message, subject, effect, retryAfterSeconds } = failure;
    assert.deepEqual({ kind, errorType, message }, expected);
    assert.deepEqual([subject, effect, retryAfterSeconds], [null, null, null]);
  });
}

test('the whole chain of causes is kept for the audit, and only there', async () => {
  const root = new RangeError('root');
  const failure = await failureOfRun(async () => {
    throw new Error('outer', { cause: new AggregateError([root], 'middle', { cause: 'the disk' }) });
  });
  assert.equal(failure.message, 'outer');
  assert.match(
    failure.cause ?? '',
    /^Error: outer\n\s+at [^]*caused by: AggregateError: middle\n[^]*together with: RangeError: root\n[^]*caused by: NonError: the disk$/,
  );
});

test('a stated failure keeps all that it states', async () => {
  const failure = await failureOfRun(async () => {
    throw new ToolFailure({
      kind: '409_conflict',
      subject: 'completed',
      message: 'done',
      effect: 'applied',
      retry_after_seconds: 3,
      name: 'AlreadyPaid',
    });
  });
  const { cause, ...rest } = failure;
  assert.match(cause ?? '', /AlreadyPaid|done/);
  assert.deepEqual(rest, {
    kind: '409_conflict',
    subject: 'completed',
    errorType: 'AlreadyPaid',
    message: 'done',
    effect: 'applied',
    retryAfterSeconds: 3,
    code: null,
  });
});

test('ctx.fail states a failure, and what it states wrongly is not believed', async () => {
  const fail = tool({
    ...base,
    run: async (_args: unknown, ctx) =>
      ctx.fail({ kind: 'odd' as '5xx', message: 'm', effect: 'maybe' as 'none', retry_after_seconds: -1 }),
  });
  const result = await invoke(fail);
  assert.ok(result.kind === 'failed');
  const { kind, effect, retryAfterSeconds, errorType } = result.failure;
  assert.deepEqual(
    { kind, effect, retryAfterSeconds, errorType },
    { kind: 'unknown', effect: null, retryAfterSeconds: null, errorType: 'ToolFailure' },
  );
});

test('an abort that we asked for is a cancellation, by name or by reason', async () => {
  for (const reason of [undefined, new Error('too late'), 'text']) {
    const controller = new AbortController();
    const stopped = tool({
      ...base,
      run: async (_args: unknown, { signal }) => {
        controller.abort(reason);
        signal.throwIfAborted();
      },
    });
    const result = await invoke(stopped, {}, controller.signal);
    assert.equal(result.kind === 'failed' && result.failure.kind, 'cancelled');
  }
});

test('a call that was stopped before it began never runs, and had no effect', async () => {
  let runs = 0;
  const result = await invoke(tool({ ...base, run: async () => runs++ }), {}, AbortSignal.abort());
  assert.ok(result.kind === 'failed');
  assert.deepEqual([result.failure.kind, result.failure.effect, runs], ['cancelled', 'none', 0]);
});

test('a partial result carries its payload and one error for each failed item', async () => {
  const errors = [{ item: 'b', kind: '404_not_found', message: 'gone' }] as const;
  const some = tool({ ...base, output: { type: 'array' }, run: async () => partial(['a'], errors) });
  assert.deepEqual(await invoke(some), { kind: 'returned', output: ['a'], errors });
});

const outputs: readonly (readonly [string, Tool, RegExp | null])[] = [
  ['a JSON Schema it fits', tool({ ...base, output: { type: 'string' }, run: async () => 'a' }), null],
  [
    'a JSON Schema it does not fit',
    tool({ ...base, output: { properties: { id: { type: 'string' } } }, run: async () => ({ id: 5 }) }),
    /^the result of 'it' does not match its output schema: \/id should be string$/,
  ],
  [
    'a JSON Schema it fits once it is JSON',
    tool({ ...base, output: { properties: { at: { type: 'string' } } }, run: async () => ({ at: new Date(0) }) }),
    null,
  ],
  [
    'a JSON Schema, and cannot be JSON',
    tool({ ...base, output: {}, run: async () => 1n }),
    /the result is not JSON at '': a bigint is not JSON/,
  ],
  ['zod, and fits', tool({ ...base, output: z.object({ id: z.string() }), run: async () => ({ id: 'a' }) }), null],
  [
    'zod, and does not',
    tool({ ...base, output: z.object({ id: z.string() }), run: async () => ({ id: 5 as never }) }),
    /: \/id: Invalid input: expected string, received number$/,
  ],
  [
    'an asynchronous zod schema',
    tool({ ...base, output: z.string().refine(async () => false, 'never'), run: async () => 'a' }),
    /the result: never$/,
  ],
  [
    'valibot',
    tool({ ...base, output: v.object({ id: v.string() }), run: async () => ({ id: 5 as never }) }),
    /\/id: Invalid type/,
  ],
  [
    'arktype',
    tool({ ...base, output: type({ id: 'string' }), run: async () => ({ id: 5 as never }) }),
    /\/id: id must be a string/,
  ],
  [
    'a schema that throws',
    tool({
      ...base,
      output: z.string().refine(() => {
        throw new Error('bug');
      }),
      run: async () => 'a',
    }),
    /its zod schema can check; it failed with Error: bug$/,
  ],
];

for (const [name, definition, message] of outputs) {
  test(`a result is checked against ${name}`, async () => {
    const result = await invoke(definition);
    if (message === null) return assert.equal(result.kind, 'returned');
    assert.ok(result.kind === 'failed');
    assert.match(result.failure.message, message);
    assert.deepEqual([result.failure.kind, result.failure.subject], ['schema_validation', 'response']);
  });
}

test('a tool that nobody registered is not found, and a name can be taken only once', async () => {
  const { upstream, validator } = createFunctionUpstream([]);
  const result = await upstream.invoke(attemptOf('none'), unstopped);
  assert.equal(result.kind === 'failed' && result.failure.kind, '404_not_found');
  assert.equal((await validator.validate('none', {}, null)).ok, false);
  const one = tool({ ...base, run: async () => 1 });
  assert.throws(() => createFunctionUpstream([one, one]), /^ToolDefinitionError: tool 'it': its name is taken/);
});
