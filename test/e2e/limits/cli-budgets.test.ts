/** `recourse budgets`, `explain` and `status` beside a gateway that runs, as a person uses them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';

import type { Rung } from '../../../src/core/gates/explain.ts';
import { recourse } from '../../support/compiled-recourse.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { folder, objectsIn } from '../../support/recourse-process.ts';
import { smallServer } from '../../support/small-server.ts';

const yaml = `agents:
  bot:
    default: permit
    limits:
      - { match: small/*, rate: 2/day }
      - { match: "**", rate: 1000/second }
    budgets:
      lifetime: { max: 10 USD, window: total, cost: "4.0", warn_at: 0.3 }
      each: { max: 5 calls, window: session }
  other: { default: permit }
budgets:
  team: { max: 100 calls, window: total, agents: [other] }
tools:
${smallServer()}`;

async function open(t: TestContext) {
  const up = await startGoverned(t, yaml);
  await up.ready();
  const key = up.keyOf('bot');
  const echo = () => up.ask('/v1/calls', { key, body: { tool: 'small/echo', args: { text: 'a' } } });
  const run = (words: readonly string[]) => recourse([...words, '--url', up.url], { cwd: up.home });
  return { up, key, echo, run };
}

test('a person sees the bars, sets, resets, and is told what is wrong', async (t) => {
  const { up, key, echo, run } = await open(t);
  assert.match(run(['status']).stdout, /^ {2}budgets {2}2, 0 at or beyond their warning, 0 used up$/m);
  const { body } = await echo();
  const session = String(body['session']);
  assert.match(
    run(['status']).stdout,
    /^ {2}budgets {2}2, 1 at or beyond their warning, 0 used up: recourse budgets$/m,
  );
  assert.deepEqual(objectsIn(run(['status', '--json']).stdout)[0]?.['budgets'], { all: 2, warned: 1, used_up: 0 });
  const list = run(['budgets']);
  assert.equal(list.status, 0, list.stderr);
  assert.equal(
    list.stdout,
    `BUDGET        USED                       SPENT    HELD     LEFT       OF         RESETS
team          ░░░░░░░░░░░░░░░░░░░░   0%  0 calls  0 calls  100 calls  100 calls  never
bot/lifetime  ████████░░░░░░░░░░░░  40%  $4.00    $0.00    $6.00      $10.00     never
`,
  );
  assert.equal(run(['budgets', 'ls']).stdout, list.stdout);
  const [own, each] = objectsIn(run(['budgets', '--agent', 'bot', '--session', session, '--json']).stdout);
  assert.deepEqual([own?.['budget'], own?.['spent'], own?.['state']], ['bot/lifetime', 4, 'warned']);
  assert.deepEqual([each?.['budget'], each?.['session'], each?.['left']], ['bot/each', session, 4]);
  assert.match(run(['budgets', '--key', key]).stdout, /bot\/lifetime/);
  assert.doesNotMatch(run(['budgets', '--key', key]).stdout, /team/);
  assert.match(run(['budgets', '--agent', 'stranger']).stderr, /^no budget matches/);

  const set = run(['budgets', 'set', 'bot/lifetime', '9.50', 'USD', '--note', 'a chargeback']);
  assert.deepEqual([set.status, set.stdout], [0, 'bot/lifetime: $9.50 spent, $0.50 left of $10.00.\n'], set.stderr);
  const reset = run(['budgets', 'reset', 'bot/lifetime', '--json']);
  assert.equal(objectsIn(reset.stdout)[0]?.['left'], 10);
  const audit = recourse(['audit', 'tail', '--json', '-n', '50'], { cwd: up.home }).stdout;
  assert.equal(audit.match(/budget_changed/g)?.length, 2);

  for (const [words, status, says] of [
    [['set', 'bot/lifetime', '5', 'EUR'], 1, /the budget is in USD, not in EUR/],
    [['set', 'bot/lifetim', '5'], 1, /there is no budget 'bot\/lifetim'; did you mean bot\/lifetime\?/],
    [['set', 'bot/lifetime'], 2, /takes budget amount…, but one is there/],
    [['reset', 'bot/each'], 1, /counts by session; say which session/],
    [['reset', 'bot/lifetime', '--key', key], 1, /may not do that/],
    [['ls', '--session', 'ses_none'], 1, /session/],
  ] as const) {
    const end = run(['budgets', ...words]);
    assert.equal(end.status, status, `${words.join(' ')}: ${end.stderr}`);
    assert.match(end.stderr, says);
  }
});

test('explain shows what is left of each limit and budget, also where the gate passes', async (t) => {
  const { echo, run } = await open(t);
  const explain = (...words: readonly string[]) => run(['explain', 'small/echo', 'text=a', '--agent', 'bot', ...words]);
  const fresh = explain();
  assert.equal(fresh.status, 0, fresh.stderr);
  assert.match(
    fresh.stdout,
    /^ {2}✓ rate {8}small\/\* 2\/day: 2 left \(recourse\.yaml:5\)\n {16}\*\* 1000\/second: 1000 left \(recourse\.yaml:6\)$/m,
  );
  assert.match(
    fresh.stdout,
    /^ {2}✓ budget {6}lifetime \$10\.00: \$0\.00 spent, \$0\.00 held, \$10\.00 left, never resets \(recourse\.yaml:8\)\n {16}each 5 calls: 0 calls spent/m,
  );
  await echo();
  assert.match(explain().stdout, /lifetime \$10\.00: \$4\.00 spent, \$0\.00 held, \$6\.00 left/);
  await echo();
  const empty = explain();
  assert.equal(empty.status, 1);
  assert.match(empty.stdout, /^✗ bot → small\/echo: it would be refused, RATE_EXCEEDED$/m);
  assert.match(empty.stdout, /^ {2}✗ rate {8}small\/\* 2\/day: 0 left, frees in \d{5} s \(recourse\.yaml:5\)$/m);
  assert.match(empty.stdout, /^ {2}· budget +not asked$/m);
  // Looking takes nothing.
  const { rungs } = JSON.parse(explain('--json').stdout) as { readonly rungs: readonly Rung[] };
  const limits = rungs.find(({ gate }) => gate === 'rate')?.saw['limits'] as readonly Record<string, unknown>[];
  assert.deepEqual(
    limits.map(({ match, left }) => [match, left]),
    [
      ['small/*', 0],
      ['**', 1_000],
    ],
  );
});

test('explain without a gateway shows limits and budgets of which nothing is taken', (t) => {
  const cwd = folder(t);
  writeFileSync(path.join(cwd, 'recourse.yaml'), yaml);
  assert.equal(recourse(['pin'], { cwd }).status, 0);
  const { status, stdout, stderr } = recourse(['explain', 'small/echo', '--agent', 'bot', '--offline'], { cwd });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^ {2}✓ rate {8}small\/\* 2\/day: 2 left \(recourse\.yaml:5\)$/m);
  assert.match(stdout, /^ {2}✓ budget {6}lifetime \$10\.00: \$0\.00 spent, \$0\.00 held, \$10\.00 left, never resets/m);
});

test('explain shows when a budget resets, and that a cost that cannot be told denies before it is looked at', async (t) => {
  const up = await startGoverned(
    t,
    `agents:
  bot:
    default: permit
    budgets:
      monthly: { max: 10 USD, cost: "double(size(args.text))" }
tools:
${smallServer()}`,
  );
  await up.ready();
  const explain = (...words: readonly string[]) =>
    recourse(['explain', 'small/echo', ...words, '--agent', 'bot', '--url', up.url], { cwd: up.home });
  assert.match(
    explain('text=a').stdout,
    /✓ budget {6}monthly \$10\.00: .* \$10\.00 left, resets 20\d\d-\d\d-01T00:00:00Z \(recourse\.yaml:5\)$/m,
  );
  const over = explain('text=elevenchars');
  assert.equal(over.status, 1);
  assert.match(over.stdout, /would be refused, BUDGET_EXCEEDED/);
  const untold = explain().stdout;
  assert.match(untold, /change {2}correct the cost of the budget at recourse\.yaml:5, or send what it reads$/m);
  assert.match(untold, /✗ budget {6}monthly \$10\.00: not looked at \(recourse\.yaml:5\)$/m);
});
