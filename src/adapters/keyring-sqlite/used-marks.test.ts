import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mark, createUsedMarks } from './used-marks.ts';

const minute = 60_000;

function collecting(outcome: () => Promise<void> = async () => undefined) {
  const written: (readonly Mark[])[] = [];
  const told: string[] = [];
  const marks = createUsedMarks(
    (batch) => {
      written.push(batch);
      return outcome();
    },
    (problem) => void told.push(problem),
  );
  return { written, told, marks };
}

test('a key is written once a minute, however often it is used, and all keys together', async () => {
  const { written, marks } = collecting();
  for (let second = 0; second < 59; second++) for (const id of ['a', 'b']) marks.note(id, 5 * minute + second * 1_000);
  await marks.flush();
  for (let second = 0; second < 59; second++) marks.note('a', 5 * minute + second * 1_000);
  await marks.flush();
  marks.note('a', 6 * minute + 1);
  await marks.flush();
  assert.deepEqual(written, [
    [
      ['a', 5 * minute],
      ['b', 5 * minute],
    ],
    [['a', 6 * minute]],
  ]);
});

test('what cannot be written is told once, until it works again', async () => {
  let works = false;
  const { told, marks } = collecting(async () => {
    if (!works) throw new Error('the disk is full');
  });
  for (const at of [1, 2, 3]) {
    marks.note('a', at * minute);
    await marks.flush();
  }
  assert.deepEqual(told, ['the disk is full']);
  works = true;
  marks.note('a', 4 * minute);
  await marks.flush();
  works = false;
  marks.note('a', 5 * minute);
  await marks.flush();
  assert.equal(told.length, 2);
});

test('what waits is bounded', async () => {
  const { written, marks } = collecting();
  for (let id = 0; id < 25_000; id++) marks.note(`k${id}`, minute);
  await marks.flush();
  assert.deepEqual(
    written.map(({ length }) => length),
    [10_000],
  );
});
