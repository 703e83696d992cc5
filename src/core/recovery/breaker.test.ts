/** When a breaker opens, refuses, tries again and closes; how a retry budget is spent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterAttempt, type Breaker, closedBreaker, passBreaker } from './breaker.ts';
import { giveTokens, maxTokens, mayTakeToken, takeToken } from './retry-budget.ts';

const rule = { failures: 3, openMs: 1_000 };

test('[C9-breaker-1] it opens after so many failures in a row, and an answer between them counts from the start', () => {
  let breaker: Breaker = closedBreaker;
  for (const answered of [false, false, true, false, false]) breaker = afterAttempt(breaker, rule, answered, 0);
  assert.deepEqual(breaker, { kind: 'closed', failures: 2 });
  assert.deepEqual(afterAttempt(breaker, rule, false, 50), { kind: 'open', untilMs: 1_050 });
});

test('[C9-breaker-1] while it is open it says how long, then lets one call through', () => {
  const open: Breaker = { kind: 'open', untilMs: 1_000 };
  assert.deepEqual(passBreaker(open, rule, 400), { kind: 'refused', retryAfterMs: 600 });
  const trial = passBreaker(open, rule, 1_000);
  assert.ok(trial.kind === 'pass' && trial.breaker.kind === 'half_open');
  assert.deepEqual(passBreaker(trial.breaker, rule, 1_500), { kind: 'refused', retryAfterMs: 500 });
  assert.deepEqual(afterAttempt(trial.breaker, rule, true, 1_200), closedBreaker);
  assert.deepEqual(afterAttempt(trial.breaker, rule, false, 1_200), { kind: 'open', untilMs: 2_200 });
  assert.equal(
    passBreaker(trial.breaker, rule, 2_000).kind,
    'pass',
    'a trial that never ended does not block for ever',
  );
});

test('[C9-tokens-1] a budget allows retries down to half, and fills by a tenth for each success', () => {
  let tokens = maxTokens;
  let retries = 0;
  for (; mayTakeToken(tokens); retries++) tokens = takeToken(tokens);
  assert.equal(retries, 5);
  for (let successes = 0; successes < 11; successes++) tokens = giveTokens(tokens);
  assert.equal(mayTakeToken(tokens), true);
  assert.equal(giveTokens(maxTokens), maxTokens);
});
