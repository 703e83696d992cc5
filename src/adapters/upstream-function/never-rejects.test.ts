import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import type { CallId } from '../../core/call/call.ts';
import { canonicalise } from '../../core/values/canonical.ts';
import { effects, kinds } from '../../core/taxonomy.ts';
import type { Attempt, UpstreamResult } from '../../ports/upstream.ts';
import { createFunctionUpstream } from './function-upstream.ts';
import { partial, ToolFailure } from './tool-failure.ts';
import { type JsonSchema, type Tool, tool } from './tool.ts';

function refuse(): never {
  throw new Error('do not touch');
}

/** Objects that fight back when they are looked at. */
const fighters: readonly ((inner: unknown) => object)[] = [
  () =>
    new Proxy(
      {},
      { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse },
    ),
  () => new Proxy([], { get: refuse }),
  (inner) => new Proxy(refuse, { get: () => inner }),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  () => Object.defineProperties({}, { message: { get: refuse }, name: { get: refuse }, stack: { get: refuse } }),
  () => ({ then: refuse }),
  (inner) => ({ then: (resolve: (value: unknown) => void) => resolve(inner) }),
  () => ({ toJSON: refuse }),
  (inner) => ({ toJSON: () => inner, toString: refuse, [Symbol.toPrimitive]: refuse }),
  (inner) => Object.assign(new Error('m'), { name: inner, message: inner, stack: inner, cause: inner, errors: inner }),
  (inner) =>
    Object.assign(new ToolFailure({ kind: '5xx', message: 'm' }), {
      kind: inner,
      subject: inner,
      effect: inner,
      message: inner,
    }),
  (inner) => partial(inner, inner as never),
  (inner) => partial(inner, [inner as never, { item: Number.NaN, kind: inner as never, message: inner as never }]),
  (inner) => {
    const loop: Record<string, unknown> = { inner };
    return Object.assign(loop, { loop, cause: loop, errors: [loop] });
  },
];

const fighter = fc.constantFrom(...fighters);
const ordinary = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSparseArray: true,
  withTypedArray: true,
});

/** Makers of values: fast-check itself would not survive to look at some of them. */
const anything: fc.Arbitrary<() => unknown> = fc.oneof(
  ordinary.map((value) => () => value),
  fc.tuple(ordinary, fighter).map(
    ([inner, fight]) =>
      () =>
        fight(inner),
  ),
  fc.tuple(ordinary, fighter, fighter).map(
    ([inner, fight, again]) =>
      () =>
        again(fight(inner)),
  ),
);

function attempt(args: unknown): Attempt {
  const who = { session: null, tenant: 't', agent: 'a' };
  return {
    callId: 'c' as CallId,
    attempt: 1,
    tool: 'it',
    args: args as never,
    ...who,
    deadlineAtMs: Number.NaN,
    timeoutMs: 1,
    workflowContext: null,
    client: null,
    callTool: () => Promise.reject(new Error('no tools here')),
  };
}

/** Whatever happened, what comes back is readable and can be written down, save the output itself. */
function assertSound(result: UpstreamResult): void {
  if (result.kind === 'returned') {
    for (const { item, kind, message } of result.errors) {
      assert.ok(['string', 'number'].includes(typeof item) && kind in kinds && message.length > 0);
    }
    return;
  }
  const { kind, message, errorType, effect, subject, cause } = result.failure;
  assert.ok(kind in kinds);
  assert.ok(typeof message === 'string' && message.length > 0);
  assert.ok(typeof errorType === 'string' && errorType.length > 0);
  assert.ok(effect === null || effect in effects);
  assert.ok(subject === null || typeof subject === 'string');
  assert.ok(cause === null || typeof cause === 'string');
  assert.equal(canonicalise({ message, errorType }, { maxDepth: 4 }).ok, true);
}

const base = { name: 'it', description: 'd', input: {} } as const;
const outputs = [
  undefined,
  {},
  { type: 'string' },
  { properties: { a: { type: 'array' } }, uniqueItems: true },
  z.string(),
  z.record(z.string(), z.any()),
  z.any(),
];

function runs(act: (value: unknown) => unknown, value: unknown): readonly Tool[] {
  return outputs.map((output) =>
    tool({ ...base, ...(output && { output: output as JsonSchema }), run: async () => act(value) }),
  );
}

for (const [name, act] of [
  [
    'throws',
    (value: unknown): unknown => {
      throw value;
    },
  ],
  ['returns', (value: unknown): unknown => value],
] as const) {
  test(`invoke never rejects, whatever a body ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(anything, fc.boolean(), async (make, isAborted) => {
        const value = make();
        for (const definition of runs(act, value)) {
          const controller = new AbortController();
          const call = createFunctionUpstream([definition]).upstream.invoke(attempt({}), controller.signal);
          if (isAborted) controller.abort(value);
          assertSound(await call);
        }
      }),
      { numRuns: timesDrawn(150, 50) },
    );
  });
}

test('validate never rejects, whatever a schema answers or throws and whatever the arguments are', async () => {
  await fc.assert(
    fc.asyncProperty(
      anything,
      anything,
      fc.constantFrom('throws', 'rejects', 'answers', 'accepts', 'complains'),
      async (make, makeArgs, manner) => {
        const value = make();
        const args = makeArgs();
        const answers = {
          throws: () => {
            throw value;
          },
          rejects: () => Promise.reject(value),
          answers: () => value,
          accepts: () => ({ value }),
          complains: () => ({ issues: [{ message: value, path: value }, value] }),
        };
        const standard = {
          '~standard': { version: 1, vendor: 'test', validate: () => answers[manner]() as never },
        } as const;
        for (const input of [standard, { type: 'object', required: ['a'] }, z.object({ a: z.string() })]) {
          const { validator } = createFunctionUpstream([
            tool({ ...base, input: input as JsonSchema, run: async () => null }),
          ]);
          const validated = await validator.validate('it', args as never, null);
          if (validated.ok) continue;
          assert.ok(validated.errors.length > 0);
          for (const { path, expected } of validated.errors) assert.ok(typeof path === 'string' && expected.length > 0);
        }
      },
    ),
    { numRuns: timesDrawn(200, 70) },
  );
});
