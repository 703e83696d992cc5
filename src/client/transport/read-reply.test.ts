import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorSamples, pendingSample, successSample } from '../../../test/support/reply-samples.ts';
import { readProblem } from './read-problem.ts';
import { isPending, isSuccess, readReply } from './read-reply.ts';

const samples = [successSample, pendingSample, ...Object.values(errorSamples)];

test('every reply there is can be read, and comes out as it was', () => {
  for (const sample of samples) assert.deepEqual(readReply(structuredClone(sample)), sample);
});

test('what RFC 9457 puts beside a reply is taken off', () => {
  const beside = { type: 'urn:recourse:code:X', title: 'No', status: 403, detail: 'no', instance: 'urn:x' };
  for (const sample of Object.values(errorSamples)) assert.deepEqual(readReply({ ...beside, ...sample }), sample);
});

test('each is of one sort', () => {
  assert.deepEqual([isSuccess(successSample), isPending(successSample)], [true, false]);
  assert.deepEqual([isSuccess(pendingSample), isPending(pendingSample)], [false, true]);
  for (const sample of Object.values(errorSamples)) assert.ok(!isSuccess(sample) && !isPending(sample));
});

const { denied } = errorSamples;
const without = (name: string, from: object) =>
  Object.fromEntries(Object.entries(from).filter(([key]) => key !== name));

const noReplies: readonly (readonly [string, unknown])[] = [
  ['nothing', null],
  ['a text', 'Bad Gateway'],
  ['a list', [successSample]],
  ['an empty object', {}],
  ['an error of somebody else', { error: 'upstream timeout' }],
  ['an error object of somebody else', { error: { message: 'no' } }],
  ['a success without a result', without('result', successSample)],
  ['a success without its id', without('call_id', successSample)],
  ['a success without next actions', without('valid_next_actions', successSample)],
  ['a pending that does not say for how long', without('retry_after_seconds', pendingSample)],
  ['a pending that lasts no time', { ...pendingSample, retry_after_seconds: -1 }],
  ...['class', 'code', 'message', 'call_id', 'effect', 'resolution', 'valid_next_actions', 'human_message'].map(
    (name) => [`a denial without ${name}`, without(name, denied)] as const,
  ),
  ['a denial with an effect that nobody knows', { ...denied, effect: 'perhaps' }],
  ['a denial whose advice has no type', { ...denied, resolution: {} }],
];

for (const [what, body] of noReplies) test(`${what} is no reply`, () => assert.equal(readReply(body), null));

test('names that a newer gateway may add are let through', () => {
  const newer = { ...denied, error: 'paused', code: 'LUNCH', resolution: { type: 'sing' } };
  assert.deepEqual(readReply(newer), newer);
});

test('the door is believed when it says by a code of its own that it let nothing in', () => {
  const turnedAway = {
    type: 'urn:recourse:code:Unauthenticated',
    code: 'Unauthenticated',
    title: 'No key',
    status: 401,
  };
  assert.deepEqual(readProblem(turnedAway), { code: 'Unauthenticated', words: 'No key' });
  for (const other of [{ ...turnedAway, type: 'about:blank' }, { ...turnedAway, code: 'LUNCH' }, { title: 'No key' }])
    assert.equal(readProblem(other).code, null, JSON.stringify(other));
});
