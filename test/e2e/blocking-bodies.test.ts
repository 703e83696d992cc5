/** Bodies of workflow modules that compute for ever, or ask: the gateway goes on, and so does everybody else in it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { loadWorkflowModule } from '../../src/compose/project/load-workflow-module.ts';
import { createGateway, mount, type OperatorNotice, tool } from '../../src/index.ts';
import { createMachine } from 'xstate';
import { eventually } from '../support/eventually.ts';
import { checkStepReply, refusal, success } from '../support/open-workflow.ts';

const index = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);
const xstate = JSON.stringify(import.meta.resolve('xstate'));
const moduleText = `
import { isMainThread } from 'node:worker_threads';
import { mount } from ${index};
import { createMachine } from ${xstate};

let steps = 0;
const go = { target: 'a' };
const on = { spin: go, count: go, ask: go, where: go, here: go, wait: go, fail: go, crash: go };
export const workflow = mount(createMachine({ id: 'busy', initial: 'a', states: { a: { on } } }), {
  actions: {
    spin: { timeout_seconds: 1, run: async () => { for (;;); } },
    count: { run: async () => (steps += 1) },
    ask: { run: async (_, ctx) => (await ctx.tools.call('double', { n: 21 })).result },
    where: { run: async () => isMainThread },
    here: { blocking: false, run: async () => isMainThread },
    wait: { timeout_seconds: 0.2, run: async (_, { signal }) => new Promise((resolve) => { signal.onabort = () => resolve('stopped'); }) },
    fail: { run: async (_, ctx) => ctx.fail('ToolTerminal', 'NotFound', 'no such order') },
    crash: { run: async () => process.exit(3) },
  },
});
`;

async function opened(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const file = path.join(folder, 'busy.workflow.ts');
  writeFileSync(file, moduleText);
  const loaded = await loadWorkflowModule(file);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const notices: OperatorNotice[] = [];
  const double = tool({ name: 'double', input: {}, effect: 'pure', run: async ({ n }: { n: number }) => n * 2 });
  const gateway = await createGateway({
    workflows: [loaded.workflow],
    tools: [double],
    file: path.join(folder, 'recourse.db'),
    onNotice: (notice) => void notices.push(notice),
  });
  t.after(async () => {
    await gateway.close({ drain_seconds: 0 });
    rmSync(folder, { recursive: true, force: true });
  });
  const step = async (action: string, session?: string) =>
    checkStepReply(await gateway.handleStep({ action, ...(session === undefined ? {} : { session }) }));
  return { gateway, notices, step };
}

test('a body that computes for ever stops neither the gateway nor its own timer, and is told by name', async (t) => {
  const { gateway, notices, step } = await opened(t);
  success(await step('count'));
  let ended = false;
  const spinning = step('spin').finally(() => {
    ended = true;
  });
  const meanwhile = await gateway.handle({ tool: 'double', args: { n: 4 } });
  assert.equal(success(meanwhile).result, 8);
  assert.equal(ended, false, 'the gateway answered while the body computed');
  const beside = step('count');
  const reply = refusal(await spinning, 'action_timeout');
  assert.deepEqual([reply.timeout_seconds, reply.effect], [1, 'unknown']);
  // It came to a thread that was busy, so nothing of it ran there: a new thread ran it.
  assert.equal(success(await beside).result, 1);
  const told = await eventually('the operator is told', async () =>
    notices.find((notice) => notice.kind === 'body_blocks' && notice.ended),
  );
  assert.ok(told?.kind === 'body_blocks');
  assert.deepEqual([told.thread, told.tools.includes('busy/spin')], ['module', true]);
});

test('a module that cannot be loaded a second time is refused at the start, with the remedy', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'once.workflow.mjs');
  const once =
    "import { isMainThread } from 'node:worker_threads';\nif (!isMainThread) throw new Error('the port is taken');\n";
  const mounted = `import { mount } from ${index};\nimport { createMachine } from ${xstate};
export const workflow = mount(createMachine({ id: 'once', initial: 'a', states: { a: { on: { go: 'a' } } } }), { actions: { go: { RUN } } });\n`;
  writeFileSync(file, once + mounted.replace('RUN', 'run: async () => 1'));
  const loaded = await loadWorkflowModule(file);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  await assert.rejects(
    createGateway({ workflows: [loaded.workflow], file: path.join(folder, 'recourse.db') }),
    /the port is taken; write blocking: false to run its actions in the gateway's own thread/,
  );
});

test('a body keeps what its module keeps, calls tools, and hears that nobody waits', async (t) => {
  const { step } = await opened(t);
  assert.deepEqual([success(await step('count')).result, success(await step('count')).result], [1, 2]);
  assert.equal(success(await step('ask')).result, 42);
  assert.deepEqual([success(await step('where')).result, success(await step('here')).result], [false, true]);
  const waited = refusal(await step('wait'), 'action_timeout');
  await eventually('it came back late', async () => {
    const again = await step('wait', waited.session ?? '');
    return 'result' in again && again.result === 'stopped';
  });
  const failed = refusal(await step('fail'), 'action_error');
  assert.deepEqual([failed.code, failed.effect], ['NotFound', 'none']);
  const cut = refusal(await step('crash'), 'action_error');
  assert.deepEqual([cut.error_type, cut.effect], ['ThreadEnded', 'unknown']);
  assert.equal(success(await step('count')).result, 1, 'the next step gets a new thread');
});

test('a body in the gateway’s own thread that computes is told by name', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  const spin = async (away: boolean) => {
    if (away) await new Promise(setImmediate);
    const until = performance.now() + 1_500;
    while (performance.now() < until);
  };
  const on = { first: 'a', later: 'a', wait: 'a' };
  const held = Promise.withResolvers<void>();
  const own = mount(createMachine({ id: 'own', initial: 'a', states: { a: { on } } }), {
    actions: {
      first: { run: async () => spin(false) },
      later: { run: async () => spin(true) },
      wait: { run: async () => held.promise },
    },
  });
  const notices: OperatorNotice[] = [];
  const onNotice = (notice: OperatorNotice) => void notices.push(notice);
  const gateway = await createGateway({ workflows: [own], file: path.join(folder, 'recourse.db'), onNotice });
  t.after(async () => {
    await gateway.close({ drain_seconds: 0 });
    rmSync(folder, { recursive: true, force: true });
  });
  for (const action of ['first', 'later']) {
    notices.length = 0;
    await gateway.handleStep({ action });
    const told = await eventually(`${action} is told`, async () => notices.find(({ kind }) => kind === 'body_blocks'));
    assert.ok(told?.kind === 'body_blocks');
    assert.deepEqual([told.thread, told.tools, told.ended], ['gateway', [`own/${action}`], false]);
  }
  // Beside one that only waits: what computed before it first waited is named alone, of the others nobody can say which
  // it was.
  const waiting = gateway.handleStep({ action: 'wait' });
  for (const [action, named] of [
    ['first', ['own/first']],
    ['later', ['own/later', 'own/wait']],
  ] as const) {
    notices.length = 0;
    await gateway.handleStep({ action });
    const told = await eventually(`${action} is told`, async () => notices.find(({ kind }) => kind === 'body_blocks'));
    assert.deepEqual(told?.kind === 'body_blocks' && told.tools.toSorted(), named);
  }
  held.resolve();
  await waiting;
});
