import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProblemList } from '../problem.ts';
import { plainOf } from '../shape/read-shape.ts';
import { readYaml } from './yaml-tree.ts';

const read = (text: string) => {
  const list = createProblemList('f', text);
  const tree = readYaml(text, 'f', list.tell);
  return { plain: tree === null ? null : plainOf(tree), problems: list.problems().map(({ message }) => message) };
};

const aliases: readonly (readonly [what: string, text: string, plain: unknown])[] = [
  ['stands for its anchor', 'a: &x [1, 2]\nb: *x\n', { a: [1, 2], b: [1, 2] }],
  ['stands for the nearest anchor before it', '[&x 1, *x, &x 2, *x]', [1, 1, 2, 2]],
  [
    'may be inside of what another stands for',
    'a: &x { n: &y 1, m: *y }\nb: [*x, *y]\n',
    { a: { n: 1, m: 1 }, b: [{ n: 1, m: 1 }, 1] },
  ],
  ['means the same wherever what is around it is used again', '[&x 1, &l [*x], &x 2, *l, *x]', [1, [1], 2, [1], 2]],
  ['may be a key', '[&x k, { *x : 1 }]', ['k', { k: 1 }]],
];

for (const [what, text, plain] of aliases) {
  test(`an alias ${what}`, () => assert.deepEqual(read(text), { plain, problems: [] }));
}

test('an alias before its anchor stands for nothing', () => {
  assert.deepEqual(read('[*x, &x 1]').problems, ['this is an alias, and it stands for nothing']);
});
