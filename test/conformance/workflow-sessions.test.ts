/** Workflow sessions: turns, sequences, reset, fork, resume, drift and limits. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { mount } from '../../src/index.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { eventually } from '../support/eventually.ts';
import { coffee, counter, createHeld } from '../support/workflows.ts';

const countOf = (reply: unknown) => (reply as { state: { context: { count: number } } }).state.context.count;

describe('steps of one session', () => {
  test('[C1-queue-1] a hundred at once all run, one after the other, and none is lost', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    const replies = await Promise.all(Array.from({ length: 100 }, () => gateway.ask('increment', {}, { session })));
    const counts = replies.map((reply) => countOf(success(reply))).sort((a, b) => a - b);
    assert.deepEqual(
      counts,
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
    assert.equal((await gateway.look(session)).seq, 100);
  });

  test('[C1-queue-2] of two that are equal and of which one is legal exactly one succeeds', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const session = await bar.open();
    const replies = await Promise.all([1, 2].map(() => bar.ask('take_order', { drink: 'latte' }, { session })));
    assert.deepEqual(replies.map((reply) => ('error' in reply ? reply.error : 'success')).sort(), [
      'invalid_transition',
      'success',
    ]);
  });

  test('[C1-queue-3] that wait too long are action_in_flight', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow], { limits: { stepQueueMs: 100 } });
    const session = await gateway.open();
    const first = gateway.ask('slow', {}, { session });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    const late = refusal(await gateway.ask('other', {}, { session }), 'action_in_flight');
    held.runs[0]?.finish('done');
    assert.equal(late.in_flight_call_id, success(await first).call_id);
    success(await gateway.ask('other', {}, { session }));
  });

  test('[C1-sequence-3] expected_seq is compared when the turn has come', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    const asked = { session, expected_seq: 0 };
    const replies = await Promise.all([1, 2, 3].map(() => gateway.ask('increment', {}, asked)));
    const codes = replies.map((reply) => ('code' in reply ? reply.code : 'success')).sort();
    assert.deepEqual(codes, ['StaleSequence', 'StaleSequence', 'success']);
  });

  test('[C1-queue-4] sessions do not wait for each other', async (t) => {
    const held = createHeld({ timeout_seconds: 30 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const one = await gateway.open();
    const two = await gateway.open();
    const waiting = gateway.ask('slow', {}, { session: one });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    success(await gateway.ask('other', {}, { session: two }));
    held.runs[0]?.finish('x');
    success(await waiting);
  });
});

describe('a session', () => {
  test('[C1-resume-1] belongs to its agent and its store: ResumeMismatch otherwise, UnknownSession for what never was', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const elsewhere = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    const told = async (reply: unknown) => {
      const { code, valid_next_actions: next } = refusal(reply as never, 'session_error');
      return [code, next];
    };
    assert.deepEqual(await told(await gateway.ask('look', {}, { session }, { agent: 'eve' })), ['ResumeMismatch', []]);
    assert.deepEqual(await told(await gateway.ask('look', {}, { session }, { tenant: 'other' })), [
      'UnknownSession',
      [],
    ]);
    assert.deepEqual(await told(await elsewhere.ask('look', {}, { session })), ['ResumeMismatch', []]);
    const nobodys = session.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    assert.deepEqual(await told(await gateway.ask('look', {}, { session: nobodys })), ['UnknownSession', []]);
    assert.deepEqual(await told(await gateway.ask('look', {}, { session: '../../etc/passwd' })), [
      'UnknownSession',
      [],
    ]);
  });

  test('[C1-resume-4] takes no step that names another workflow', async (t) => {
    const gateway = await openWorkflow(t, [counter(), coffee()]);
    const session = await gateway.open();
    for (const workflow of ['coffee', 'tea']) {
      const reply = refusal(await gateway.ask('increment', {}, { session, workflow }), 'session_error');
      assert.equal(reply.code, 'ResumeMismatch');
      assert.match(reply.message, /^session '\w+' is of another workflow than the step names; /);
    }
    assert.equal(
      countOf(success(await gateway.handleStep({ action: 'increment', session }))),
      1,
      'it need not name one',
    );
  });

  test('[C1-resume-2] goes on in a new process where it stood, with the same handle', async (t) => {
    const first = await openWorkflow(t, [coffee()]);
    const session = await first.open();
    success(await first.ask('take_order', { drink: 'latte' }, { session }));
    const before = await first.look(session);
    await first.close();
    const second = await openWorkflow(t, [coffee()], { file: first.file });
    const after = await second.look(session);
    assert.deepEqual(
      [after.state, after.seq, after.valid_next_actions],
      [before.state, before.seq, before.valid_next_actions],
    );
    success(await second.ask('pay', {}, { session }));
  });

  test('[C1-reset-1] is reset to the beginning, with its history kept', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    for (let n = 0; n < 3; n++) success(await gateway.ask('increment', {}, { session }));
    const reset = success(await gateway.sessions.reset(session));
    assert.deepEqual([reset.action, reset.session, reset.seq], ['reset_session', session, 4]);
    assert.equal(countOf(reset), 0);
    assert.equal(countOf(success(await gateway.ask('increment', {}, { session }))), 1);
    assert.deepEqual(
      (await gateway.history(session)).map(({ kind }) => kind),
      ['session_opened', 'attempt', 'attempt', 'attempt', 'session_reset', 'attempt'],
    );
  });

  test('[C1-fork-1] is forked at a past step, and both go on by themselves', async (t) => {
    const gateway = await openWorkflow(t, [counter()]);
    const session = await gateway.open();
    for (let n = 0; n < 3; n++) success(await gateway.ask('increment', {}, { session }));
    const fork = success(await gateway.sessions.fork(session, { seq: 1 }));
    assert.notEqual(fork.session, session);
    assert.equal(countOf(fork), 1);
    assert.equal(countOf(success(await gateway.ask('increment', {}, { session: fork.session ?? '' }))), 2);
    assert.equal(countOf(success(await gateway.ask('increment', {}, { session }))), 4);
    const now = success(await gateway.sessions.fork(session));
    assert.equal(countOf(now), 4);
    const never = refusal(await gateway.sessions.fork(session, { seq: 99 }), 'validation_failed');
    assert.deepEqual([never.session, never.valid_next_actions], [session, ['increment', 'look']]);
    const [opened] = await gateway.history(fork.session ?? '');
    assert.deepEqual(
      [opened?.kind, opened?.detail['from'], opened?.detail['from_step']],
      ['session_forked', session, 1],
    );
  });

  test('[C1-drift-1] whose workflow changed is ManifestDrift with what changed, until somebody accepts it', async (t) => {
    const first = await openWorkflow(t, [counter()]);
    const session = await first.open();
    success(await first.ask('increment', {}, { session }));
    await first.close();
    const changed = counter({ version: '2' });
    const second = await openWorkflow(t, [changed], { file: first.file });
    const reply = refusal(await second.ask('increment', {}, { session }), 'session_error');
    assert.deepEqual([reply.class, reply.code, reply.valid_next_actions], ['Session', 'ManifestDrift', []]);
    assert.match(reply.message, /version '1' became '2'/);
    success(await second.sessions.accept(session));
    assert.equal(countOf(success(await second.ask('increment', {}, { session }))), 2);
    assert.ok((await second.history(session)).some(({ kind }) => kind === 'session_migrated'));
  });

  test('[C1-drift-2] is carried over by a declared migration, on record', async (t) => {
    const first = await openWorkflow(t, [counter()]);
    const session = await first.open();
    success(await first.ask('increment', {}, { session }));
    await first.close();
    const migrations = { '1': ({ value }: { value: unknown }) => ({ value, context: { count: 40 } }) };
    const second = await openWorkflow(t, [counter({ version: '2', migrations })], { file: first.file });
    assert.equal(countOf(success(await second.ask('increment', {}, { session }))), 41);
    const entry = (await second.history(session)).find(({ kind }) => kind === 'session_migrated');
    assert.equal(entry?.detail['by'], 'migration');
  });

  test('[C1-refusals-1] that is refused again and again hears it more plainly, and is stopped in the end', async (t) => {
    const bar = await openWorkflow(t, [counter({ refusals: { sharpen_after: 2, stop_after: 4 } })]);
    const session = await bar.open();
    const told: string[] = [];
    for (let n = 0; n < 4; n++) told.push(refusal(await bar.ask('nothing', {}, { session }), 'unknown_action').message);
    assert.doesNotMatch(told[0] ?? '', /in a row/);
    assert.match(told[1] ?? '', /Refused 2 times in a row\. .*'increment'/);
    assert.match(told[3] ?? '', /stopped/);
    const order = await openWorkflow(t, [coffee({ refusals: { stop_after: 1 } })]);
    const last = refusal(await order.ask('pay', {}), 'invalid_transition');
    assert.doesNotMatch(last.message, /Valid actions now/);
    assert.deepEqual([last.valid_next_actions, last.resolution.type], [[], 'replan'], 'nothing is offered in it');
    const after = refusal(await bar.ask('increment', {}, { session }), 'session_error');
    assert.deepEqual([after.class, after.code], ['Workflow', 'RefusalLimit']);
    success(await bar.sessions.reset(session));
    success(await bar.ask('increment', {}, { session }));
    assert.equal((await bar.history(session)).filter(({ outcome }) => outcome === 'unknown_action').length, 4);
  });

  test('[C1-refusals-1] and is stopped is told so once: what cannot be read there counts for nothing more', async (t) => {
    const bar = await openWorkflow(t, [counter({ refusals: { sharpen_after: 2, stop_after: 2 } })]);
    const session = await bar.open();
    for (let n = 0; n < 2; n++) refusal(await bar.ask('nothing', {}, { session }), 'unknown_action');
    for (let n = 0; n < 4; n++) {
      const odd = refusal(await bar.ask('increment', {}, { session, expected_seq: -1 }), 'validation_failed');
      assert.doesNotMatch(odd.message, /in a row|is stopped now|tell the person/);
    }
    refusal(await bar.ask('increment', {}, { session }), 'session_error');
  });

  test('[C1-refusals-1] hears to change its inputs where the action itself is possible, and what else is', async (t) => {
    const input = { type: 'object', required: ['n'] };
    const bar = await openWorkflow(t, [
      counter({ refusals: { sharpen_after: 1 }, inputValidators: { look: () => 'no' } }),
    ]);
    const one = mount(createMachine({ id: 'one', initial: 'a', states: { a: { on: { go: 'a' } } } }), {
      refusals: { sharpen_after: 1 },
      actions: { go: { input, run: async () => ({}) } },
    } as never);
    const only = await openWorkflow(t, [one]);
    const messages = [await bar.ask('look', {}), await only.ask('go', {})].map(
      (reply) => refusal(reply, 'validation_failed').message,
    );
    assert.match(
      messages[0] ?? '',
      /again: change the inputs of 'look', or call another of .*, such as 'increment'\.$/,
    );
    assert.match(messages[1] ?? '', /again: change the inputs of 'go'\.$/);
  });

  test('[C1-refusals-1] hears how to begin anew where the workflow has ended', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const session = await bar.open();
    success(await bar.ask('take_order', { drink: 'latte' }, { session }));
    success(await bar.ask('cancel', {}, { session }));
    const ask = async () => refusal(await bar.ask('pay', {}, { session }), 'invalid_transition').message;
    const third = [await ask(), await ask(), await ask()].at(-1) ?? '';
    assert.match(third, /The workflow has ended: reset .* Refused 3 times in a row\.$/);
  });

  test('[C1-refusals-2] counts only refusals in a row', async (t) => {
    const bar = await openWorkflow(t, [counter({ refusals: { sharpen_after: 2, stop_after: 2 } })]);
    const session = await bar.open();
    for (let n = 0; n < 3; n++) {
      refusal(await bar.ask('nothing', {}, { session }), 'unknown_action');
      success(await bar.ask('increment', {}, { session }));
    }
  });

  test('[C1-ttl-1] that nobody used for its time to live is closed; one with a step under way is not', async (t) => {
    const clock = createShiftedClock();
    const held = createHeld({ timeout_seconds: 3_600 });
    const limits = { sessionTtlMs: 60_000, sweepEveryMs: 20 };
    const gateway = await openWorkflow(t, [held.workflow], { clock, limits });
    const idle = await gateway.open();
    const busy = await gateway.open();
    const running = gateway.ask('slow', {}, { session: busy });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    clock.forward(61_000);
    await eventually('the unused session is closed', async () => (await gateway.look(idle)).status === 'closed');
    assert.equal((await gateway.look(busy)).status, 'open');
    refusal(await gateway.ask('other', {}, { session: idle }), 'session_error');
    held.runs[0]?.finish('x');
    success(await running);
  });

  test('[C1-capacity-1] makes way for a new one when it is the longest unused; never while a step runs', async (t) => {
    const held = createHeld({ timeout_seconds: 3_600 });
    const gateway = await openWorkflow(t, [held.workflow], { limits: { maxSessions: 2 } });
    const busy = await gateway.open();
    const running = gateway.ask('slow', {}, { session: busy });
    await eventually('run 1 of the body', async () => held.runs.length === 1);
    const second = await gateway.open();
    const third = await gateway.open();
    assert.equal((await gateway.look(second)).status, 'closed');
    assert.equal((await gateway.look(third)).status, 'open');
    const also = gateway.ask('slow', {}, { session: third });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    const full = refusal((await gateway.sessions.open('held')) as never, 'session_error');
    assert.equal(full.code, 'Busy');
    assert.match(full.message, /^all 2 sessions are in use/);
    for (const run of held.runs) run.finish('x');
    success(await running);
    success(await also);
  });
});
