/** Conditions that cannot hold, and near misses that can; and a random search for a claim that is not true. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { timesDrawn } from '../../../../test/support/times-drawn.ts';
import { compileCel } from '../../cel/compile-cel.ts';
import { readCondition } from '../../cel/read-condition.ts';
import type { Json } from '../../values/json.ts';
import { canHold, type KnownValues } from './contradict.ts';
import { knownValues } from './known-values.ts';

const schema: Json = {
  type: 'object',
  properties: {
    currency: { enum: ['EUR', 'USD'] },
    kind: { const: 'refund' },
    amount: { type: 'integer', minimum: 1, maximum: 500 },
    share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    note: { type: ['string', 'null'] },
    loose: { minimum: 5 },
    other: { $ref: '#/$defs/x', enum: ['a'] },
    card: { properties: { brand: { enum: ['visa', 'amex'] } } },
  },
};
const tool = { name: 'pay/refund', effect: 'plain', reach: 'network', annotations: {} } as const;
const known = knownValues('clerk', { tool, schema });
const nothing: KnownValues = () => null;

function verdictOf(text: string, values: KnownValues) {
  const read = readCondition(text);
  assert.ok(read !== null, text);
  return canHold([{ condition: read.root, holds: true }], values);
}

const contradictions: readonly (readonly [text: string, proof: readonly string[]])[] = [
  ['false', ['false']],
  ['1 > 2', ['1 > 2']],
  ['args.amount < 5 && args.amount > 10', ['args.amount < 5', 'args.amount > 10']],
  ['args.amount < 5 && args.amount >= 5', ['args.amount < 5', 'args.amount >= 5']],
  ['5 < args.x && args.x < 5', ['5 < args.x', 'args.x < 5']],
  ["args.x == 'a' && args.y && args.x == 'b'", ["args.x == 'a'", "args.x == 'b'"]],
  ["args.x == 'a' && args.x != 'a'", ["args.x == 'a'", "args.x != 'a'"]],
  ["args.x == 'a' && args.x > 3", ["args.x == 'a'", 'args.x > 3']],
  ["args.x < 'b' && args.x > 'c'", ["args.x < 'b'", "args.x > 'c'"]],
  ["args.x in ['a', 'b'] && args.x == 'c'", ["args.x in ['a', 'b']", "args.x == 'c'"]],
  ["args.x in ['a'] && !(args.x in ['a', 'b'])", ["args.x in ['a']", "!(args.x in ['a', 'b'])"]],
  ['args.ok && !args.ok', ['args.ok', '!(args.ok)']],
  ['args.ok && args.ok == null', ['args.ok', 'args.ok == null']],
  ['args.x >= 3 && args.x <= 3 && args.x != 3', ['args.x >= 3', 'args.x <= 3', 'args.x != 3']],
  ['!(args.x < 5) && !(args.x > 3)', ['!(args.x < 5)', '!(args.x > 3)']],
  ['args.l.exists(e, e > 1) && !args.l.exists(e, e > 1)', ['args.l.exists(e, e > 1)', '!(args.l.exists(e, e > 1))']],
  ['!has(args.x) && args.x > 3', ['!(has(args.x))', 'args.x > 3']],
  ['!has(args.x) && args.x.y == 3', ['!(has(args.x))', 'args.x.y == 3']],
  ['size(args.l) > 3 && size(args.l) < 2', ['size(args.l) > 3', 'size(args.l) < 2']],
  ["agent.name == 'somebody'", ["agent.name == 'somebody'"]],
  ["tool.effect == 'pures'", ["tool.effect == 'pures'"]],
  ["tool.name == 'pay/charge'", ["tool.name == 'pay/charge'"]],
  ['session.seq < 0', ['session.seq < 0']],
  ["args.currency == 'EURO'", ["args.currency == 'EURO'"]],
  ["args.kind == 'charge'", ["args.kind == 'charge'"]],
  ["args.card.brand == 'master'", ["args.card.brand == 'master'"]],
  ['args.amount > 500', ['args.amount > 500']],
  ['args.amount > 7 && args.amount < 8', ['args.amount > 7', 'args.amount < 8']],
  ['args.share >= 1', ['args.share >= 1']],
  ['args.note > 3', ['args.note > 3']],
];

for (const [text, proof] of contradictions)
  test(`${text} is never true`, () => {
    const verdict = verdictOf(text, known);
    assert.equal(verdict.kind, 'impossible');
    assert.deepEqual(verdict.kind === 'impossible' && verdict.conflicts[0]?.texts, proof);
  });

test('every way of being true is closed, each by its own proof', () => {
  const verdict = verdictOf("(args.x == 'a' || args.y) && (args.x == 'b' || args.y == 3) && !args.y", nothing);
  assert.ok(verdict.kind === 'impossible');
  assert.ok(verdict.conflicts.length > 1);
});

const nearMisses: readonly string[] = [
  'args.amount <= 5 && args.amount >= 5',
  'args.amount < 10 && args.amount > 5',
  "args.x == 'a' || args.x == 'b'",
  "args.x != 'a' && args.x != 'b'",
  "args.x == 'a' && args.y == 'b'",
  'args.x > 7 && args.x < 8',
  "args.x < 'c' && args.x > 'b'",
  // What is calculated may be no number, so that it is neither below nor above.
  '!(args.a / args.b < 5) && !(args.a / args.b > 3)',
  'has(args.x) || args.x > 3',
  '!has(args.x) && args.xy > 3',
  "agent.name == 'clerk'",
  "tool.effect != 'pure'",
  "args.currency == 'EUR'",
  'args.amount == 500',
  'args.amount > 7 && args.amount < 9',
  // A bound says nothing about texts, and nothing beside a reference counts.
  "args.loose == 'low'",
  "args.other == 'b'",
  'args.unknown == 3',
  "args.note == 'x'",
  'args.a < args.b && args.b < args.a',
];

for (const text of nearMisses)
  test(`${text} is not claimed to be impossible`, () => assert.equal(verdictOf(text, known).kind, 'open'));

test('a condition with too many ways to hold is given up, and says so', () => {
  const wide = Array.from({ length: 8 }, (_, at) => `(args.a${at} || args.b${at})`).join(' && ');
  assert.equal(verdictOf(`${wide} && args.a0`, nothing).kind, 'too_many');
  assert.equal(verdictOf(wide.split(' && ').slice(0, 6).join(' && '), nothing).kind, 'open');
});

const leaf = fc.oneof(
  fc.constantFrom('args.a', 'args.b', '!args.a', 'has(args.c)', '!has(args.c)', 'true', 'args.a in [1, "x", null]'),
  fc
    .tuple(
      fc.constantFrom('args.a', 'args.b', 'args.c.d', 'args.a + args.b', 'size(args.b)'),
      fc.constantFrom('==', '!=', '<', '<=', '>', '>='),
      fc.constantFrom('0', '1', '2', '1.5', '"x"', '"y"', 'true', 'null'),
    )
    .map((parts) => parts.join(' ')),
);
const conditions = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) && (${b})`),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) || (${b})`),
    tie('any').map((a) => `!(${a})`),
    fc.tuple(tie('any'), tie('any'), tie('any')).map(([a, b, c]) => `(${a}) ? (${b}) : (${c})`),
  ),
})).any;
const scalars: readonly Json[] = [0, 1, 2, 1.5, -1, 'x', 'y', 'z', '', true, false, null, [1], { d: 1 }, { d: 'x' }];
const missing = Symbol('missing');
const values = fc.record({
  a: fc.constantFrom(missing, ...scalars),
  b: fc.constantFrom(missing, ...scalars),
  c: fc.constantFrom(missing, ...scalars),
});

test('what is called impossible is never true: random conditions on random values', () => {
  let impossible = 0;
  fc.assert(
    fc.property(conditions, fc.array(values, { minLength: 20, maxLength: 20 }), (text, samples) => {
      const compiled = compileCel(text, { variables: { args: 'dyn' }, returns: 'bool' });
      const read = readCondition(text);
      if (!compiled.ok || read === null) return;
      const closed = [true, false].filter((holds) => {
        return canHold([{ condition: read.root, holds }], nothing).kind === 'impossible';
      });
      if (closed.length === 0) return;
      impossible++;
      for (const sample of samples) {
        const given = Object.entries(sample).filter(([, value]) => value !== missing);
        const answer = compiled.evaluate({ args: Object.fromEntries(given) });
        assert.ok(!answer.ok || !closed.includes(answer.value === true), `${text} on ${JSON.stringify(given)}`);
      }
    }),
    { numRuns: timesDrawn(6_000, 3_400), seed: 7 },
  );
  assert.ok(impossible > 300, `only ${impossible} conditions were claimed to be impossible`);
});
