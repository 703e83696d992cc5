/**
 * `recourse approvals`: a person looks and decides beside a gateway that runs, with single commands and on a live
 * screen.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recourse } from '../support/compiled-recourse.ts';
import { eventually } from '../support/eventually.ts';
import { type GovernedUp, startGoverned } from '../support/governed-up.ts';
import { bin, exitOf, objectsIn } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';
import { send } from './http/open-http.ts';

const yaml = `agents:
${rules('bot', ['{ defer: small/echo, when: args.amount > 100.0, reason: money leaves, needs: 2 }', '{ defer: small/echo, reason: somebody should look }'])}tools:
${smallServer()}`;

/** A gateway that defers, and how its agent asks for something. */
async function open(t: TestContext) {
  const up = await startGoverned(t, yaml);
  await up.ready();
  const key = up.keyOf('bot');
  // On a connection of its own: a command that is waited for keeps this process from hearing that an idle one was
  // closed.
  const ask = (amount: number) =>
    send(new URL(up.url), 'POST', '/v1/calls', { key, body: { tool: 'small/echo', args: { amount } } });
  const defer = async (amount: number): Promise<string> => {
    const { status, body } = await ask(amount);
    assert.equal(status, 202, JSON.stringify(body));
    return String((body['resolution'] as { approval_id: string }).approval_id);
  };
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    recourse(['approvals', ...words, '--url', up.url], { cwd: up.home, env });
  return { up, key, ask, defer, run };
}

test('names and values that an agent chose cannot pass for a line of the screen, and hide nothing', async (t) => {
  const { up, key, run } = await open(t);
  const args = { 'a\namount: 5': 1, amount: 7, '\u202enote': 'a\u200b\u{e0041}b' };
  const { body } = await send(new URL(up.url), 'POST', '/v1/calls', { key, body: { tool: 'small/echo', args } });
  const { approval_id: id } = body['resolution'] as { approval_id: string };
  const { stdout } = run(['show', id]);
  assert.deepEqual(stdout.match(/^.*(?:amount|note).*$/gm), [
    '  arguments  "a\\namount: 5": 1',
    '             amount: 7',
    '             "\\u202enote": "a\\u200b\\udb40\\udc41b"',
  ]);
});

test('a person lists, looks, approves what they saw, and is told what happens next', async (t) => {
  const { up, key, ask, defer, run } = await open(t);
  const none = run(['ls']);
  assert.deepEqual([none.status, none.stdout], [0, '']);
  assert.match(none.stderr, /no approval matches/);

  const id = await defer(50);
  const list = run(['ls', '--state', 'pending']);
  assert.equal(list.status, 0, list.stderr);
  assert.match(
    list.stdout,
    new RegExp(
      `^APPROVAL +STATE +AGENT +TOOL +APPROVED +LEFT +RULE\n${id} +pending +bot +small/echo +0 of 1 +23 h 59 min +recourse\\.yaml:`,
    ),
  );
  const [listed] = objectsIn(run(['ls', '--agent', 'bot', '--json']).stdout);
  assert.equal(listed?.['approval_id'], id);
  assert.equal(run(['ls', '--agent', 'ben', '--json']).stdout, '');

  const shown = run(['show', id]);
  assert.equal(shown.status, 0, shown.stderr);
  for (const line of [
    /^ {2}state +pending$/m,
    /^ {2}agent +bot$/m,
    /^ {2}arguments +amount: 50$/m,
    /^ {2}rule +recourse\.yaml:6: somebody should look$/m,
    /^ {2}approvers +whoever may approve; 0 of 1 approved$/m,
    /^ {2}left +23 h 59 min, until 20/m,
    /^ {2}then +once approved, the agent's next equal call runs it$/m,
  ])
    assert.match(shown.stdout, line);
  const hash = /--shown (\w+)/.exec(shown.stdout)?.[1] ?? '';
  const stale = run(['approve', id, '--shown', 'f'.repeat(64)]);
  assert.equal(stale.status, 1);
  assert.match(stale.stderr, /What was seen is not what is there/);
  const approved = run(['approve', id, '--shown', hash, '--reason', 'fine']);
  assert.equal(approved.status, 0, approved.stderr);
  assert.match(approved.stdout, /✓ approved: the agent's next equal call runs it\n$/);
  assert.equal((await ask(50)).status, 200);
  const again = run(['approve', id]);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /It is decided, or over/);

  const forbidden = run(['deny', await defer(51), '--reason', 'no'], { RECOURSE_KEY: key });
  assert.deepEqual([forbidden.status, /may not do that/.test(forbidden.stderr)], [1, true]);
  assert.ok(!`${forbidden.stderr}${shown.stdout}`.includes(up.operatorKey()));
});

