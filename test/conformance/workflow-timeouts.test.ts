/**
 * A step that takes longer than it may: the reply comes at its budget, whatever the body does, and what comes later
 * changes nothing.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { mount } from '../../src/index.ts';
import { openGateway } from '../../src/main.ts';
import type { AgentClient } from '../../src/ports/upstream.ts';
import { eventually } from '../support/eventually.ts';
import { checkStepReply, openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createHeld } from '../support/workflows.ts';

const budgetSeconds = 0.4;

/** `act` has a body and a budget; `other` answers at once. */
function oneAction(body: object) {
  return mount(
    createMachine({
      id: 'one',
      initial: 'open',
      context: { n: 0 },
      states: { open: { on: { act: 'open', other: 'open' } } },
    }),
    {
      actions: {
        act: { timeout_seconds: budgetSeconds, update: () => ({ n: 1 }), ...body },
        other: { run: async () => 'other' },
      },
    } as never,
  );
}

/** Asks, and checks that the answer comes although the body never ends, and not before the budget is over. */
async function timesOut(ask: () => Promise<unknown>) {
  const began = performance.now();
  const reply = refusal(checkStepReply((await ask()) as never), 'action_timeout');
  const tookMs = performance.now() - began;
  assert.ok(tookMs >= budgetSeconds * 1_000 - 5, `answered after ${tookMs} ms, before its time was over`);
  assert.deepEqual([reply.timeout_seconds, reply.effect], [budgetSeconds, 'unknown']);
  assert.equal(reply.message, `action 'act' exceeded its ${budgetSeconds}s timeout.`);
  return reply;
}

describe('a step is answered at its budget', () => {
  test('[C6-budget-1] [S000-timeout-1] [S000-timeout-2] when its body waits for something that does not come', async (t) => {
    const gateway = await openWorkflow(t, [oneAction({ run: async () => new Promise(() => undefined) })]);
    const session = await gateway.open();
    const before = await gateway.look(session);
    await timesOut(() => gateway.ask('act', {}, { session }));
    const after = await gateway.look(session);
    assert.deepEqual([after.state_digest, after.seq], [before.state_digest, before.seq]);
    success(await gateway.ask('other', {}, { session }));
  });

  test('[C6-budget-1] [S000-timeout-2] [S000-timeout-3] when its body runs in circles in a worker of its own', async (t) => {
    const isolated = oneAction({
      isolate: true,
      run: () => {
        for (;;);
      },
    });
    const gateway = await openWorkflow(t, [isolated]);
    const session = await gateway.open();
    const reply = await timesOut(() => gateway.ask('act', {}, { session }));
    success(await gateway.ask('other', {}, { session }));
    // The worker is killed, so the body comes back; whether it did something before that, nobody knows.
    const fenced = await eventually('the body was killed', async () => {
      const again = await gateway.ask('act', {}, { session });
      return 'error' in again && again.error === 'fenced' ? again : null;
    });
    // On a busy machine the first worker may be killed before it began, which proves that nothing happened: then a
    // later call is in doubt.
    assert.ok((fenced.blocking_call_id ?? '') >= reply.call_id);
  });

  test('[C6-budget-1] [S000-timeout-5] when its body does not listen to its signal', async (t) => {
    const heard: boolean[] = [];
    const deaf = oneAction({
      run: async (_inputs: unknown, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener('abort', () => heard.push(true));
        await new Promise(() => undefined);
      },
    });
    const gateway = await openWorkflow(t, [deaf]);
    const session = await gateway.open();
    await timesOut(() => gateway.ask('act', {}, { session }));
    assert.deepEqual(heard, [true], 'it was told');
  });

  test("[C6-budget-2] [S000-timeout-6] [S000-timeout-7] when its body waits for an answer of the agent's user", async (t) => {
    const asking = oneAction({
      run: async (_inputs: unknown, { elicit }: { elicit: (message: string, schema: object) => Promise<unknown> }) =>
        elicit('really?', { type: 'object', properties: {} }),
    });
    const { shell, service, close } = await openShell(t, asking);
    const who = { tenant: 'default', agent: 'local' };
    const view = await service.open('one', who);
    assert.ok(!('error' in view));
    const asked: { message: string; signal: AbortSignal }[] = [];
    const client: AgentClient = {
      elicit: (message, _schema, signal) => {
        asked.push({ message, signal });
        return new Promise(() => undefined);
      },
      sample: () => Promise.reject(new Error('not here')),
    };
    await timesOut(() => service.step('one', { action: 'act', inputs: {}, session: view.session }, who, { client }));
    assert.deepEqual([asked.length, asked[0]?.message, asked[0]?.signal.aborted], [1, 'really?', true]);
    assert.equal((await shell.ports.store.session(view.session as never))?.workflow?.turn, null);
    await close();
  });
});

