/**
 * CONTRACT section 1, gate 5, and section 3: arguments are judged before anything runs, and every wrong field is named.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { httpStatusOf, tool, type Tool } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool } from '../support/tools.ts';

const described = { name: 'order', description: 'takes an order', effect: 'plain' } as const;

/** The same rule in four languages: a drink, a count of at least 1, and a list of extras. */
function orderTools(onRun: (args: unknown) => void): Readonly<Record<string, Tool>> {
  const run = async (args: unknown) => onRun(args);
  return {
    'JSON Schema': tool({
      ...described,
      input: {
        type: 'object',
        properties: {
          drink: { enum: ['tea', 'coffee'] },
          count: { type: 'integer', minimum: 1 },
          extras: { type: 'array', items: { type: 'string' } },
        },
        required: ['drink', 'count', 'extras'],
      },
      run,
    }),
    zod: tool({
      ...described,
      input: z.object({ drink: z.enum(['tea', 'coffee']), count: z.number().min(1), extras: z.array(z.string()) }),
      run,
    }),
    valibot: tool({
      ...described,
      input: v.object({
        drink: v.picklist(['tea', 'coffee']),
        count: v.pipe(v.number(), v.minValue(1)),
        extras: v.array(v.string()),
      }),
      run,
    }),
    arktype: tool({
      ...described,
      input: type({ drink: "'tea' | 'coffee'", count: 'number >= 1', extras: 'string[]' }),
      run,
    }),
  };
}

const languages = Object.keys(orderTools(() => undefined));
const right = { drink: 'tea', count: 2, extras: ['lemon'] };

describe('arguments that fit', () => {
  for (const language of languages)
    test(`[C1-input-1] pass to the tool as they are: ${language}`, async (t) => {
      const seen: unknown[] = [];
      const gateway = await openGateway(t, [orderTools((args) => seen.push(args))[language] as Tool]);
      successOf(await gateway.call({ tool: 'order', args: right }));
      assert.deepEqual(seen, [right]);
    });
});

describe('arguments that do not fit', () => {
  for (const language of languages)
    test(`[C3-invalid-1] every wrong field comes with its path, what is expected and what was sent: ${language}`, async (t) => {
      const seen: unknown[] = [];
      const gateway = await openGateway(t, [orderTools((args) => seen.push(args))[language] as Tool]);
      const args = { drink: 'moon', count: 0, extras: ['lemon', 7] };
      const reply = errorOf(await gateway.call({ tool: 'order', args }), 'validation_failed');
      assert.deepEqual([reply.class, reply.code, httpStatusOf(reply)], ['ToolTerminal', 'InputInvalid', 422]);
      const found = Object.fromEntries(reply.errors.map(({ path, got }) => [path, got]));
      assert.deepEqual(found, { '/drink': 'moon', '/count': 0, '/extras/1': 7 });
      for (const { expected } of reply.errors) assert.notEqual(expected, '');
      assert.match(reply.errors.find(({ path }) => path === '/drink')?.expected ?? '', /tea.+coffee|coffee.+tea/);
      assert.deepEqual(reply.resolution, {
        type: 'fix_input',
        fields: reply.errors.map(({ path }) => path.slice(1).replaceAll('/', '.')),
      });
      assert.deepEqual(seen, [], 'nothing ran');
    });

  for (const language of languages)
    test(`[C3-invalid-1] a missing field is named, and what was sent is null: ${language}`, async (t) => {
      const gateway = await openGateway(t, [orderTools(() => undefined)[language] as Tool]);
      const reply = errorOf(
        await gateway.call({ tool: 'order', args: { drink: 'tea', extras: [] } }),
        'validation_failed',
      );
      assert.deepEqual(
        reply.errors.map(({ path, got }) => [path, got]),
        [['/count', null]],
      );
    });

  test('[C3-invalid-2] reason and details have the form of seed 000', async (t) => {
    const modifier = aTool('add_modifier', () => null, {
      input: { type: 'object', properties: { modifier: { enum: ['oat', 'soy', 'almond'] } } },
    });
    const gateway = await openGateway(t, [modifier]);
    const reply = errorOf(
      await gateway.call({ tool: 'add_modifier', args: { modifier: 'moon' } }),
      'validation_failed',
    );
    assert.equal(reply.reason, 'modifier must be one of: oat, soy, almond');
    assert.deepEqual(reply.details, { field: 'modifier', got: 'moon' });
    assert.equal(reply.requested, 'add_modifier');
  });

  test('[C3-invalid-4] what is no call at all is refused with 400, and lists no actions', async (t) => {
    const gateway = await openGateway(t, [aTool('act', () => null)]);
    for (const value of [null, 'act', 42, [], [{ tool: 'act' }], undefined]) {
      const reply = errorOf(await gateway.handle(value), 'validation_failed');
      assert.deepEqual([reply.requested, reply.valid_next_actions, httpStatusOf(reply)], [null, [], 400]);
      assert.match(reply.message, /^this is not a call: /);
    }
  });

  test('[C3-invalid-5] a call without a tool is refused by that field', async (t) => {
    const gateway = await openGateway(t, [aTool('act', () => null)]);
    const reply = errorOf(await gateway.handle({ args: {} }), 'validation_failed');
    assert.deepEqual(reply.errors, [{ path: '/tool', expected: 'the name of a tool', got: null }]);
    assert.deepEqual([reply.valid_next_actions, httpStatusOf(reply)], [[], 400]);
  });

  for (const [field, value] of Object.entries({ expected_seq: 1.5, wait_seconds: -1, deadline_seconds: 1e9 }))
    test(`[C3-invalid-5] ${field}: ${value} is refused by that field`, async (t) => {
      const gateway = await openGateway(t, [aTool('act', () => null)]);
      const reply = errorOf(await gateway.handle({ tool: 'act', [field]: value }), 'validation_failed');
      assert.deepEqual(
        reply.errors.map(({ path, got }) => [path, got]),
        [[`/${field}`, value]],
      );
    });
});

