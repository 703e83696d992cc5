import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CelOptions, type CelResult, compileCel } from './compile-cel.ts';

const any: CelOptions = { variables: { context: 'dyn', inputs: 'dyn' } };

function evaluate(text: string, values: Record<string, unknown>, options: CelOptions = any): CelResult {
  const compiled = compileCel(text, options);
  if (!compiled.ok) assert.fail(`${text}: ${compiled.problem}`);
  return compiled.evaluate(values);
}

const context = { n: 1, ready: false };

/** Whatever is done with it throws the same thing. */
function trapped(signal: object): object {
  const refuse = () => {
    throw signal;
  };
  const traps = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, refuse]));
  return new Proxy({}, traps);
}

const touching = [
  'inputs.n > 1',
  'has(inputs.x)',
  'size(inputs) > 0',
  'inputs.x in ["a"]',
  'inputs == null',
  '"a" in inputs',
  'inputs.exists(k, k == "a")',
  '[inputs] == []',
  'context.n == 1 && inputs.n > 1',
  'inputs.n > 1 || context.n == 1',
  'inputs.n > 1 && context.ready',
  '[1, 2].exists(x, x > 1 || inputs.n > x)',
  'context.ready ? true : inputs.ok',
  'dyn(inputs) == 1',
];

for (const text of touching) {
  test(`a value that refuses to be read comes out unchanged: ${text}`, () => {
    const signal = { tag: Symbol('private') };
    const inputs = trapped(signal);
    let thrown: unknown = null;
    try {
      evaluate(text, { context, inputs }, { ...any, throughSignals: (each) => each === signal });
    } catch (error) {
      thrown = error;
    }
    assert.equal(thrown, signal);
    const { ok } = evaluate(text, { context, inputs });
    assert.equal(ok, false, 'without being told so, evaluating never throws');
  });
}

test('what is not come to is not touched', () => {
  const inputs = trapped({ never: true });
  const through = { ...any, throughSignals: () => true };
  for (const text of [
    'context.ready && inputs.n > 1',
    'context.n == 1 || inputs.n > 1',
    'context.ready ? inputs.n > 1 : false',
  ])
    assert.equal(evaluate(text, { context, inputs }, through).ok, true, text);
  const lazy = {
    context,
    get inputs() {
      throw new Error('read');
    },
  };
  assert.equal(evaluate('context.ready && inputs.n > 1', lazy, through).ok, true);
  assert.throws(() => evaluate('inputs.n > 1', lazy, through), /read/);
});
