import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Tool, tool } from './tool.ts';
import { summary, using } from '../../../test/support/function-upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'recourse-isolation-'));
after(() => rmSync(folder, { recursive: true }));

const base = { name: 'it', description: 'd', input: {}, isolate: true } as const;

const elsewhere = 5;
type Sum = { readonly a: number };

const bodies: readonly (readonly [string, Tool, readonly unknown[]])[] = [
  ['an arrow function', tool({ ...base, run: (args: Sum) => args.a + 1 }), ['returned', 2]],
  ['an async arrow function', tool({ ...base, run: async (args: Sum) => args.a + 1 }), ['returned', 2]],
  ['an arrow function of a single name', tool({ ...base, run: (_) => 2 }), ['returned', 2]],
  [
    'a function',
    tool({
      ...base,
      run: function named(args: Sum) {
        return args.a + 1;
      },
    }),
    ['returned', 2],
  ],
  [
    'an async function',
    tool({
      ...base,
      run: async function (args: Sum) {
        return args.a + 1;
      },
    }),
    ['returned', 2],
  ],
  [
    'a method',
    tool({
      ...base,
      run(args: Sum) {
        return args.a + 1;
      },
    }),
    ['returned', 2],
  ],
  [
    'an async method',
    tool({
      ...base,
      async run(args: Sum) {
        return args.a + 1;
      },
    }),
    ['returned', 2],
  ],
  [
    'a method with a quoted name',
    tool({
      ...base,
      run(args: Sum) {
        return args.a + 1;
      },
    }),
    ['returned', 2],
  ],
  ['a body that imports', tool({ ...base, run: async () => (await import('node:path')).posix.sep }), ['returned', '/']],
  [
    'a body that asks for its context',
    tool({ ...base, run: (_args, ctx) => [ctx.call_id, ctx.signal.aborted] }),
    ['returned', ['call_1', false]],
  ],
  [
    'a body that states its failure',
    tool({ ...base, run: (_args, ctx) => ctx.fail({ kind: '429', message: 'slow', name: 'Slow' }) }),
    ['429', 'Slow'],
  ],
  [
    'a body that throws',
    tool({
      ...base,
      run: () => {
        throw new RangeError('r');
      },
    }),
    ['threw', 'RangeError'],
  ],
  [
    'a body that throws a function',
    tool({
      ...base,
      run: () => {
        throw () => 1;
      },
    }),
    ['threw', 'NonError'],
  ],
  [
    'a body that returns a function',
    tool({ ...base, run: () => ({ f: () => 1 }) }),
    ['schema_validation', 'DataCloneError'],
  ],
  [
    'a result that does not fit',
    tool({ ...base, output: { type: 'string' }, run: () => 5 }),
    ['schema_validation', 'OutputMalformed'],
  ],
  ['a body that ends its process', tool({ ...base, run: () => process.exit(3) }), ['threw', 'WorkerExit']],
  [
    'a body that fails beside its promise',
    tool({
      ...base,
      run: () =>
        new Promise(() =>
          setImmediate(() => {
            throw new TypeError('t');
          }),
        ),
    }),
    ['threw', 'TypeError'],
  ],
  [
    'a body that forgets a rejection',
    tool({ ...base, run: () => new Promise(() => void Promise.reject(new TypeError('t'))) }),
    ['threw', 'TypeError'],
  ],
  [
    'a body that takes all memory',
    tool({
      ...base,
      run: () => {
        const all = [];
        for (;;) all.push(Array.from({ length: 10_000 }, () => ({})));
      },
    }),
    ['threw', 'OutOfMemory'],
  ],
  [
    'a body that nests too deep',
    tool({
      ...base,
      run: () => {
        const down = (): number => down() + 1;
        return down();
      },
    }),
    ['threw', 'RangeError'],
  ],
];

for (const [name, definition, expected] of bodies) {
  test(`in a worker: ${name}`, async () => {
    const result = await using([definition], { isolation: { maxHeapMb: 32 } }, (invoke) => invoke({ a: 1 }));
    assert.deepEqual(summary(result), expected);
  });
}

test('a body that refers to something outside is told so', async () => {
  const outer = tool({ ...base, run: () => elsewhere });
  const result = await using([outer], {}, (invoke) => invoke());
  assert.ok(result.kind === 'failed');
  assert.deepEqual(summary(result), ['threw', 'ReferenceError']);
  assert.match(
    result.failure.message,
    /^elsewhere is not defined: an isolated body is shipped as text and cannot see 'elsewhere'/,
  );
});

const modules: readonly (readonly [string, string, readonly unknown[]])[] = [
  [
    'by its default export',
    'const inner: number = 1;\nexport default (args: { a: number }) => args.a + inner;',
    ['returned', 2],
  ],
  ['by its run export', 'export async function run(args: { a: number }) { return args.a + 1; }', ['returned', 2]],
  ['not without an export', 'export const other = 1;', ['threw', 'TypeError']],
  ['not with a mistake in it', 'export const run = (;', ['threw', 'SyntaxError']],
];

for (const [index, [name, text, expected]] of modules.entries()) {
  test(`a module is run ${name}`, async () => {
    const path = join(folder, `body-${index}.ts`);
    writeFileSync(path, text);
    const definition = tool({ ...base, isolate: pathToFileURL(path) });
    assert.deepEqual(summary(await using([definition], {}, (invoke) => invoke({ a: 1 }))), expected);
  });
}
