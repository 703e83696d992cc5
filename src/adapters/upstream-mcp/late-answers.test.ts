import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { createLateAnswers } from './late-answers.ts';
import { defaultMcpLimits } from './mcp-limits.ts';
import type { WireAnswer } from './wire-answer.ts';

const result: WireAnswer = { kind: 'result', result: { content: [] } };

function open(limits: Partial<typeof defaultMcpLimits> = {}) {
  const events = new EventTarget();
  const heard: string[] = [];
  const note = (what: string) => {
    heard.push(what);
    events.dispatchEvent(new Event(what));
  };
  const late = createLateAnswers({ ...defaultMcpLimits, ...limits }, () => note('empty'));
  const listen = (id: number) =>
    late.listen(
      id,
      ({ kind }) => note(`${id} ${kind}`),
      () => note(`${id} given up`),
    );
  return { late, listen, heard, events };
}

test('an answer is heard once, and only one that was asked for', () => {
  const { late, listen, heard } = open();
  listen(1);
  assert.equal(late.answer(2, result), false);
  assert.equal(late.answer(1, result), true);
  assert.equal(late.answer(1, result), false);
  assert.deepEqual(heard, ['1 result']);
});

test('a connection that broke tells nothing, and a stream that ended is not listened on', () => {
  const { late, listen, heard } = open();
  listen(1);
  listen(2);
  assert.equal(late.answer(1, { kind: 'lost', reason: 'gone', cause: 'gone' }), true);
  late.forget(2);
  assert.ok(late.isEmpty());
  assert.deepEqual(heard, []);
});

test('beyond so many the oldest is given up, and at the end all are', () => {
  const { late, listen, heard } = open({ maxLateAnswers: 2 });
  for (const id of [1, 2, 3]) listen(id);
  assert.deepEqual(heard, ['1 given up']);
  late.close();
  assert.deepEqual(heard, ['1 given up', '2 given up', '3 given up']);
});

test('after its time an answer is not listened for any more', async () => {
  const { late, listen, heard, events } = open({ lateAnswerMs: 1 });
  const over = once(events, 'empty');
  // Its own timer keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  listen(1);
  await over;
  clearInterval(alive);
  assert.deepEqual(heard, ['1 given up', 'empty']);
  assert.equal(late.answer(1, result), false);
});
