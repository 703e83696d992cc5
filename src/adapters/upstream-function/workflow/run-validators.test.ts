import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { createMachine } from 'xstate';
import { invalidInput } from '../../../core/gates/invalid-input.ts';
import type { Json } from '../../../core/values/json.ts';
import { mount } from './mount.ts';

const machine = createMachine({ id: 'x', initial: 'a', states: { a: { on: { go: 'a' } } } });

async function ask(validators: readonly unknown[], args: Json, input: unknown = z.object({ n: z.coerce.number() })) {
  const workflow = mount(machine, { actions: { go: { input, validators, run: async () => 1 } } } as never);
  const bound = workflow.bind(new Map(), { timeoutMs: 1 });
  assert.ok(bound.ok);
  return workflow.validate('go', args, { stock: 2 });
}

const refusalOf = (validated: Awaited<ReturnType<typeof ask>>) => {
  assert.ok(!validated.ok);
  const { reason, details } = invalidInput('go', validated.errors);
  return [reason, details.field, details.got];
};

const answers: readonly (readonly [string, unknown, readonly unknown[] | Json])[] = [
  ['nothing accepts', () => undefined, { n: 1 }],
  ['true accepts', async () => true, { n: 1 }],
  ['a text is the reason', () => 'out of beans', ['out of beans', 'input', null]],
  ['a thrown error is the reason', () => assert.fail('out of milk'), ['out of milk', 'input', null]],
  ['a rejection is the reason', async () => Promise.reject(new Error('slow')), ['slow', 'input', null]],
  ['a returned error is the reason', () => new Error('odd'), ['odd', 'input', null]],
  ['what it got is looked up', () => ({ field: 'n', reason: 'no' }), ['no', 'n', 1]],
  ['by a pointer, too', () => ({ field: '/n', reason: 'no' }), ['no', 'n', 1]],
  ['a field that is not there got nothing', () => ({ field: 'm.o', reason: 'no' }), ['no', 'm.o', null]],
  ['what it says that it got wins', () => ({ field: 'n', reason: 'no', got: [2] }), ['no', 'n', [2]]],
  ['what it got becomes JSON', () => ({ reason: 'no', got: new Map() }), ['no', 'input', '{…}']],
  ['inputs are replaced and judged again', () => ({ inputs: { n: '7' } }), { n: 7 }],
  [
    'something else is no answer, and it says what is one',
    () => 7,
    [
      'a validator of the workflow answered 7, which says nothing; return nothing or true to accept, a text or { reason, field } to refuse, { inputs } to replace',
      'input',
      null,
    ],
  ],
  ['false refuses', () => false, ['a validator of the workflow refused the inputs', 'input', null]],
  ['a secret is redacted', () => 'password=hunter2hunter2', ['password=[redacted]', 'input', null]],
];

for (const [name, validator, expected] of answers) {
  test(`of a validator's answer, ${name}`, async () => {
    const validated = await ask([validator], { n: '1' });
    if (Array.isArray(expected)) assert.deepEqual(refusalOf(validated), expected);
    else assert.deepEqual(validated, { ok: true, args: expected });
  });
}

test('replaced inputs that the schema refuses are refused, and the rest is not asked', async () => {
  let asked = 0;
  const validated = await ask([() => ({ inputs: { n: 'x' } }), () => (asked += 1)], { n: 1 });
  assert.equal(validated.ok, false);
  assert.equal(asked, 0);
});

test('validators run in order, see the context, and cannot change the inputs under each other', async () => {
  const seen: unknown[] = [];
  const look = (inputs: { n: number }, step: unknown) => {
    seen.push(structuredClone(inputs), step);
    inputs.n = 99;
  };
  assert.deepEqual(await ask([look, () => ({ inputs: { n: 2 } }), look], { n: 1 }), { ok: true, args: { n: 2 } });
  const step = { context: { stock: 2 }, action: 'go' };
  assert.deepEqual(seen, [{ n: 1 }, step, { n: 2 }, step]);
});

test('whatever a validator answers, there is a typed answer', async () => {
  const hostile = new Proxy({}, { get: () => assert.fail('no'), getPrototypeOf: () => assert.fail('no') });
  const anything = fc.oneof(
    fc.anything(),
    fc.constant(hostile),
    fc.anything().map((reason) => ({ reason })),
  );
  await fc.assert(
    fc.asyncProperty(anything, fc.boolean(), async (answer, throws) => {
      const validator = () => {
        if (throws) throw answer;
        return answer;
      };
      const validated = await ask([validator], { n: 1 });
      if (!validated.ok) assert.ok(invalidInput('go', validated.errors).reason.length > 0);
    }),
    { numRuns: 200 },
  );
});
