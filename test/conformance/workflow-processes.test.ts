/**
 * One workflow session, several processes: no update is lost, and whoever dies with the turn leaves it to the others.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { isRefusal, mount, type Reply } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { withReader } from '../support/read-journal.ts';
import { checkHistory, wholeHistory } from '../support/workflow-history.ts';
import { type Counting, startCounting } from '../support/workflow-processes.ts';
import { createHeld } from '../support/workflows.ts';

const each = 50;
const patienceMs = 90_000;

/** As the child declares it: a process that differed would find that the workflow changed. */
const counter = () =>
  mount(
    createMachine({
      id: 'counter',
      initial: 'counting',
      context: { count: 0 },
      states: { counting: { on: { increment: 'counting' } } },
    }),
    {
      actions: {
        increment: {
          run: async () => ({}),
          update: ({ context }: { context: { count: number } }) => ({ count: context.count + 1 }),
        },
      },
    } as never,
  );

const countOf = ({ state }: { state?: unknown }) => (state as { context: { count: number } }).context.count;
const linesIn = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
const turnIn = (file: string, session: string) =>
  withReader(file, async (reader) => (await reader.session(session as never))?.workflow?.turn ?? null);

describe('two processes on one file', () => {
  const rounds = 5;
  /** The same key and no session, to both at once, until every round has met the race or had its chance to. */
  const race = async (t: TestContext, inputs: readonly [object, object]) => {
    const one = await openWorkflow(t, [counter()]);
    const two = await openWorkflow(t, [counter()], { file: one.file });
    const pairs: Reply[][] = [];
    for (let round = 0; round < rounds; round++) {
      const asked = { key: `first-${round}`, wait_seconds: 20 };
      const both = [one.ask('increment', inputs[0], asked), two.ask('increment', inputs[1], asked)];
      pairs.push(await Promise.all(both));
    }
    const sessions = await withReader(one.file, (reader) => reader.listSessions({ limit: 4 * rounds }));
    return { pairs, sessions };
  };

  test('[C6-key-2] that get the same first step with the same key take it once, in one session', async (t) => {
    const { pairs, sessions } = await race(t, [{}, {}]);
    for (const replies of pairs) {
      const [one, two] = replies.map(success);
      assert.deepEqual([one?.session, one?.call_id, one?.seq], [two?.session, two?.call_id, 1]);
      assert.equal([one, two].filter((reply) => reply?.replayed === true).length, 1);
    }
    assert.ok(sessions.length > rounds, 'they raced: a session was opened in vain');
    assert.equal(sessions.filter(({ state }) => state === 'open').length, rounds, 'and closed');
    const reasons = new Set(sessions.flatMap(({ state, workflow }) => (state === 'open' ? [] : [workflow?.reason])));
    assert.deepEqual([...reasons], ['superseded']);
  });

  test('[C6-key-2] that get other inputs under the same key take one of them, and the other is KeyReused', async (t) => {
    const { pairs } = await race(t, [{ by: 'one' }, { by: 'two' }]);
    for (const replies of pairs)
      assert.deepEqual(replies.map((reply) => ('code' in reply ? reply.code : 'success')).sort(), [
        'KeyReused',
        'success',
      ]);
  });

  test('[C1-queue-5] increment the same session at the same time, and no update is lost', async (t) => {
    const owner = await openWorkflow(t, [counter()]);
    const session = await owner.open();
    await owner.close();
    const log = `${owner.file}.log`;
    const orders = { file: owner.file, log, hangs: false };
    const children: readonly Counting[] = [await startCounting(t, orders), await startCounting(t, orders)];
    assert.deepEqual(
      children.map(({ role }) => role),
      ['owner', 'forwarder'],
    );
    for (const child of children) child.order({ session, atOnce: each / 2, oneByOne: each / 2 });
    const replies = () => children.flatMap((child) => child.replies());
    await eventually('everybody is answered', async () => replies().length === 2 * each, patienceMs);
    const counts = replies().map((reply: Reply) => countOf(success(reply)));
    assert.deepEqual(
      counts.sort((a, b) => a - b),
      Array.from({ length: 2 * each }, (_, n) => n + 1),
    );
    assert.equal(new Set(linesIn(log)).size, 2 * each, 'every step ran');
    assert.equal(linesIn(log).length, 2 * each, 'and none of them twice');
    const mine = new Set((children[0]?.replies() ?? []).map(({ call_id: callId }) => callId));
    const owners = linesIn(log).map((callId) => mine.has(callId));
    const changes = owners.filter((one, at) => at > 0 && one !== owners[at - 1]).length;
    assert.ok(changes > 4, `the turn went from one process to the other only ${changes} times`);
    t.diagnostic(
      `the turn went from one process to the other ${changes} times; ` +
        `${children.map((child) => child.waited()).join(' and ')} times a process was told to wait`,
    );
    for (const child of children) await child.kill();
    const after = await openWorkflow(t, [counter()], { file: owner.file });
    const view = await after.look(session);
    assert.deepEqual([countOf(view), view.seq], [2 * each, 2 * each]);
    checkHistory(await wholeHistory(session, after.sessions), view);
  });

  for (const victim of ['forwarder', 'owner'] as const)
    test(`[C1-queue-6] of which the ${victim} dies in the middle of a step: the turn is freed, and the other goes on`, async (t) => {
      const first = await openWorkflow(t, [counter()]);
      const session = await first.open();
      const log = `${first.file}.log`;
      const orders = { file: first.file, log, hangs: true };
      if (victim === 'owner') await first.close();
      const child = await startCounting(t, orders);
      assert.equal(child.role, victim);
      // An owner that dies takes the forwarders' way to the file with it: whoever comes next owns it.
      child.order({ session, atOnce: 1, oneByOne: 0 });
      const [callId] = await eventually('the body runs', async () => (child.began().length > 0 ? child.began() : null));
      assert.equal((await turnIn(first.file, session))?.call, callId);
      await child.kill();
      const gateway = victim === 'owner' ? await openWorkflow(t, [counter()], { file: first.file }) : first;
      await eventually('the turn is free', async () => (await turnIn(first.file, session)) === null);
      const fenced = refusal(await gateway.ask('increment', {}, { session }), 'fenced');
      assert.equal(fenced.blocking_call_id, callId);
      assert.equal(await gateway.settle(callId ?? '', { happened: 'yes', by: 'ada', result: {} }), 'settled');
      const adopted = success(await gateway.ask('increment', {}, { session }));
      assert.deepEqual([adopted.replayed, adopted.seq, countOf(adopted)], [true, 1, 1]);
      const next = success(await gateway.ask('increment', {}, { session }));
      assert.deepEqual([next.replayed, next.seq, countOf(next)], [undefined, 2, 2], 'a result is adopted once');
      checkHistory(await wholeHistory(session, gateway.sessions), await gateway.look(session));
    });

  test('[C1-queue-5] of which one takes the file over: a step of the other that ends then has moved the state, whatever came between', async (t) => {
    const { held, running, next, session } = await takenOver(t, 60);
    held.runs[0]?.finish('late');
    const late = success(await running);
    assert.deepEqual([late.result, late.seq], ['late', 2]);
    const view = await next.look(session);
    assert.deepEqual([view.seq, view.state], [2, late.state]);
    assert.deepEqual((view.state as { context: object }).context, { done: ['late'] });
    const history = await wholeHistory(session, next.sessions);
    checkHistory(history, view);
    assert.equal(
      history.filter(({ kind }) => kind === 'session_resumed').length,
      2,
      'once in each that went on with it',
    );
  });

  test('[C1-queue-5] of which one takes the file over while the other sleeps past its timeout: what is then heard as a success has moved the state', async (t) => {
    const { held, running, next, session } = await takenOver(t, 5);
    // Nothing of this process runs meanwhile, as if it had been stopped: the body and the timeout come at once.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_100);
    held.runs[0]?.finish('late');
    const outOfTime = refusal(await running, 'action_error');
    assert.equal(outOfTime.effect, 'unknown');
    assert.deepEqual(outOfTime.resolution, { type: 'reconcile', call_id: outOfTime.call_id });
    assert.equal((await next.look(session)).seq, 1, 'no success was heard, and no state has moved');
    const again = async () => {
      const reply = await next.ask('slow', {}, { session });
      return isRefusal(reply) && reply.error === 'fenced' ? false : success(reply);
    };
    const adopted = await eventually('the body that came back late ends the doubt', again);
    assert.deepEqual([adopted.result, adopted.seq, adopted.replayed], ['late', 2, true]);
    assert.equal(held.runs.length, 1, 'it ran once');
    const view = await next.look(session);
    assert.deepEqual([view.seq, view.state], [2, adopted.state]);
    checkHistory(await wholeHistory(session, next.sessions), view);
  });
});

/** A forwarder's step runs, its owner closes, the next owner puts the step in doubt and takes another one. */
async function takenOver(t: TestContext, timeoutSeconds: number) {
  const held = createHeld({ timeout_seconds: timeoutSeconds });
  const owner = await openWorkflow(t, [held.workflow]);
  const { file } = owner;
  const forwarder = await openWorkflow(t, [held.workflow], { file });
  const session = await owner.open();
  const running = forwarder.ask('slow', {}, { session });
  await eventually('the body runs', async () => held.runs.length === 1);
  await owner.close();
  const next = await openWorkflow(t, [held.workflow], { file });
  assert.equal(next.role, 'owner');
  success(await next.ask('other', {}, { session }));
  return { held, running, next, session };
}
