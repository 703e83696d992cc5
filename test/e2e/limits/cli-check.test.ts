/** `recourse check` on limits and budgets: each finding with its place, and errors stop `up`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { recourse } from '../../support/compiled-recourse.ts';
import { folder, objectsIn } from '../../support/recourse-process.ts';
import { smallServer } from '../../support/small-server.ts';

const yaml = `roles: { money: [ann] }
agents:
  bot:
    rules:
      - permit: small/echo
    limits:
      - { match: small/ecko, rate: 1/day }
      - { match: small/die, rate: 1/day }
      - { match: small/*, rate: 1/day }
    budgets:
      daily: { max: 5 USD, cost: "7.0" }
      weekly: { max: 5 USD, cost: args.amount, warn_at: 0 }
budgets:
  team: { max: 0 calls, window: total, match: "**" }
tools:
${smallServer()}`;

test('what counts nothing, what nothing passes and what always warns is told with its place', (t) => {
  const cwd = folder(t);
  writeFileSync(path.join(cwd, 'recourse.yaml'), yaml);
  assert.equal(recourse(['pin'], { cwd }).status, 0);
  const { status, stdout } = recourse(['check', '--json'], { cwd });
  assert.equal(status, 1);
  const told = objectsIn(stdout)
    .filter(({ kind }) => kind === 'policy_finding')
    .map(({ severity, code, refs }) => [severity, code, refs]);
  assert.deepEqual(told, [
    ['error', 'unmeetable_budget', ['recourse.yaml:14']],
    ['error', 'unmeetable_budget', ['recourse.yaml:11']],
    ['error', 'idle_limit', ['recourse.yaml:7']],
    ['warning', 'always_warns', ['recourse.yaml:12']],
    ['warning', 'idle_limit', ['recourse.yaml:8']],
  ]);
  const shown = recourse(['check'], { cwd }).stdout;
  assert.match(
    shown,
    /error idle_limit recourse\.yaml:7 limit small\/ecko counts nothing: there is no tool small\/ecko/,
  );
  const up = recourse(['up', '--listen', '127.0.0.1:0'], { cwd });
  assert.equal(up.status, 1);
  assert.match(up.stderr, /recourse\.yaml:11:\d+ .*unmeetable_budget: no call passes budget daily/);
});

test('approvers of spending whom nobody is are told where they are written', (t) => {
  const cwd = folder(t);
  const deferring = yaml
    .replace(/ +- \{ match: small\/(ecko|die).*\n/g, '')
    .replace('cost: "7.0" }', 'cost: "1.0", on_exceed: defer, approvers: [monney] }')
    .replace('warn_at: 0', 'on_exceed: defer, approvers: [money], needs: 2')
    .replace('0 calls', '9 calls');
  writeFileSync(path.join(cwd, 'recourse.yaml'), deferring);
  const { status, stdout } = recourse(['check', '--json'], { cwd });
  assert.equal(status, 1);
  const told = objectsIn(stdout)
    .filter(({ kind }) => kind === 'problem')
    .map(({ line, column, message, fix }) => [line, column, message, fix]);
  const [first = '', second = ''] = deferring.split('\n').slice(8, 10);
  assert.deepEqual(told, [
    [
      9,
      first.indexOf('[monney]') + 1,
      "there is no role 'monney' under roles: nobody could approve",
      'did you mean money?',
    ],
    [
      10,
      second.indexOf('needs: ') + 'needs: '.length + 1,
      '2 people must approve, and as money only 1 could: ann',
      'add people to money, or use needs: 1',
    ],
  ]);
});