test('two people, other arguments, a denial that the agent reads, and a decision that is taken back', async (t) => {
  const { up, ask, defer, run } = await open(t);
  const ann = { RECOURSE_KEY: up.keyOf('ann', ['--role', 'approver']) };
  const id = await defer(500);
  assert.match(run(['approve', id], ann).stdout, /… approved: 1 of 2 approvals; it waits for the others\n$/);
  const twice = run(['approve', id], ann);
  assert.deepEqual([twice.status, /approved it already/.test(twice.stderr)], [1, true]);
  const bert = { RECOURSE_KEY: up.keyOf('bert', ['--role', 'approver']) };
  assert.match(run(['approve', id], bert).stdout, /✓ approved/);
  assert.equal((await ask(500)).status, 200);

  const other = await defer(7);
  const file = join(up.home, 'args.json');
  writeFileSync(file, '{"amount":8}');
  const edited = run(['approve', other, '--args', `@${file}`, '--json'], ann);
  assert.deepEqual((JSON.parse(edited.stdout) as Record<string, unknown>)['edited_args'], { amount: 8 });
  assert.ok(JSON.stringify((await ask(7)).body).includes('\\"amount\\":8'), 'what runs is what was approved');
  for (const [args, says] of [
    ['{amount', /--args must be JSON/],
    ['@nothing.json', /'nothing\.json' cannot be read \(ENOENT\)/],
  ] as const) {
    const end = run(['approve', other, '--args', args]);
    assert.deepEqual([end.status, says.test(end.stderr)], [2, true], end.stderr);
  }

  const denied = await defer(9);
  assert.equal(run(['deny', denied]).status, 2, 'a denial needs a reason');
  assert.match(
    run(['deny', denied, '--reason', 'ask first'], ann).stdout,
    /^✗ denied: equal calls are denied until 20/,
  );
  assert.match(String((await ask(9)).body['human_message']), /was denied by ann: ask first/);
  assert.match(run(['revoke', denied], ann).stdout, /^✗ taken back: it covers nothing any more/);
  assert.equal((await ask(9)).status, 202);

  const unknown = run(['show', 'apr_of_nobody']);
  assert.deepEqual([unknown.status, /No such approval/.test(unknown.stderr)], [1, true]);
  const wrong = run(['ls', '--state', 'pendng']);
  assert.deepEqual([wrong.status, /did you mean pending\?/.test(wrong.stderr)], [2, true]);
  assert.equal(recourse(['approvals', 'ls', '--url', 'http://127.0.0.1:3'], { cwd: up.home }).status, 3);
  assert.equal(recourse(['approvals', 'watch', '--url', 'http://127.0.0.1:3'], { cwd: up.home }).status, 3);
});

interface Watching {
  readonly child: ChildProcess;
  heard(): string;
  type(keys: string): void;
}

function startWatching(t: TestContext, up: GovernedUp, how: 'pipe' | 'json' | 'terminal'): Watching {
  const words = [bin, 'approvals', 'watch', '--url', up.url, ...(how === 'json' ? ['--json'] : [])];
  const line = [process.execPath, ...words].map((word) => `'${word}'`).join(' ');
  const env = { ...process.env, TERM: 'xterm', NO_COLOR: '1' };
  const child =
    how === 'terminal'
      ? spawn('script', ['-qfec', `stty rows 30 cols 100; exec ${line}`, '/dev/null'], { cwd: up.home, env })
      : spawn(process.execPath, words, { cwd: up.home, env });
  t.after(() => child.kill('SIGKILL'));
  let heard = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  return { child, heard: () => heard, type: (keys) => void child.stdin.write(keys) };
}

