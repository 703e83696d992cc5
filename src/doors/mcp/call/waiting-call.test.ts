import assert from 'node:assert/strict';
import test from 'node:test';
import type { Reply } from '../../../core/call/reply.ts';
import { ClientUnavailable, createWaitingCall } from './waiting-call.ts';

const reply: Reply = {
  action: 'pay',
  result: {},
  state: null,
  valid_next_actions: [],
  call_id: 'call_1',
  session: 'ses_1',
  seq: 1,
};

function begun(maxOpenQuestions = 4) {
  const call = createWaitingCall(maxOpenQuestions);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  call.begin(() => promise);
  return { call, end: () => resolve(reply), fail: reject };
}

const never = new AbortController().signal;

test('a call that asks nothing has one turn: its reply', async () => {
  const { call, end } = begun();
  end();
  assert.deepEqual(await call.turn(), { kind: 'replied', reply });
  assert.equal(call.ended().aborted, true);
});

test('a question ends the turn, its answer reaches the body, and the next turn is the reply', async () => {
  const { call, end } = begun();
  const waits = call.turn();
  const answered = call.ask('elicitation/create', { message: 'milk?' }, never);
  const turn = await waits;
  assert.ok(turn.kind === 'asks');
  assert.deepEqual(turn.questions, [{ key: 'question_1', method: 'elicitation/create', params: { message: 'milk?' } }]);
  call.answer({ question_9: { action: 'cancel' }, question_1: { action: 'accept' } });
  assert.deepEqual(await answered, { action: 'accept' });
  end();
  assert.deepEqual(await call.turn(), { kind: 'replied', reply });
});

test('a question without an answer is asked again', async () => {
  const { call } = begun();
  const answered = call.ask('sampling/createMessage', {}, never);
  assert.equal((await call.turn()).kind, 'asks');
  call.answer({});
  assert.equal((await call.turn()).kind, 'asks');
  call.answer({ question_1: {} });
  await answered;
});

test('nobody waits for a client that is gone, a call that is over, or longer than the body does', async () => {
  const isUnavailable = (error: unknown) => error instanceof ClientUnavailable;
  const gone = begun();
  const asked = assert.rejects(gone.call.ask('elicitation/create', {}, never), isUnavailable);
  const ended = gone.call.ended();
  assert.equal(ended.aborted, false);
  gone.call.leave();
  await asked;
  assert.ok(ended.aborted && gone.call.ended().aborted);
  await assert.rejects(gone.call.ask('elicitation/create', {}, never), /left/);

  const over = begun();
  const open = assert.rejects(over.call.ask('elicitation/create', {}, never), isUnavailable);
  over.end();
  await open;
  await assert.rejects(over.call.ask('elicitation/create', {}, never), /over/);
  assert.equal((await over.call.turn()).kind, 'replied', 'an open question does not hide the reply');

  const impatient = begun();
  const budget = new AbortController();
  const waited = assert.rejects(impatient.call.ask('elicitation/create', {}, budget.signal), /given up/);
  budget.abort();
  await waited;
  await assert.rejects(impatient.call.ask('elicitation/create', {}, budget.signal), /given up/);
});

test('a caller who waits no longer does not end the questions that are open', async () => {
  const pending: Reply = {
    pending: true,
    call_id: 'call_1',
    requested: 'pay',
    session: 'ses_1',
    retry_after_seconds: 1,
  };
  const call = createWaitingCall(4);
  call.begin(async () => pending);
  const answered = call.ask('elicitation/create', {}, never);
  assert.equal((await call.turn()).kind, 'asks', 'a question goes before word that the call still runs');
  assert.equal(call.ended().aborted, false);
  call.answer({ question_1: { action: 'accept' } });
  assert.deepEqual(await answered, { action: 'accept' });
  assert.deepEqual(await call.turn(), { kind: 'replied', reply: pending });
  // From now on nobody comes back to this call, so that a body would wait in vain.
  await assert.rejects(call.ask('elicitation/create', {}, never), /waits for this call no longer/);
});

test('a body that asks without end is stopped at the limit', async () => {
  const { call } = begun(2);
  void call.ask('elicitation/create', {}, never).catch(() => undefined);
  void call.ask('elicitation/create', {}, never).catch(() => undefined);
  await assert.rejects(call.ask('elicitation/create', {}, never), /too many/);
});

test('a failure of the gateway reaches whoever waits', async () => {
  const { call, fail } = begun();
  fail(new Error('bug'));
  await assert.rejects(call.turn(), /bug/);
});