test('[C1-history-6] [S001-ask-4] what a body asks is in the history: the question, and whether an answer came', async (t) => {
  type Asks = { elicit: (message: string) => Promise<unknown>; sample: (request: object) => Promise<unknown> };
  const asking = oneAction({
    timeout_seconds: 60,
    run: async (_inputs: unknown, { elicit, sample }: Asks) => {
      await elicit('really? Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789');
      await sample({ messages: [] });
    },
  });
  const { service, close } = await openShell(t, asking);
  const who = { tenant: 'default', agent: 'local' };
  const view = await service.open('one', who);
  assert.ok(!('error' in view));
  const client: AgentClient = {
    elicit: async () => ({ action: 'accept', content: { secret: 'tulip' } }),
    sample: () => Promise.reject(new Error('no model here')),
  };
  await service.step('one', { action: 'act', inputs: {}, session: view.session }, who, { client });
  const page = { entries: [], ...(await service.history(view.session, who, 0, 100)) };
  const asked = page.entries.filter(({ kind }) => kind === 'interaction');
  assert.deepEqual(
    asked.map(({ action, detail, reason }) => [action, detail['asked'], detail['outcome'], reason]),
    [
      ['act', 'elicit', 'accept', null],
      ['act', 'sample', 'none', 'no model here'],
    ],
  );
  assert.match(String(asked[0]?.detail['question']), /^really\?/);
  assert.doesNotMatch(
    JSON.stringify(page),
    /tulip|abcdefghijklm/,
    'agents see neither what the user wrote nor a secret',
  );
  await close();
});

/** The inside of a gateway: a client can be passed to the shell, which the library door has none of. */
async function openShell(t: TestContext, workflow: ReturnType<typeof oneAction>) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  const file = path.join(folder, 'recourse.db');
  const opened = await openGateway({ workflows: [workflow], file, onNotice: () => undefined });
  const close = () => opened.gateway.close({ drain_seconds: 0 });
  t.after(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...opened, close };
}

