import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import * as z from 'zod';
import { ToolDefinitionError } from './check-definition.ts';
import { partial } from './tool-failure.ts';
import { type ArgsOf, checkedTool, type ResultOf, type SentTo, type Tool, tool } from './tool.ts';

const right = { name: 'refund', description: 'Pays back.', input: { type: 'object' }, run: async () => null };
const file = new URL(import.meta.url);

const refused: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object at all', null, /^tool without a name: its definition is not an object/],
  [
    'a name with a space',
    { ...right, name: 'pay back' },
    /^tool 'pay back': its name is not usable; use 1 to 128 letters/,
  ],
  ['an empty name', { ...right, name: '' }, /its name is not usable/],
  ['a name that is too long', { ...right, name: 'x'.repeat(129) }, /its name is not usable/],
  [
    'a setting that does not exist',
    { ...right, timeout: 3 },
    /^tool 'refund': it has no setting 'timeout'; known are name, /,
  ],
  ['a description that is no text', { ...right, description: 7 }, /its description is no text/],
  ['no run', { ...right, run: undefined }, /it has no run function; write run: async/],
  [
    'a function that is not async',
    { ...right, run: () => null },
    /is not an async function .* write async, or isolate: true .* or blocking: false/,
  ],
  [
    'a plain function that returns a promise',
    { ...right, run: () => Promise.resolve() },
    /one that returns a promise cannot be told apart/,
  ],
  ['a generator', { ...right, run: async function* () {} }, /its run is a generator/],
  ['a class', { ...right, run: class {} }, /its run is a class/],
  [
    'an effect that does not exist',
    { ...right, effect: 'safe' },
    /its effect is unknown; use one of pure, keyed, probeable, plain/,
  ],
  ['keyed without a window', { ...right, effect: 'keyed' }, /'keyed' without a window; set dedupe_window_seconds/],
  ['a window without keyed', { ...right, dedupe_window_seconds: 5 }, /'plain' and has a window for keys/],
  ['a timeout of nothing', { ...right, timeout_seconds: 0 }, /its timeout_seconds is not usable/],
  ['a timeout that is no number', { ...right, timeout_seconds: Number.NaN }, /its timeout_seconds is not usable/],
  ['a timeout without end', { ...right, timeout_seconds: Infinity }, /use a number of seconds above 0 and up to 86400/],
  ['a report that is never due', { ...right, reports_within_seconds: 0 }, /its reports_within_seconds is not usable/],
  ['no input schema', { ...right, input: undefined }, /it has no input schema; give one, or input: \{\}/],
  [
    'an input schema that does not compile',
    { ...right, input: { type: 'strng' } },
    /its input schema does not compile: \/type /,
  ],
  [
    'an output schema that does not compile',
    { ...right, output: { pattern: '(?=a)' } },
    /its output schema does not compile: pattern/,
  ],
  ['a schema that is text', { ...right, input: 'object' }, /is neither a JSON Schema object nor a Standard Schema/],
  [
    'both isolate and blocking: false',
    { ...right, isolate: true, blocking: false },
    /it sets isolate and blocking: false/,
  ],
  ['isolate: false', { ...right, isolate: false }, /its isolate is neither true nor a URL/],
  ['blocking: true', { ...right, blocking: true }, /blocking can only be false; use isolate: true/],
  ['a module and a function', { ...right, isolate: file }, /it has both a module and a run function/],
  [
    'a module that is not there',
    { ...right, run: undefined, isolate: new URL('./none.ts', file) },
    /none\.ts does not exist/,
  ],
  [
    'a module from elsewhere',
    { ...right, run: undefined, isolate: new URL('https://x.org/a.js') },
    /its module is not a file/,
  ],
  [
    'an isolated function that is bound',
    { ...right, isolate: true, run: right.run.bind(null) },
    /is bound or built in/,
  ],
  [
    'an isolated function that uses import.meta',
    { ...right, isolate: true, run: () => import.meta.url },
    /cannot be read on its own/,
  ],
];

