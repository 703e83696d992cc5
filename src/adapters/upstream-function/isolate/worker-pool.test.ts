import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createFunctionUpstream } from '../function-upstream.ts';
import { tool } from '../tool.ts';
import { attemptOf, summary, using } from '../../../../test/support/function-upstream.ts';
import type { BodyOutput } from './worker-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'recourse-isolation-'));
after(() => rmSync(folder, { recursive: true }));

const base = { name: 'it', description: 'd', input: {}, isolate: true } as const;
const unstopped = new AbortController().signal;

/** Counts in shared memory, so that others can see whether it still runs; says when it has begun. */
const counts = tool({
  ...base,
  run: ({ counter }: { counter: Int32Array }) => {
    process.stdout.write('begun');
    for (;;) Atomics.add(counter, 0, 1);
  },
});
const waits = tool({
  ...base,
  run: async () => {
    process.stdout.write('begun');
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
    const onOutput = () => controller.abort();
    await using([definition, tool({ ...base, name: 'other', run: () => 1 })], { onOutput }, async (invoke) => {
      const result = await invoke({ counter }, controller.signal);
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
      process.stdout.write('out\n');
      process.stderr.write('err\n');
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
    `import { createFunctionUpstream } from ${here('../function-upstream.ts')};
    import { tool } from ${here('../tool.ts')};
    const noisy = tool({ name: 'it', description: 'd', input: {}, isolate: true, run: () => { process.stdout.write('noise'); setInterval(() => {}, 1_000); return 7; } });
    const { upstream } = createFunctionUpstream([noisy]);
    const result = await upstream.invoke(${JSON.stringify(attemptOf('it', {}))} as never, new AbortController().signal);
    process.stdout.write(result.kind === 'returned' ? String(result.output) : 'failed');`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { timeout: 120_000 });
  assert.deepEqual([stdout, stderr], ['7', '']);
});
