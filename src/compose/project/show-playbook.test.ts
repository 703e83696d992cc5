/** The effective playbook of a project, as `recourse playbook show` prints it. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { aTool } from '../../../test/support/builders.ts';
import { folderOf } from '../../../test/support/open-gateway.ts';
import { recourse } from '../../../test/support/recourse-process.ts';
import { readConfig } from '../../config/read-config.ts';
import { recoveryText } from '../../core/recovery/playbook.ts';
import { createRecovery } from '../upstreams/tool-recovery.ts';
import { recoveryOf } from '../upstreams/tool-recovery.ts';

const yaml = `playbook:
  policy_denied: { escalate_to_human: { queue: security } }
tools:
  pay:
    mcp: { command: pay }
    playbook: { rate_limited: { retry_with_backoff: { backoff: [5s, 1800ms] } } }
    tools:
      refund: { retry: { max_attempts: 1, base: 500ms, jitter: 0 }, quarantine: 2m }
`;

function show(t: TestContext, text: string | null, ...words: string[]) {
  const cwd = folderOf(t);
  if (text !== null) writeFileSync(path.join(cwd, 'recourse.yaml'), text);
  return recourse(['playbook', 'show', ...words], { cwd });
}

test('each row says what happens, after which pauses, and which line says so', (t) => {
  const { status, stdout, stderr } = show(t, yaml, 'pay/refund');
  assert.equal(status, 0, stderr);
  const rows = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  for (const row of [
    [
      'transient_timeout (ExecutionTimeout)',
      'plain',
      'not sent again',
      'never resent: plain write whose effect is unknown',
      'recourse.yaml:8',
    ],
    ['transient_timeout (ResourceBusy)', 'plain', 'retry_with_backoff', '500 ms', 'recourse.yaml:8'],
    ['policy_denied', 'plain', 'escalate_to_human', 'queue security', 'recourse.yaml:2'],
    ['auth_expired', 'plain', 'escalate_to_human', 'queue authentication', 'default'],
    ['quarantine', '120 s (recourse.yaml:8)'],
    ['breaker', 'opens for 30 s after 5 failures in a row (default)'],
  ])
    assert.ok(
      rows.some((each) => JSON.stringify(each) === JSON.stringify(row)),
      `${row.join(' | ')}\n${stdout}`,
    );
  assert.match(stdout, /^'pay\/refund' is not in recourse\.lock/m);
});

test("a server's own schedule stands in its rows", (t) =>
  assert.match(
    show(t, yaml, 'pay/other').stdout,
    /^rate_limited +plain +retry_with_backoff +5 s, 1\.8 s ±20 % +recourse\.yaml:6$/m,
  ));

test('[C8-hashes-1] the hash is the one on record with each call', (t) => {
  const { config } = readConfig(yaml, 'recourse.yaml');
  const entry = aTool({ name: 'pay/refund', policyName: 'pay/refund' });
  const text = recoveryText(createRecovery(recoveryOf(config))(entry));
  const { hash } = JSON.parse(show(t, yaml, 'pay/refund', '--json').stdout) as { hash: string };
  assert.equal(hash, crypto.hash('sha256', text, 'hex'));
});

test('without a file the defaults are shown, and classes that agree share a row', (t) => {
  const { status, stdout } = show(t, null);
  assert.equal(status, 0);
  assert.match(stdout, /there is no recourse\.yaml here: these are the defaults/);
  assert.match(stdout, /^rate_limited +all +retry_with_backoff +5 s, 10 s, 20 s, 40 s, 80 s, 160 s ±20 % +default$/m);
  assert.match(stdout, /^hash [0-9a-f]{64}$/m);
});

const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['playbook: { cancelled: retry_with_backoff }', [], /cancelled is never retried: somebody stopped it/],
  [yaml, ['nope'], /there is no tool 'nope'/],
  [yaml, ['other/refund'], /there is no tool 'other\/refund'/],
];

for (const [text, words, message] of refused)
  test(`${words.join(' ') || text} ends with 1: ${message.source}`, (t) => {
    const { status, stderr } = show(t, text, ...words);
    assert.equal(status, 1);
    assert.match(stderr, message);
  });
