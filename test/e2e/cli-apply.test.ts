/** `recourse apply`: the policy of the files is in force as a whole, or nothing has changed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type GovernedUp, startGoverned } from '../support/governed-up.ts';
import { recourse } from '../support/compiled-recourse.ts';
import { bin, exitOf, folder } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const yaml = (lines: readonly string[], more = '') => `agents:\n${rules('bot', lines)}${more}tools:\n${smallServer()}`;

/** Each on a connection of its own: this process stands still while a command runs, and a connection does not wait. */
async function codeOf(up: GovernedUp, key: string): Promise<unknown> {
  const asked = { key, body: { tool: 'small/echo' }, headers: { connection: 'close' } };
  return (await up.ask('/v1/calls', asked)).body['code'] ?? 'ran';
}

test('the process says loudly that an apply ends the enforcing, and when it begins again', async (t) => {
  const up = await startGoverned(t, yaml([]));
  await up.ready();
  const key = up.keyOf('bot');
  const apply = () => assert.equal(recourse(['apply', '--url', up.url], { cwd: up.home }).status, 0);
  const heard = (what: RegExp) => eventually(`it says ${what}`, async () => what.test(up.said()));
  up.write(`runtime: { mode: audit }\n${yaml([])}`);
  apply();
  assert.equal(await codeOf(up, key), 'ran');
  await heard(/AUDIT MODE from here on/);
  up.write(yaml([]));
  apply();
  assert.equal(await codeOf(up, key), 'POLICY_DENY');
  await heard(/policy is enforced from here on/);
  await up.stop();
});

test('what changed is told; what is wrong changes nothing', async (t) => {
  const up = await startGoverned(t, yaml([]));
  await up.ready();
  const apply = (...words: string[]) => recourse(['apply', '--url', up.url, ...words], { cwd: up.home });
  const key = up.keyOf('bot');
  const code = () => codeOf(up, key);

  const same = apply();
  assert.equal(same.status, 0, same.stderr);
  assert.match(same.stdout, /^✓ nothing changed/m);
  assert.equal(await code(), 'POLICY_DENY');

  up.write(yaml(['permit: small/echo'], rules('other', ['deny: small/*'])));
  const changed = apply();
  assert.equal(changed.status, 0, changed.stderr);
  assert.match(
    changed.stdout,
    /^ {2}~ bot {2}changed\n {6}\+ permit small\/echo \(recourse\.yaml:5\)\n {2}\+ other {2}added\n {6}1 rule, default deny\n✓ the policy is in force at /m,
  );
  assert.equal(await code(), 'ran');

  up.write(yaml(['permit: small/echo', 'dney: small/die'], 'agnts: {}\n'));
  const wrong = apply();
  assert.equal(wrong.status, 1);
  assert.equal(wrong.stderr.match(/^recourse\.yaml:\d+:\d+ error /gm)?.length, 2, wrong.stderr);
  assert.match(wrong.stderr, /✗ 2 problems: nothing was changed/);
  assert.equal(await code(), 'ran');

  // Here it holds; only the gateway knows that its servers were others.
  up.write(`agents:\n${rules('bot', [])}tools:\n${smallServer('renamed')}`);
  const fixed = apply('--json');
  assert.equal(fixed.status, 1);
  const { applied, problems } = JSON.parse(fixed.stdout) as { applied: boolean; problems: { message: string }[] };
  assert.equal(applied, false);
  assert.match(problems[0]?.message ?? '', /tools changed/);
  assert.equal(await code(), 'ran', 'a failed apply changes nothing');

  const forbidden = recourse(['apply', '--url', up.url], { cwd: up.home, env: { RECOURSE_KEY: key } });
  assert.equal(forbidden.status, 1);
  assert.match(forbidden.stderr, /This key may not do that/);
  await up.stop();
  const gone = apply();
  assert.equal(gone.status, 3);
  assert.match(gone.stderr, /nobody listens at/);
});

test('a variable that only the gateway has is left to the gateway', async (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'recourse.yaml'), 'tools: { x: { mcp: { url: "${NOWHERE_SET}" } } }\nagnts: {}\n');
  const { status, stderr } = recourse(['apply', '--url', 'http://127.0.0.1:3'], { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /✗ one problem: nothing was changed/);
  assert.match(stderr, /agnts/);
});

test('--watch applies each change that holds, and ends on Ctrl-C', async (t) => {
  const up = await startGoverned(t, yaml([]));
  await up.ready();
  const key = up.keyOf('bot');
  const code = () => codeOf(up, key);
  const child = spawn(process.execPath, [bin, 'apply', '--watch', '--url', up.url], {
    cwd: up.home,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const saying = (words: RegExp) => eventually(`it says ${words}, not ${said}`, async () => words.test(said), 60_000);
  await saying(/watching; Ctrl-C ends it[^]*nothing changed/);
  up.write(yaml(['permit: small/echo']));
  await saying(/\+ permit small\/echo/);
  assert.equal(await code(), 'ran');
  up.write(yaml(['prmit: small/echo']));
  await saying(/✗ (?:one problem|\d+ problems): nothing was changed/);
  assert.equal(await code(), 'ran');
  // As editors save: another file in the place of the old one.
  writeFileSync(join(up.home, 'next.yaml'), yaml(['deny: small/echo']));
  renameSync(join(up.home, 'next.yaml'), up.file);
  await saying(/\+ deny small\/echo/);
  assert.equal(await code(), 'POLICY_DENY');
  child.kill('SIGINT');
  assert.equal(await exitOf(child), 0);
});