for (const [name, definition, message] of refused) {
  test(`refused at once: ${name}`, () => {
    assert.throws(
      () => tool(definition as typeof right),
      (error) => {
        assert.ok(error instanceof ToolDefinitionError);
        assert.equal(error.name, 'ToolDefinitionError');
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

const accepted: readonly (readonly [string, object])[] = [
  ['a name with all that is allowed', { ...right, name: 'aZ09_-./x' }],
  ['a keyed write with its window', { ...right, effect: 'keyed', dedupe_window_seconds: 3_600 }],
  ['a probeable write without a probe', { ...right, effect: 'probeable' }],
  ['a function that never blocks', { ...right, run: () => null, blocking: false }],
  ['an isolated function that may block', { ...right, run: () => null, isolate: true }],
  ['an isolated module', { ...right, run: undefined, isolate: file }],
  ['an async function that is bound', { ...right, run: right.run.bind(null) }],
];

for (const [name, definition] of accepted) {
  test(`accepted: ${name}`, () => assert.ok(Object.isFrozen(tool(definition as typeof right))));
}

test('a definition is checked once, when it is made', () => {
  const made = tool(right);
  assert.equal(checkedTool(made), checkedTool(made));
  assert.equal(checkedTool(made).effectClass, 'plain');
});

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the claim is true. */
function holds<Claim extends true>(..._nothing: readonly Claim[]): void {}

const about = { description: 'd' } as const;
const zod = tool({
  ...about,
  name: 'zod',
  input: z.object({ amount: z.number(), currency: z.string().default('EUR') }),
  output: z.object({ id: z.string() }),
  run: async (args, ctx) => ({ id: `${args.amount.toFixed(2)} ${args.currency.trim()} ${ctx.call_id}` }),
});
const valibot = tool({
  ...about,
  name: 'valibot',
  input: v.object({ items: v.array(v.string()) }),
  async run(args) {
    const result = { sent: args.items.length };
    return args.items.length > 1 ? partial(result, [{ item: 1, kind: '404_not_found', message: 'gone' }]) : result;
  },
});
const ark = tool({ ...about, name: 'ark', input: type({ 'n?': 'number' }), blocking: false, run: ({ n }) => n ?? 0 });
const annotated = tool({
  ...about,
  name: 'json',
  input: {},
  run: async (args: { readonly id: string }) => args.id.length,
});
const bare = tool({ ...about, name: 'bare', input: { type: 'object' }, run: async (args) => Object.keys(args) });

test('types flow from the schemas to the arguments and the result', () => {
  holds<Same<ArgsOf<typeof zod>, { amount: number; currency: string }>>();
  holds<Same<SentTo<typeof zod>, { amount: number; currency?: string | undefined }>>();
  holds<Same<ResultOf<typeof zod>, { id: string }>>();
  holds<Same<(typeof zod)['name'], 'zod'>>();
  holds<Same<ArgsOf<typeof valibot>, { items: string[] }>>();
  holds<Same<ResultOf<typeof valibot>, { sent: number }>>();
  holds<Same<ArgsOf<typeof ark>, { n?: number }>>();
  holds<Same<ResultOf<typeof ark>, number>>();
  holds<Same<ArgsOf<typeof annotated>, { readonly id: string }>>();
  holds<Same<SentTo<typeof annotated>, { readonly id: string }>>();
  holds<Same<ArgsOf<typeof bare>, Record<string, unknown>>>();
  const all: readonly Tool[] = [zod, valibot, ark, annotated, bare];
  assert.equal(all.length, 5);
});

const either = tool({
  ...about,
  name: 'either',
  input: {},
  run: async (args: { readonly id?: string }, ctx) => {
    if (args.id === 'a') return { ok: true as const };
    if (args.id === 'b') return partial({ ok: false as const, why: 'b' }, []);
    return args.id === undefined ? null : ctx.fail({ kind: '404_not_found', message: 'no such id' });
  },
});
const word = tool({
  ...about,
  name: 'word',
  input: {},
  blocking: false,
  run: ({ n }: { readonly n: number }) => (n > 1 ? 'a' : 2),
});
const chosen = tool({
  ...about,
  name: 'chosen',
  input: {},
  output: z.object({ s: z.enum(['a', 'b']) }),
  run: async (_args) => ({ s: 'a' }),
});
const nothing = tool({ ...about, name: 'nothing', input: {}, run: async () => {} });
const module = tool({ ...about, name: 'module', input: z.string(), output: z.number(), isolate: file });

test('types flow from what a body returns, in all its ways', () => {
  holds<Same<ResultOf<typeof either>, { ok: true } | { ok: false; why: string } | null>>();
  holds<Same<ResultOf<typeof word>, 'a' | 2>>();
  holds<Same<ResultOf<typeof chosen>, { s: 'a' | 'b' }>>();
  holds<Same<ResultOf<typeof nothing>, void>>();
  holds<Same<ResultOf<typeof module>, number>>();
  holds<Same<SentTo<typeof module>, string>>();
  const all: readonly Tool[] = [either, word, chosen, nothing, module];
  assert.equal(all.length, 5);
});

/** Never called: the compiler is the test. */
export function doesNotCompile(): void {
  const input = z.object({ amount: z.number() });
  // @ts-expect-error the input has no such field
  tool({ ...about, name: 'a', input, run: async (args) => args.amonut });
  // @ts-expect-error the result does not fit the output schema
  tool({ ...about, name: 'a', input, output: z.object({ id: z.string() }), run: async () => ({ id: 5 }) });
  // @ts-expect-error a partial result must fit it too
  tool({ ...about, name: 'a', input, output: z.object({ id: z.string() }), run: async () => partial({ id: 5 }, []) });
  // @ts-expect-error there is no such setting
  tool({ ...about, name: 'a', input, timeout: 5, run: async () => null });
  // @ts-expect-error there is no such effect
  tool({ ...about, name: 'a', input, effect: 'safe', run: async () => null });
  // @ts-expect-error without a module there must be a function
  tool({ ...about, name: 'a', input });
  // @ts-expect-error not both
  tool({ ...about, name: 'a', input, isolate: file, run: async () => null });
  // @ts-expect-error there is no such kind of failure
  tool({ ...about, name: 'a', input, run: async (_args, ctx) => ctx.fail({ kind: 'broken', message: 'm' }) });
  // @ts-expect-error the annotation does not fit what the schema makes
  tool({ ...about, name: 'a', input, run: async (args: { readonly amount: string }) => args.amount });
}