describe('validators', () => {
  test('[C1-input-2] may replace the arguments: the tool and the record get what they made of them', async (t) => {
    const seen: unknown[] = [];
    const greet = tool({
      ...described,
      name: 'greet',
      input: z.object({ name: z.string().trim().toLowerCase(), times: z.number().default(1) }),
      run: async (args) => void seen.push(args),
    });
    const gateway = await openGateway(t, [greet]);
    const reply = successOf(await gateway.call({ tool: 'greet', args: { name: '  ADA ' } }));
    assert.deepEqual(seen, [{ name: 'ada', times: 1 }]);
    const [prepared] = await gateway.records(reply.call_id);
    const payloads = Object.fromEntries(
      prepared?.payloads.map(({ part, text }) => [part, JSON.parse(text ?? 'null')]) ?? [],
    );
    assert.deepEqual(payloads, { args: { name: 'ada', times: 1 }, args_as_sent: { name: '  ADA ' } });
  });

  test('[C1-input-3] may be asynchronous', async (t) => {
    const even = z.object({ n: z.number().refine(async (n) => n % 2 === 0, 'must be even') });
    const gateway = await openGateway(t, [
      tool({ ...described, name: 'half', input: even, run: async ({ n }) => n / 2 }),
    ]);
    assert.equal(successOf(await gateway.call({ tool: 'half', args: { n: 4 } })).result, 2);
    const reply = errorOf(await gateway.call({ tool: 'half', args: { n: 3 } }), 'validation_failed');
    assert.deepEqual(reply.errors, [{ path: '/n', expected: 'must be even', got: 3 }]);
  });

  test('[C1-input-4] that throw have refused the arguments, without a stack', async (t) => {
    const input = z.object({}).transform(() => {
      throw new TypeError('the rates are not loaded');
    });
    const gateway = await openGateway(t, [tool({ ...described, input, run: async () => null })]);
    const reply = errorOf(await gateway.call({ tool: 'order' }), 'validation_failed');
    assert.match(reply.errors[0]?.expected ?? '', /TypeError: the rates are not loaded/);
  });

  test('[C1-input-4] that make something of the arguments that JSON cannot carry have refused them', async (t) => {
    const input = z.object({ at: z.coerce.date() });
    const gateway = await openGateway(t, [tool({ ...described, input, run: async () => null })]);
    const reply = errorOf(await gateway.call({ tool: 'order', args: { at: '2026-01-01' } }), 'validation_failed');
    assert.match(reply.errors[0]?.expected ?? '', /JSON can carry.+Date/);
    assert.equal(reply.errors[0]?.path, '/at');
  });

  test('[C1-input-5] that never answer are given up on, and the call is refused', async (t) => {
    const input = z.object({}).refine(() => new Promise<boolean>(() => undefined));
    const gateway = await openGateway(t, [tool({ ...described, input, run: async () => null })], {
      limits: { factTimeoutMs: 30 },
    });
    const reply = errorOf(await gateway.call({ tool: 'order' }), 'validation_failed');
    assert.match(reply.reason, /judged within 0\.03 s/);
  });

  test('[C6-keys-2] do not change the identity of a call: its fingerprint is of the arguments as sent', async (t) => {
    let runs = 0;
    const input = z.object({ name: z.string().trim() });
    const greet = tool({ ...described, name: 'greet', input, run: async () => (runs += 1) });
    const gateway = await openGateway(t, [greet]);
    successOf(await gateway.call({ tool: 'greet', args: { name: 'ada' }, key: 'k' }));
    const other = errorOf(
      await gateway.call({ tool: 'greet', args: { name: ' ada ' }, key: 'k' }),
      'validation_failed',
    );
    assert.equal(other.code, 'KeyReused');
    assert.equal(runs, 1);
  });
});

describe('the order of the gates', () => {
  test('[C1-gates-1] the first that does not pass speaks: session before known, known before input', async (t) => {
    const strict = aTool('strict', () => null, { input: { type: 'object', required: ['a'] } });
    const gateway = await openGateway(t, [strict]);
    const all = { tool: 'other', args: {}, session: 'ses_unknown' };
    errorOf(await gateway.call(all), 'session_error');
    errorOf(await gateway.call({ ...all, tool: 'other', session: await gateway.openSession() }), 'unknown_action');
    errorOf(await gateway.call({ tool: 'strict', args: {} }), 'validation_failed');
    await gateway.close();
    errorOf(await gateway.call(all), 'denied');
  });

  test('[C1-gates-2] every gate of the ladder is named in status, standing or not', async (t) => {
    const gateway = await openGateway(t, [aTool('act', () => null)]);
    const names =
      'ready session known reachable input fence policy model egress rate budget approval evidence credential';
    assert.deepEqual(
      gateway.status().gates.map(({ gate }) => gate),
      names.split(' '),
    );
    const standing = gateway
      .status()
      .gates.filter(({ configured }) => configured)
      .map(({ gate }) => gate);
    assert.deepEqual(standing, ['ready', 'session', 'known', 'input', 'fence', 'evidence']);
  });
});
