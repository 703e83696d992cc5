/** `recourse apply`: the policy of the files is in force as a whole, or nothing has changed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type GovernedUp, startGoverned } from '../support/governed-up.ts';
import { recourse } from '../support/compiled-recourse.ts';
import { bin, exitOf, folder, objectsIn } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';
import { send } from './http/open-http.ts';

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
    /^ {2}~ bot {2}changed\n {6}! weaker: \+ permit small\/echo \(recourse\.yaml:5\)\n {2}\+ other {2}added\n {6}1 rule, default deny\n✓ the policy is in force at /m,
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
  assert.match(gone.stderr, /no gateway is listening at/);
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
  const saying = (words: RegExp) => eventually(`it says ${words}, not ${said}`, async () => words.test(said));
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
  await saying(/deny small\/echo: effect: permit → deny/);
  assert.equal(await code(), 'POLICY_DENY');
  child.kill('SIGINT');
  assert.equal(await exitOf(child), 0);
});

test('what weakens how people are asked is told first, and marked, also for programs', async (t) => {
  const asks = (more: string) => `roles: { finance: [ann], legal: [eve] }\n${yaml([`{ defer: small/echo, ${more} }`])}`;
  const up = await startGoverned(t, asks('needs: 2, expires: 1h, reason: money leaves'));
  await up.ready();
  const apply = (...words: string[]) => recourse(['apply', '--url', up.url, ...words], { cwd: up.home });
  up.write(asks('needs: 1, expires: 2d, on_approve: run, client_may_approve: true, reason: money'));
  const changed = apply();
  assert.equal(changed.status, 0, changed.stderr);
  const place = 'defer small/echo: ';
  assert.deepEqual(
    changed.stdout.split('\n').slice(0, 6).toSorted(),
    [
      '      ! weaker: defer small/echo: client_may_approve: false → true (recourse.yaml:6)',
      '      ! weaker: defer small/echo: expires: 1h → 2d (recourse.yaml:6)',
      '      ! weaker: defer small/echo: needs: 2 → 1 (recourse.yaml:6)',
      '      ! weaker: defer small/echo: on_approve: wait → run (recourse.yaml:6)',
      `      ${place}reason: money leaves → money (recourse.yaml:6)`,
      '  ~ bot  changed',
    ].toSorted(),
  );
  assert.match(changed.stdout.split('\n')[5] ?? '', /reason/, 'what weakens comes first');
  up.write(
    asks('needs: 1, expires: 2d, on_approve: run, client_may_approve: true, reason: money').replace(
      '[ann]',
      '[ann, bob]',
    ),
  );
  const { changes } = JSON.parse(apply('--json').stdout) as { changes: unknown };
  assert.deepEqual(changes, [
    { change: 'changed', agent: null, details: [{ says: 'roles: finance: ann → ann, bob', direction: 'weaker' }] },
  ]);
  await up.stop();
});

test('a strict deferral that goes is told as weaker, and a condition that changes as what may be weaker', async (t) => {
  const lax = '{ defer: small/**, client_may_approve: true, expires: 30d }';
  const strict = (when: string) => yaml([`{ defer: small/echo, needs: 2, expires: 1h${when} }`, lax]);
  const up = await startGoverned(t, strict(', when: "tool.reach == \'network\'"'));
  await up.ready();
  const apply = (text: string) => {
    up.write(text);
    const { status, stdout, stderr } = recourse(['apply', '--url', up.url], { cwd: up.home });
    assert.equal(status, 0, stderr);
    return stdout.split('\n')[1];
  };
  assert.match(
    apply(strict(', when: "tool.reach == \'destructive\'"')) ?? '',
    /^ {6}! may be weaker: defer small\/echo: when: tool\.reach == .*network.* → tool\.reach == .*destructive/,
  );
  apply(strict(''));
  assert.equal(apply(yaml([lax])), '      ! weaker: - defer small/echo needs 2 expires 1h');
  await up.stop();
});

test('what check calls an error stops an apply, unless it is forced, which is on record and in status', async (t) => {
  const up = await startGoverned(t, yaml(['permit: small/echo']));
  await up.ready();
  const run = (...words: string[]) => recourse([...words, '--url', up.url], { cwd: up.home });
  const key = up.keyOf('bot');
  // Each on a connection of its own: while a command is waited for, nobody here hears that an idle one was closed.
  const ask = (method: string, at: string, body?: unknown) =>
    send(new URL(up.url), method, at, { key: up.operatorKey(), ...(body === undefined ? {} : { body }) });
  // The first rule shadows the second; the third is for no tool that the server lists.
  for (const [lines, says] of [
    [['permit: small/**', 'deny: small/echo'], /shadowed_rule: deny small\/echo/],
    [
      ['deny: small/ecko', 'permit: small/**'],
      /unknown_tool: deny small\/ecko is for nothing.*\n {2}fix did you mean small\/echo\?/,
    ],
  ] as const) {
    up.write(yaml(lines));
    const refused = run('apply');
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, says);
    assert.match(refused.stderr, /✗ .*nothing was changed; recourse apply --force/);
    const { body, status } = await ask('POST', '/v1/policy/apply', {});
    assert.deepEqual([status, body['forcible']], [422, true]);
  }
  const before = (await ask('GET', '/v1/status')).body;
  assert.deepEqual(before['forced'], []);
  const forced = run('apply', '--force');
  assert.equal(forced.status, 0, forced.stderr);
  assert.match(forced.stderr, /^FORCED recourse\.yaml:\d+ unknown_tool/m);
  const ran = await send(new URL(up.url), 'POST', '/v1/calls', { key, body: { tool: 'small/echo' } });
  assert.equal(ran.status, 200, ran.text);
  assert.match(run('status').stdout, /^ {2}forced +recourse\.yaml:\d+ unknown_tool/m);
  up.write(yaml(['permit: small/echo']));
  assert.equal(run('apply').status, 0);
  assert.doesNotMatch(run('status').stdout, /forced/);
  const records = recourse(['audit', 'tail', '--lines', '50', '--json'], { cwd: up.home }).stdout;
  const applied = objectsIn(records).filter(({ kind }) => kind === 'policy_applied');
  const bodies = applied.map(({ body }) => body as { forced?: boolean; problems?: readonly string[] });
  assert.deepEqual(
    bodies.map(({ forced: is }) => is ?? false),
    [true, false],
  );
  assert.match(bodies[0]?.problems?.[0] ?? '', /unknown_tool/);
  await up.stop();
});

/** A gateway in whose place others are started, with one who asks and one who approves. */
async function restartable(t: TestContext) {
  const defers = yaml(['defer: small/echo']);
  let up = await startGoverned(t, defers);
  await up.ready();
  const [key, ann] = [up.keyOf('bot'), up.keyOf('ann', ['--role', 'approver'])];
  return {
    defers,
    code: () => codeOf(up, key),
    async approved(): Promise<string> {
      const { body } = await up.ask('/v1/calls', { key, body: { tool: 'small/echo' } });
      assert.equal(body['code'], 'POLICY_DEFER', JSON.stringify(body));
      const id = (body['resolution'] as { approval_id: string }).approval_id;
      assert.equal((await up.ask(`/v1/approvals/${id}/approve`, { key: ann, body: {} })).status, 200);
      return id;
    },
    stateOf: async (id: string) => (await up.ask(`/v1/approvals/${id}`, { key: ann })).body['state'],
    apply(text: string): void {
      up.write(text);
      assert.equal(recourse(['apply', '--url', up.url], { cwd: up.home }).status, 0);
    },
    async restart(text: string): Promise<void> {
      await up.stop();
      up = await startGoverned(t, text, [], up.home);
      await up.ready();
    },
    stop: () => up.stop(),
  };
}

test('an approval from before its rule became deny stays void when the rule comes back, also over a restart', async (t) => {
  const { defers, approved, apply, restart, code, stop } = await restartable(t);
  const denies = yaml(['deny: small/echo']);
  const one = await approved();
  apply(denies);
  apply(defers);
  const two = await approved();
  assert.notEqual(two, one);
  await restart(denies);
  await restart(defers);
  assert.notEqual(await approved(), two);
  assert.equal(await code(), 'ran');
  await stop();
});

test('an approval from before its agent was deleted is void at the start, and stays so when the agent comes back', async (t) => {
  const { defers, approved, stateOf, restart, code, stop } = await restartable(t);
  const tools = `tools:\n${smallServer()}`;
  for (const [without, answers] of [
    [`agents:\n${rules('other', [])}${tools}`, 'POLICY_DENY'],
    [tools, 'ran'],
  ] as const) {
    const id = await approved();
    await restart(without);
    assert.equal(await stateOf(id), 'void');
    assert.equal(await code(), answers);
    await restart(defers);
    assert.equal(await stateOf(id), 'void');
    assert.equal(await code(), 'POLICY_DEFER');
  }
  await stop();
});
