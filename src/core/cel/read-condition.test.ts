/** What proofs see of a condition: its shape, its texts, and what is left as free. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from './condition.ts';
import { readCondition } from './read-condition.ts';

/** A condition in one line: comparisons by their value, everything else by its kind. */
function outline(condition: Condition): string {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return `${condition.kind}(${condition.parts.map(outline).join(', ')})`;
    case 'not':
      return `not(${outline(condition.part)})`;
    case 'compare':
      return `[${condition.term.text} ${condition.sign} ${JSON.stringify(condition.to)}]`;
    case 'among':
      return `[${condition.term.text} in ${JSON.stringify(condition.list)}]`;
    case 'has':
    case 'truth':
      return `${condition.kind}(${condition.term.text})`;
    case 'always':
      return String(condition.holds);
    default:
      return `free(${condition.text})`;
  }
}

const shapes: readonly (readonly [text: string, outline: string])[] = [
  ['args.amount < 5', '[args.amount < 5]'],
  ['5 < args.amount', '[args.amount > 5]'],
  ['5 >= args["amount"]', '[args.amount <= 5]'],
  ["args['first name'] == 'x'", '[args["first name"] == "x"]'],
  ['args.items[0] == null', '[args.items[0] == null]'],
  ['args.items[0.0] == null', '[args.items[0.0] == null]'],
  ['args.n == -3', '[args.n == -3]'],
  ['args.n == 9007199254740993', 'free(args.n == 9007199254740993)'],
  ['args.ok', 'truth(args.ok)'],
  ['!args.ok && args.x != "a"', 'all(not(truth(args.ok)), [args.x != "a"])'],
  ['args.x in ["a", 1, null]', '[args.x in ["a",1,null]]'],
  ['args.x in args.list', 'free(args.x in args.list)'],
  ['"a" in ["a"]', "free('a' in ['a'])"],
  ['has(args.x) || args.a < args.b', 'any(has(args.x), free(args.a < args.b))'],
  ['args.a ? args.b : args.c', 'any(all(truth(args.a), truth(args.b)), all(not(truth(args.a)), truth(args.c)))'],
  ['size(args.x) > 3', '[size(args.x) > 3]'],
  ['args.l.exists(e, e == args.x)', 'free(args.l.exists(e, e == args.x))'],
  ['args.flag < true', 'free(args.flag < true)'],
  ['1 < 2 && "a" == "b"', 'all(true, false)'],
  ['1 == "1"', "free(1 == '1')"],
];

for (const [text, expected] of shapes)
  test(`${text} reads as ${expected}`, () => {
    const read = readCondition(text);
    assert.ok(read !== null);
    assert.equal(outline(read.root), expected);
  });

test('the same condition has the same text, however it is written, and another one has another', () => {
  const textOf = (text: string) => readCondition(text)?.root.text;
  assert.equal(textOf('args.a  &&\n(args.b && args.c)'), textOf('(args["a"] && args.b) && args.c'));
  assert.equal(textOf(`args.x == "it's"`), textOf(String.raw`args.x == 'it\'s'`));
  const different: readonly (readonly [string, string])[] = [
    ['args.x / 2 == 1', 'args.x / 2.0 == 1'],
    ['args.l[0] == 1', 'args.l[0.0] == 1'],
    [`args.x in ["a', 'b"]`, `args.x in ['a', 'b']`],
    ['(args.a || args.b) && args.c', 'args.a || args.b && args.c'],
    ['!(args.a && args.b)', '!args.a && args.b'],
    ['args.a - (args.b - args.c) == 0', 'args.a - args.b - args.c == 0'],
    ['(args.a ? args.b : args.c) ? args.d : args.e', 'args.a ? args.b : (args.c ? args.d : args.e)'],
    ['args.x == 0.00000000001', 'args.x == 0.00000000002'],
  ];
  for (const [a, b] of different) assert.notEqual(textOf(a), textOf(b), `${a} and ${b}`);
});

test('which variables it reads, loops aside, and whether it can be costly', () => {
  const read = readCondition('args.l.exists(e, e == state.x) && e == 1');
  assert.deepEqual([...(read?.reads ?? [])].toSorted(), ['args', 'e', 'state']);
  assert.equal(read?.isCheap, false);
  assert.equal(readCondition('has(args.x) && args.x < 3')?.isCheap, true);
  assert.equal(readCondition('args.x &&'), null);
});
