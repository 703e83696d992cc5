/** What the file may say about tickets, and what follows where it says nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defaultTicketRules, mayAnswer, termsOf } from '../../core/ticket/terms.ts';
import { readConfig } from '../read-config.ts';

const read = (text: string) => readConfig(text, 'recourse.yaml');
const hour = 3_600_000;

test('without the section the defaults hold: 4 hours, 7 days, and a doubt never ends by itself', () => {
  assert.deepEqual(read('agents: {}\n').config.tickets, defaultTicketRules);
  const { all, queues } = defaultTicketRules;
  assert.deepEqual([all.dueMs, all.expiresMs, all.client], [4 * hour, 7 * 24 * hour, false]);
  assert.deepEqual([queues['in_doubt']?.dueMs, queues['in_doubt']?.expiresMs], [4 * hour, null]);
});

test('[C5-queue-2] a queue says what differs, and who answers it', () => {
  const text = `tickets:
  due: 2h
  expires: 3d
  queues:
    policy_review: { due: 1h, who: [risk, ann] }
    in_doubt: { expires: never }
`;
  const { config, problems } = read(text);
  assert.deepEqual(problems, []);
  const review = termsOf('policy_review', config.tickets);
  assert.deepEqual([review.dueMs, review.expiresMs], [hour, 72 * hour]);
  assert.deepEqual(
    [termsOf('other', config.tickets).dueMs, termsOf('toString', config.tickets).dueMs],
    [2 * hour, 2 * hour],
  );
  const roles = { risk: ['bob'] };
  assert.deepEqual(
    ['ann', 'bob', 'carl'].map((name) => mayAnswer(review, name, roles)),
    [true, true, false],
  );
});

const wrong: readonly (readonly [string, string, RegExp])[] = [
  ['a duration that is none', 'tickets: { due: soon }', /due/],
  ['an unknown key', 'tickets: { overdue: 1h }', /overdue/],
  ['an end before it is overdue', 'tickets: { due: 2d, expires: 1d }', /end before it is overdue/],
  ['nobody who answers', 'tickets: { queues: { money: { who: [] } } }', /who/],
];
for (const [what, text, expected] of wrong)
  test(`${what} is a problem`, () => {
    const { problems } = read(`${text}\n`);
    assert.match(JSON.stringify(problems), expected);
  });
