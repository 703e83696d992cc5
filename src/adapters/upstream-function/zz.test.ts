import * as z from 'zod';
import * as v from 'valibot';
import { type } from 'arktype';
import { tool, type ArgsOf, type ResultOf, type Tool } from './tool.ts';
import { partial } from './tool-failure.ts';
import { createFunctionUpstream } from './function-upstream.ts';
const a = tool({
  name: 'a',
  description: 'd',
  input: z.object({ x: z.number(), d: z.string().default('q') }),
  output: z.object({ y: z.number() }),
  run: async (args, ctx) => {
    const q: string = args.d;
    const n: number = args.x;
    void q;
    void ctx.call_id;
    return { y: n };
  },
});
const b = tool({
  name: 'b',
  description: 'd',
  input: { type: 'object' },
  run: async (args: { k: string }) => ({ l: args.k.length }),
});
const c = tool({
  name: 'c',
  description: 'd',
  input: { type: 'object' },
  run: async (args, ctx) => {
    const r: Record<string, unknown> = args;
    void ctx.attempt;
    return Object.keys(r);
  },
});
const d = tool({
  name: 'd',
  description: 'd',
  input: v.object({ x: v.number() }),
  async run(args) {
    return args.x > 1 ? partial({ n: args.x }, [{ item: 1, kind: '5xx', message: 'm' }]) : { n: 2 };
  },
});
const e = tool({
  name: 'e',
  description: 'd',
  input: type({ x: 'number' }),
  blocking: false,
  run: ({ x }, ctx) => (x > 2 ? ctx.fail({ kind: '429', message: 'slow' }) : x),
});
const f = tool({ name: 'f', description: 'd', input: {}, isolate: new URL(import.meta.url) });
type Eq<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const ok: [
  Eq<ArgsOf<typeof a>, { x: number; d: string }>,
  Eq<ResultOf<typeof a>, { y: number }>,
  Eq<ArgsOf<typeof b>, { k: string }>,
  Eq<ResultOf<typeof b>, { l: number }>,
  Eq<ArgsOf<typeof c>, Record<string, unknown>>,
  Eq<ResultOf<typeof c>, string[]>,
  Eq<ArgsOf<typeof d>, { x: number }>,
  Eq<ResultOf<typeof d>, { n: number }>,
  Eq<ArgsOf<typeof e>, { x: number }>,
  Eq<ResultOf<typeof e>, number>,
  Eq<ResultOf<typeof f>, unknown>,
] = [true, true, true, true, true, true, true, true, true, true, true];
void ok;
const list: readonly Tool[] = [a, b, c, d, e];
const u = createFunctionUpstream(list);
const at = (t: string, args: never) => ({
  callId: 'call_1' as never,
  attempt: 1,
  tool: t,
  args,
  session: null,
  tenant: 't',
  agent: 'a',
  deadlineAtMs: 1e12,
  timeoutMs: 1,
});
const s = new AbortController().signal;
console.log(
  await u.upstream.invoke(at('a', { x: 1, d: 'r' } as never), s),
  await u.upstream.invoke(at('d', { x: 3 } as never), s),
  await u.upstream.invoke(at('e', { x: 3 } as never), s),
);
console.log(
  await u.validator.validate('a', { x: 1 }),
  await u.validator.validate('a', { x: '1' }),
  await u.validator.validate('d', { x: '1' }),
  await u.validator.validate('e', { x: '1' }),
);
for (const [, x] of u.catalogue) console.log(x.manifest);
