/** CONTRACT sections 1 and 3: whatever comes in, exactly one typed reply goes out, and nothing is thrown. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.ts';
import { httpStatusOf, isRefusal } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { type OpenedGateway, openGateway } from '../support/open-gateway.ts';
import { aTool } from '../support/tools.ts';

const echo = aTool('echo', (args) => args, { effect: 'pure', input: { type: 'object' } });
const rounds = 400;

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  stringUnit: anyCharacter,
});

/** Values that fight back when they are looked at. */
function hostileValues(): readonly (readonly [string, unknown])[] {
  const cycle: Record<string, unknown> = { tool: 'echo' };
  cycle['args'] = cycle;
  const thrower = () => {
    throw new Error('do not touch');
  };
  const untouchable = new Proxy({}, { get: thrower, ownKeys: thrower, has: thrower, getPrototypeOf: thrower });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  let reads = 0;
  const shifty = {
    tool: 'echo',
    get args() {
      return (reads += 1) % 2 === 0 ? { n: 1n } : { n: 1 };
    },
  };
  return [
    ['a cycle', cycle],
    ['a bigint', { tool: 'echo', args: { n: 1n } }],
    ['a bigint by itself', 1n],
    ['a symbol', Symbol('call')],
    ['a function', () => ({ tool: 'echo' })],
    ['a class', class Call {}],
    ['an untouchable proxy', untouchable],
    ['a revoked proxy', revoked.proxy],
    ['an untouchable proxy as arguments', { tool: 'echo', args: untouchable }],
    ['an untouchable proxy as key', { tool: 'echo', args: {}, key: untouchable }],
    [
      'a getter that throws',
      {
        tool: 'echo',
        get args() {
          return thrower();
        },
      },
    ],
    [
      'a getter that throws for the tool',
      {
        get tool() {
          return thrower();
        },
      },
    ],
    ['a getter that changes its mind', shifty],
    ['a toJSON that throws', { tool: 'echo', args: { toJSON: thrower } }],
    [
      'a toJSON that returns itself',
      {
        tool: 'echo',
        args: {
          toJSON() {
            return this;
          },
        },
      },
    ],
    ['a promise', Promise.resolve({ tool: 'echo' })],
    ['a thenable', { then: thrower }],
    ['a lone surrogate as a value', { tool: 'echo', args: { text: '\ud800' } }],
    ['a lone surrogate as a name', { tool: 'echo', args: { '\udfff': 1 } }],
    ['a lone surrogate as a tool', { tool: '\ud83d', args: {} }],
    ['a lone surrogate as a field', { tool: 'echo', '\ud83d': 1 }],
    ['a text whose preview ends within a pair', `${'x'.repeat(77)}${'😀'.repeat(9)}`],
    ['a field whose name is cut within a pair', { tool: 'echo', [`${'x'.repeat(79)}😀`]: 1 }],
    [
      'a list that contains itself',
      (() => {
        const list: unknown[] = [];
        list.push(list);
        return list;
      })(),
    ],
    ['not a number', { tool: 'echo', args: { n: Number.NaN }, wait_seconds: Number.NaN }],
    ['a tool called __proto__', JSON.parse('{"tool":"__proto__","args":{"__proto__":{"a":1}}}')],
    ['a tool called constructor', { tool: 'constructor', args: {} }],
    ['a boxed text', { tool: Object('echo'), args: {} }],
    ['a null prototype', Object.assign(Object.create(null) as object, { tool: 'echo', args: {} })],
    ['nothing', undefined],
  ];
}