describe('a body that comes back after its budget', () => {
  for (const how of ['finishes', 'fails'] as const)
    test(`[C6-budget-3] [S000-timeout-4] and ${how} changes neither the state nor what the history said`, async (t) => {
      const held = createHeld();
      const gateway = await openWorkflow(t, [held.workflow]);
      const session = await gateway.open();
      refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
      success(await gateway.ask('other', {}, { session }));
      const [view, history] = [await gateway.look(session), await gateway.history(session)];
      if (how === 'finishes') held.runs[0]?.finish('late');
      else held.runs[0]?.fail(new Error('late'));
      const isOrphan = ({ kind }: { kind: string }) => kind === 'orphaned';
      await eventually('the orphan is on record', async () => (await gateway.history(session)).some(isOrphan));
      const now = await gateway.history(session);
      assert.deepEqual(now.slice(0, history.length), history, 'not a word of the past has changed');
      assert.deepEqual(
        now.slice(history.length).map(({ kind }) => kind),
        ['orphaned'],
      );
      const after = await gateway.look(session);
      assert.deepEqual([after.state_digest, after.seq], [view.state_digest, view.seq]);
    });

  test('[C6-budget-4] is in flight for its own action until then, unless that may overlap', async (t) => {
    for (const overlap of [false, true]) {
      // Known by its key not to be the same: what is in doubt about one order does not fence another.
      const operation_key = (inputs: unknown) => String((inputs as { order: number }).order);
      const held = createHeld({ overlap, operation_key });
      const gateway = await openWorkflow(t, [held.workflow]);
      const session = await gateway.open();
      const first = refusal(await gateway.ask('slow', { order: 1 }, { session }), 'action_timeout');
      const second = gateway.ask('slow', { order: 2 }, { session });
      if (overlap) {
        await eventually('run 2 of the body', async () => held.runs.length === 2);
        held.runs[1]?.finish('in time');
        success(await second);
      } else {
        assert.equal(refusal(await second, 'action_in_flight').in_flight_call_id, first.call_id);
        assert.equal(held.runs.length, 1);
      }
      held.runs[0]?.finish('late');
    }
  });

  test('[C6-budget-5] is not waited for once a person has said that it succeeded', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const asked = { session, key: 'k1' };
    const first = refusal(await gateway.ask('slow', {}, asked), 'action_timeout');
    refusal(await gateway.ask('slow', {}, { session }), 'action_in_flight');
    assert.equal(await gateway.settle(first.call_id, { happened: 'yes', by: 'ada', result: 'done' }), 'settled');
    const adopted = success(await gateway.ask('slow', {}, asked));
    assert.deepEqual([adopted.replayed, adopted.result, adopted.seq], [true, 'done', 1]);
    assert.equal(held.runs.length, 1);
    const before = await gateway.look(session);
    held.runs[0]?.finish('late');
    const isOrphan = ({ kind }: { kind: string }) => kind === 'orphaned';
    await eventually('the orphan is on record', async () => (await gateway.history(session)).some(isOrphan));
    assert.equal((await gateway.look(session)).state_digest, before.state_digest);
  });
});

describe('a step whose client left while it ran', () => {
  test('[C6-adopt-4] is adopted once; the next equal step does its own work', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const client = new AbortController();
    const asked = gateway.handleStep({ action: 'slow', inputs: {}, session }, { signal: client.signal });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    client.abort();
    refusal(await asked, 'cancelled');
    held.runs[0]?.finish('late');
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    assert.equal(success(await gateway.ask('slow', {}, { session })).replayed, true);
    const next = gateway.ask('slow', {}, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('fresh');
    const reply = success(await next);
    assert.deepEqual([reply.replayed, reply.result, reply.seq], [undefined, 'fresh', 2]);
  });

  test('[C6-adopt-5] and whose key asks while another step has the turn is told to wait, not that all is done', async (t) => {
    const operation_key = (inputs: unknown) => String((inputs as { order: number }).order);
    const held = createHeld({ overlap: true, operation_key });
    const gateway = await openWorkflow(t, [held.workflow], { limits: { stepQueueMs: 20 } });
    const session = await gateway.open();
    const asked = { session, key: 'k1' };
    const first = refusal(await gateway.ask('slow', { order: 1 }, asked), 'action_timeout');
    assert.equal(await gateway.settle(first.call_id, { happened: 'yes', by: 'ada', result: 'done' }), 'settled');
    const other = gateway.ask('slow', { order: 2 }, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    refusal(await gateway.ask('slow', { order: 1 }, asked), 'action_in_flight');
    held.runs[1]?.finish('second');
    success(await other);
    const adopted = success(await gateway.ask('slow', { order: 1 }, asked));
    assert.deepEqual([adopted.replayed, adopted.result, adopted.seq], [true, 'done', 2]);
    assert.deepEqual(await gateway.ask('slow', { order: 1 }, asked), adopted, 'and from then on it is one reply');
    held.runs[0]?.finish('late');
  });

  test('[C1-refusals-3] or waited for its turn hears of the actions of its workflow, each time on record', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const running = gateway.ask('slow', {}, { session });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    const calls = new Set<string>();
    for (let n = 0; n < 2; n++) {
      const client = new AbortController();
      const asked = gateway.handleStep({ action: 'other', inputs: {}, session }, { signal: client.signal });
      client.abort();
      const reply = refusal(checkStepReply(await asked), 'cancelled');
      assert.deepEqual(reply.resolution, { type: 'choose_action', actions: reply.valid_next_actions });
      calls.add(reply.call_id);
    }
    assert.equal(calls.size, 2, 'no refusal of a step is coalesced');
    held.runs[0]?.finish('done');
    success(await running);
  });
});
