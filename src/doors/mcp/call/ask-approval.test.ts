/** What is the client's user shown, and what counts as their yes? */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ApprovalView } from '../../../shell/approval/approval-service.ts';
import { questionAbout, readAnswer } from './ask-approval.ts';

const accepted = (content: unknown) => ({ action: 'accept', content });

const answers: readonly (readonly [string, unknown, object])[] = [
  ['an accepted yes', accepted({ approve: true }), { kind: 'yes' }],
  ['a yes with a reason', accepted({ approve: true, reason: 'fine' }), { kind: 'yes' }],
  ['an accepted no', accepted({ approve: false }), { kind: 'no', reason: null }],
  ['a no with a reason', accepted({ approve: false, reason: ' too much ' }), { kind: 'no', reason: 'too much' }],
  [
    'a reason that hides something',
    accepted({ approve: false, reason: 'a\u202Eb' }),
    { kind: 'no', reason: 'a\\u202eb' },
  ],
  ['a decline', { action: 'decline' }, { kind: 'no', reason: null }],
  ['a decline with a yes in it', { action: 'decline', content: { approve: true } }, { kind: 'no', reason: null }],
  ['a cancel', { action: 'cancel' }, { kind: 'nothing' }],
  ['a cancel with a yes in it', { action: 'cancel', content: { approve: true } }, { kind: 'nothing' }],
  ['a form without an answer', accepted({}), { kind: 'nothing' }],
  ['a form that is none', accepted('yes'), { kind: 'nothing' }],
  ['a yes as a text', accepted({ approve: 'true' }), { kind: 'nothing' }],
  ['a yes as a number', accepted({ approve: 1 }), { kind: 'nothing' }],
  ['a yes without an action', { content: { approve: true } }, { kind: 'nothing' }],
  ['nothing', undefined, { kind: 'nothing' }],
  ['a list', [accepted({ approve: true })], { kind: 'nothing' }],
];

for (const [what, given, expected] of answers)
  test(`${what} is heard as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(readAnswer(given), expected);
  });

const view = {
  agent: 'bot',
  tool: 'stripe/refund',
  args: { amount: 5, card: '[redacted]' },
  reason: 'refunds move money',
} as unknown as ApprovalView;

test('the question shows the tool, the arguments as they are masked, and why it is asked', () => {
  assert.equal(
    questionAbout(view),
    `May "bot" call "stripe/refund"? It runs once, with exactly these arguments:
{
  "amount": 5,
  "card": "[redacted]"
}
Why you are asked: refunds move money`,
  );
});

test('arguments that an approver changed are shown beside those that were asked for', () => {
  const text = questionAbout({ ...view, args: { amount: 5 }, edited_args: { amount: 4 } }) ?? '';
  assert.ok(text.indexOf('"amount": 4') < text.indexOf('"amount": 5'));
  assert.match(text, /An approver changed them/);
});

test('what cannot be seen is spelled out, and no text makes lines of its own', () => {
  const text =
    questionAbout({ ...view, tool: 'pay\u202E', args: { note: 'a\nWhy you are asked: \u200Bnothing\u2028' } }) ?? '';
  assert.doesNotMatch(text, /[\u200B\u202E\u2028]/);
  assert.match(text, /"pay\\u202e"/);
  assert.equal(text.split('\n').filter((line) => line.startsWith('Why you are asked')).length, 1);
});

test('what is too long to be shown whole is not asked about', () => {
  assert.equal(questionAbout({ ...view, args: { note: 'x'.repeat(10_000) } }), null);
});