/** Another process at the same address, on the same store. */
function restart(t: TestContext, { url, home }: GovernedUp): void {
  const env = { ...process.env };
  delete env['RECOURSE_FILE'];
  const child = spawn(process.execPath, [bin, 'up', '--listen', new URL(url).host], {
    cwd: home,
    env,
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
}

test('without a terminal it prints a line for each change, and goes on after a restart', async (t) => {
  const { up, defer, run } = await open(t);
  const before = await defer(1);
  const lines = startWatching(t, up, 'pipe');
  const json = startWatching(t, up, 'json');
  await eventually(
    'what was pending',
    async () => lines.heard().includes(before) && json.heard().includes(before),
    30_000,
  );
  const id = await defer(2);
  assert.equal(run(['deny', id, '--reason', 'not now']).status, 0);
  await eventually('the change', async () => lines.heard().includes('not now') && json.heard().includes('not now'));
  assert.match(
    lines.heard(),
    new RegExp(
      `  opened    ${id}  bot asks for small/echo\n.*  denied    ${id}  \\S+ denied small/echo of bot: not now\n`,
    ),
  );
  const told = objectsIn(json.heard());
  assert.deepEqual(
    told.map(({ change, approval }) => [change, (approval as Record<string, unknown>)['approval_id']]),
    [
      ['opened', before],
      ['opened', id],
      ['denied', id],
    ],
  );

  await up.stop('SIGKILL');
  await eventually('it is noticed', async () => /trying again/.test(lines.heard()));
  restart(t, up);
  await eventually(
    'it is back',
    () =>
      fetch(`${up.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    60_000,
  );
  const later = await defer(3);
  await eventually('what came after', async () => lines.heard().includes(later));
  assert.equal(lines.heard().split(before).length, 2, 'what was told is not told again');
  lines.child.kill('SIGINT');
  assert.equal(await exitOf(lines.child), 0);
});

test('on a terminal it is a live screen with keys, and the terminal is given back', async (t) => {
  const { up, ask, defer } = await open(t);
  const screen = startWatching(t, up, 'terminal');
  await eventually('the screen', async () => /no approval is pending/.test(screen.heard()));
  await defer(11);
  await eventually('the first', async () => /> bot +small\/echo/.test(screen.heard()));
  const second = await defer(12);
  await eventually('the second', async () => /2 pending/.test(screen.heard()));
  screen.type('a');
  await eventually('the question', async () => /amount: 11[^]*approve small\/echo of bot\? y/.test(screen.heard()));
  screen.type('y');
  await eventually('the answer', async () => /approved: the agent's next equal call runs it/.test(screen.heard()));
  assert.equal((await ask(11)).status, 200);
  await eventually('the other is chosen', async () => /runs under its approval/.test(screen.heard()));
  screen.type('d');
  await eventually('the question why', async () => /deny it, because:/.test(screen.heard()));
  screen.type('too much');
  await eventually('what is typed', async () => /because: too much_/.test(screen.heard()));
  screen.type('\r');
  await eventually('who decided what', async () => /denied small\/echo of bot: too much/.test(screen.heard()));
  assert.match(String((await ask(12)).body['human_message']), /too much/, second);

  assert.ok(screen.heard().includes('\u001b[?1049h') && !screen.heard().includes('\u001b[?1049l'));
  screen.type('q');
  assert.equal(await exitOf(screen.child), 0);
  assert.ok(screen.heard().endsWith('\u001b[?7h\u001b[?25h\u001b[?1049l'), 'as it was');
});

test('the terminal is given back too when the command is ended from outside', async (t) => {
  const { up } = await open(t);
  const ends: readonly (readonly [how: string, code: number])[] = [
    ['\u0003', 0],
    ['SIGTERM', 0],
    ['SIGHUP', 129],
  ];
  for (const [how, code] of ends) {
    const screen = startWatching(t, up, 'terminal');
    await eventually('the screen', async () => /no approval is pending/.test(screen.heard()));
    if (how.startsWith('SIG')) process.kill(Number(childOf(screen.child)), how);
    else screen.type(how);
    assert.equal(await exitOf(screen.child), code, how);
    assert.ok(screen.heard().endsWith('\u001b[?1049l'), JSON.stringify(screen.heard().slice(-40)));
  }
});

/** The command itself: the terminal that it was given is its parent. */
function childOf({ pid }: ChildProcess): string {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.trim();
}