describe('total', () => {
  test('[C1-total-1] any value at all gets a reply', async (t) => {
    const gateway = await openGateway(t, [echo]);
    const property = fc.asyncProperty(anything, async (value) => void (await gateway.handle(value)));
    await fc.assert(property, { numRuns: rounds });
  });

  test('[C1-total-1] any JSON gets a reply, and is not a call unless it names a tool', async (t) => {
    const gateway = await openGateway(t, [echo]);
    const property = fc.asyncProperty(fc.jsonValue({ stringUnit: anyCharacter }), async (value) => {
      const reply = errorOf(await gateway.handle(value), 'validation_failed');
      assert.equal(reply.requested, null);
      assert.equal(httpStatusOf(reply), 400);
    });
    await fc.assert(property, { numRuns: rounds });
  });

  test('[C1-total-2] a call with one thing wrong gets a reply that names it, or runs', async (t) => {
    const gateway = await openGateway(t, [echo]);
    const fields = [
      'tool',
      'args',
      'session',
      'key',
      'turn',
      'expected_seq',
      'wait_seconds',
      'deadline_seconds',
      'retries',
    ];
    const property = fc.asyncProperty(fc.constantFrom(...fields), anything, async (field, value) => {
      const reply = await gateway.handle({ tool: 'echo', args: {}, [field]: value });
      if (!isRefusal(reply) || reply.error !== 'validation_failed' || reply.code !== 'InputInvalid') return;
      const root = `/${field}`;
      // Arguments that are JSON and no object are refused by the tool's schema, which speaks of them as the whole.
      const named = reply.errors.every(({ path }) => path.startsWith(root) || (field === 'args' && path === ''));
      assert.ok(named, JSON.stringify(reply));
    });
    await fc.assert(property, { numRuns: rounds });
  });

  test('[C1-total-3] arguments come to the tool exactly as JSON says they are', async (t) => {
    const gateway = await openGateway(t, [echo]);
    const property = fc.asyncProperty(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), async (args) => {
      const reply = successOf(await gateway.call({ tool: 'echo', args }));
      assert.deepEqual(reply.result, JSON.parse(JSON.stringify(args)));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test('[C1-total-1] values that fight back get a reply', async (t) => {
    const gateway = await openGateway(t, [echo]);
    for (const [name, value] of hostileValues())
      await t.test(name, async () => {
        await gateway.handle(value);
        successOf(await gateway.call({ tool: 'echo' }));
      });
  });

  test('[C1-total-4] nobody can change the arguments after they were judged', async (t) => {
    const seen: unknown[] = [];
    const note = aTool('note', (args) => void seen.push(args));
    const gateway = await openGateway(t, [note]);
    const args = { amount: 1 };
    const asked = gateway.call({ tool: 'note', args });
    args.amount = 1_000_000;
    successOf(await asked);
    assert.deepEqual(seen, [{ amount: 1 }]);
  });
});

describe('limits of what comes in', () => {
  const small = { maxInputBytes: 1_000, maxDepth: 10, maxNameChars: 40, maxFieldErrors: 5 };
  const open = (t: Parameters<typeof openGateway>[0]): Promise<OpenedGateway> =>
    openGateway(t, [echo], { limits: small });

  test('[C3-invalid-3] arguments beyond the limit are InputTooLarge with 413', async (t) => {
    const gateway = await open(t);
    successOf(await gateway.call({ tool: 'echo', args: { text: 'x'.repeat(900) } }));
    const reply = errorOf(await gateway.call({ tool: 'echo', args: { text: 'é'.repeat(600) } }), 'validation_failed');
    assert.deepEqual([reply.code, httpStatusOf(reply), reply.requested], ['InputTooLarge', 413, 'echo']);
    assert.deepEqual(reply.errors, [{ path: '/args', expected: 'at most 1000 bytes of arguments', got: 1_211 }]);
  });

  test('[C3-invalid-3] a payload of many megabytes is refused by default and keeps nobody waiting', async (t) => {
    const gateway = await openGateway(t, [echo]);
    const huge = gateway.call({ tool: 'echo', args: { text: 'x'.repeat(20 << 20) } });
    assert.equal(errorOf(await huge, 'validation_failed').code, 'InputTooLarge');
    assert.ok(JSON.stringify(await huge).length < 1_500);
    successOf(await gateway.call({ tool: 'echo' }));
  });

  test('[C1-limits-1] arguments nested too deep are refused with the place', async (t) => {
    const gateway = await open(t);
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { in: nested(depth - 1) });
    successOf(await gateway.call({ tool: 'echo', args: nested(10) }));
    const reply = errorOf(await gateway.call({ tool: 'echo', args: nested(11) }), 'validation_failed');
    assert.deepEqual([reply.code, httpStatusOf(reply)], ['InputInvalid', 422]);
    assert.equal(reply.errors[0]?.path, `/args${'/in'.repeat(10)}`);
    errorOf(await gateway.call({ tool: 'echo', args: nested(5_000) }), 'validation_failed');
  });

  for (const field of ['tool', 'session', 'key', 'turn'])
    test(`[C1-limits-2] a ${field} longer than the limit is refused by name`, async (t) => {
      const gateway = await open(t);
      const reply = errorOf(
        await gateway.handle({ tool: 'echo', args: {}, [field]: 'x'.repeat(41) }),
        'validation_failed',
      );
      assert.deepEqual(
        reply.errors.map(({ path }) => path),
        [`/${field}`],
      );
      assert.equal(reply.errors[0]?.expected, 'a text of 1 to 40 characters');
      errorOf(await gateway.handle({ tool: 'echo', args: {}, [field]: '' }), 'validation_failed');
    });

  test('[C1-limits-3] no reply lists more wrong fields than the limit, and it stays small', async (t) => {
    const gateway = await open(t);
    const extra = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`field_${at}`, 'x'.repeat(5_000)]));
    const reply = errorOf(await gateway.handle({ tool: 'echo', args: {}, ...extra }), 'validation_failed');
    assert.equal(reply.errors.length, 5);
    assert.ok(JSON.stringify(reply).length < 3_000);
  });

  test('[C1-limits-4] a misspelt field is an error, so that a misspelt key never becomes a second payment', async (t) => {
    const gateway = await open(t);
    const reply = errorOf(await gateway.handle({ tool: 'echo', args: {}, idempotency_key: 'k' }), 'validation_failed');
    assert.deepEqual(reply.details, { field: 'idempotency_key', got: 'k' });
    assert.match(reply.reason, /must be one of: tool, args, session, key, turn/);
    assert.deepEqual(reply.resolution, { type: 'fix_input', fields: ['idempotency_key'] });
  });

  test('[C1-limits-5] a result beyond the limit is OutputMalformed, not a success', async (t) => {
    const large = aTool('large', () => 'x'.repeat(2_000), { effect: 'pure' });
    const gateway = await openGateway(t, [large], { limits: { maxResultBytes: 1_000 } });
    const reply = errorOf(await gateway.call({ tool: 'large' }), 'action_error');
    assert.deepEqual([reply.code, reply.effect], ['OutputMalformed', 'none']);
    assert.match(reply.error_message, /2002 bytes; the limit is 1000/);
  });
});
