import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { CallId } from '../../core/call.ts';
import type { Attempt, UpstreamResult } from '../../ports/upstream.ts';
import { createFunctionUpstream, type FunctionUpstreamOptions } from './function-upstream.ts';
import { type Tool, tool } from './tool.ts';
import type { BodyOutput } from './worker-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'recourse-isolation-'));
after(() => rmSync(folder, { recursive: true }));

const base = { name: 'it', description: 'd', input: {}, isolate: true } as const;
const unstopped = new AbortController().signal;

function attemptOf(name: string, args: unknown): Attempt {
  const who = { session: null, tenant: 't', agent: 'a' };
  return {
    callId: 'call_1' as CallId,
    attempt: 1,
    tool: name,
    args: args as never,
    ...who,
    deadlineAtMs: 0,
    timeoutMs: 1,
  };
}

/** An upstream that is closed when the test ends. */
async function using<Result>(
  tools: readonly Tool[],
  options: FunctionUpstreamOptions,
  act: (invoke: (args?: unknown, signal?: AbortSignal, name?: string) => Promise<UpstreamResult>) => Promise<Result>,
): Promise<Result> {
  const { upstream, close } = createFunctionUpstream(tools, options);
  try {
    return await act((args = {}, signal = unstopped, name = 'it') => upstream.invoke(attemptOf(name, args), signal));
  } finally {
    await close();
  }
}

function summary(result: UpstreamResult): readonly unknown[] {
  return result.kind === 'returned' ? ['returned', result.output] : [result.failure.kind, result.failure.errorType];
}

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

/** Counts in shared memory, so that others can see whether it still runs; says when it has begun. */
const counts = tool({
  ...base,
  run: ({ counter }: { counter: Int32Array }) => {
    console.log('begun');
    for (;;) Atomics.add(counter, 0, 1);
  },
});
const waits = tool({
  ...base,
  run: async () => {
    console.log('begun');
    await new Promise(() => setInterval(() => {}, 1_000));
  },
});

for (const [name, definition] of [
  ['in a tight loop', counts],
  ['that waits for ever', waits],
] as const) {
  test(`aborting really ends a body ${name}`, async () => {
    const controller = new AbortController();
    const counter = new Int32Array(new SharedArrayBuffer(4));
    let aborted = 0;
    const onOutput = () => {
      aborted = performance.now();
      controller.abort();
    };
    await using([definition, tool({ ...base, name: 'other', run: () => 1 })], { onOutput }, async (invoke) => {
      const result = await invoke({ counter }, controller.signal);
      assert.ok(performance.now() - aborted < 1_000);
      assert.deepEqual(summary(result), ['cancelled', 'AbortError']);
      const ended = Atomics.load(counter, 0);
      assert.deepEqual(summary(await invoke({}, unstopped, 'other')), ['returned', 1]);
      assert.equal(Atomics.load(counter, 0), ended);
    });
  });
}

test('the next call uses the warm worker', async () => {
  const thread = tool({ ...base, run: async () => (await import('node:worker_threads')).threadId });
  await using([thread], {}, async (invoke) => assert.deepEqual(await invoke(), await invoke()));
});

test('beyond workers and queue a call is never sent; one that is stopped in the queue had no effect', async () => {
  const controllers = [0, 1].map(() => new AbortController());
  const [running, queued] = controllers.map(({ signal }) => signal);
  await using([waits], { isolation: { maxWorkers: 1, maxQueuedCalls: 1 } }, async (invoke) => {
    const first = invoke({}, running);
    const second = invoke({}, queued);
    const third = await invoke();
    assert.ok(third.kind === 'failed');
    assert.deepEqual(
      [third.failure.kind, third.failure.message],
      ['never_sent', 'all 1 workers are busy and 1 calls wait'],
    );
    controllers[1]?.abort();
    const stopped = await second;
    assert.deepEqual(stopped.kind === 'failed' && [stopped.failure.kind, stopped.failure.effect], [
      'cancelled',
      'none',
    ]);
    controllers[0]?.abort();
    assert.equal((await first).kind, 'failed');
  });
});

test('queued calls are served in turn, also when workers die', async () => {
  const dies = tool({ ...base, run: ({ n }: { n: number }) => (n % 3 === 0 ? process.exit(1) : n) });
  await using([dies], { isolation: { maxWorkers: 2 } }, async (invoke) => {
    const results = await Promise.all(Array.from({ length: 12 }, (_, n) => invoke({ n })));
    const expected = results.map((_, n) => (n % 3 === 0 ? ['threw', 'WorkerExit'] : ['returned', n]));
    assert.deepEqual(results.map(summary), expected);
  });
});

test('closing ends every call with an outcome, and no call begins afterwards', async () => {
  let begun = () => {};
  const isRunning = new Promise<void>((resolve) => (begun = resolve));
  const options = { isolation: { maxWorkers: 1 }, onOutput: () => begun() };
  const { upstream, close } = createFunctionUpstream([waits], options);
  const calls = [0, 1].map(() => upstream.invoke(attemptOf('it', {}), unstopped));
  await isRunning;
  await close();
  assert.deepEqual((await Promise.all(calls)).map(summary), [
    ['cancelled', 'AbortError'],
    ['never_sent', 'WorkersBusy'],
  ]);
  assert.deepEqual(summary(await upstream.invoke(attemptOf('it', {}), unstopped)), ['never_sent', 'WorkersBusy']);
});

test('what a body prints is handed over, named and limited', async () => {
  const heard: BodyOutput[] = [];
  const prints = tool({
    ...base,
    run: () => {
      console.log('out');
      console.error('err');
      process.stdout.write(Buffer.from('x'.repeat(100_000)));
    },
  });
  await using([prints], { onOutput: (output) => heard.push(output) }, (invoke) => invoke());
  assert.deepEqual(heard.slice(0, 2), [
    { tool: 'it', stream: 'stdout', text: 'out\n' },
    { tool: 'it', stream: 'stderr', text: 'err\n' },
  ]);
  assert.equal(heard.map(({ text }) => text).join('').length, 64 * 1_024);
});

test('a process ends by itself beside warm workers, and prints nothing of theirs', async () => {
  const program = join(folder, 'program.ts');
  const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  writeFileSync(
    program,
    `import { createFunctionUpstream } from ${here('./function-upstream.ts')};
    import { tool } from ${here('./tool.ts')};
    const noisy = tool({ name: 'it', description: 'd', input: {}, isolate: true, run: () => { console.log('noise'); setInterval(() => {}, 1_000); return 7; } });
    const { upstream } = createFunctionUpstream([noisy]);
    const result = await upstream.invoke(${JSON.stringify(attemptOf('it', {}))} as never, new AbortController().signal);
    process.stdout.write(result.kind === 'returned' ? String(result.output) : 'failed');`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { timeout: 20_000 });
  assert.deepEqual([stdout, stderr], ['7', '']);
});
