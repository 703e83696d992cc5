/** `recourse call`: one call of an agent through the real gateway, and every way in which it can come to nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Reply } from '../../src/index.ts';
import { runBeside } from '../support/cli-project.ts';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { recourse } from '../support/compiled-recourse.ts';
import { folder } from '../support/recourse-process.ts';
import { lateServer, rules, smallServer } from '../support/small-server.ts';

const agents = `agents:\n${rules('bot', ['permit: [small/echo, small/hang, small/fails]'])}`;

test('a call is made, refused, replayed, and waited for only as long as was said', async (t) => {
  const up = await startGoverned(t, `${agents}tools:\n${smallServer()}`);
  await up.ready();
  const key = up.keyOf('bot');
  const call = (words: readonly string[], env: Record<string, string> = { RECOURSE_KEY: key }) => {
    const end = recourse(['call', ...words, '--url', up.url], { cwd: up.home, env });
    assert.ok(!`${end.stdout}${end.stderr}`.includes(key), 'the key is never shown');
    return end;
  };
  const done = call(['small/echo', 'amount=5', 'who=Ann Smith']);
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /^✓ small\/echo\n {2}\{.*"arguments":\{"amount":5,"who":"Ann Smith"\}.*\n {2}call +call_/);

  const denied = call(['small/die']);
  assert.equal(denied.status, 1);
  assert.match(
    denied.stdout,
    /^✗ small\/die: denied\n {2}denied: small\/die is not in the allow list\n {2}code +Governance \/ POLICY_DENY\n {2}rule +recourse\.yaml:3$/m,
  );
  assert.match(denied.stdout, /effect +none: nothing happened/);
  assert.equal(call(['small/fails']).status, 1);

  writeFileSync(join(up.home, 'bot.key'), `${key}\n`);
  const words = ['small/echo', '{"n":1}', '--idempotency-key', 'once', '--key-file', 'bot.key', '--json'];
  const [first, second] = [call(words, {}), call(words, {})].map(({ stdout }) => JSON.parse(stdout) as Reply);
  assert.deepEqual(second, { ...first, replayed: true });

  const waiting = call(['small/hang', '--wait', '0.2']);
  assert.equal(waiting.status, 1);
  assert.match(waiting.stdout, /^… small\/hang is under way$/m);
  assert.match(waiting.stderr, /^still running: recourse calls show call_/m);

  const operator = call(['small/echo'], { RECOURSE_KEY: up.operatorKey() });
  assert.equal(operator.status, 1, 'an operator calls no tools');
  assert.match(operator.stderr, /This key may not do that/);
  const stranger = call(['small/echo'], { RECOURSE_KEY: `rk_ct9zajjrgfyphj1r_${'A'.repeat(43)}` });
  assert.equal(stranger.status, 1);
  assert.match(
    stranger.stderr,
    /the key is not known, has expired or was revoked; .*; the key was that of RECOURSE_KEY/,
  );
});

test('a command line that cannot be understood says why', (t) => {
  const cwd = folder(t);
  const env = { RECOURSE_KEY: `rk_ct9zajjrgfyphj1r_${'A'.repeat(43)}` };
  const wrong: readonly (readonly [words: readonly string[], status: number, says: RegExp])[] = [
    [['call'], 2, /'call' takes tool \[args…\], but none is there/],
    [['call', 'x', 'hello'], 2, /'hello' is neither a JSON object nor name=value/],
    [['call', 'x', '--wait', 'long'], 2, /--wait is a number of seconds/],
    [['call', 'x', '--wait', '3601'], 2, /--wait is a number of seconds/],
  ];
  for (const [words, status, says] of wrong) {
    const end = recourse(words, { cwd, env });
    assert.equal(end.status, status, end.stderr);
    assert.match(end.stderr, says);
  }
  const nobody = recourse(['call', 'x'], { cwd });
  assert.equal(nobody.status, 1);
  assert.match(nobody.stderr, /a call needs the key of an agent/);
});

/** Counts who comes, and hands everything on. */
async function aGate(t: TestContext, url: string) {
  let came = 0;
  const { hostname, port } = new URL(url);
  const server = createServer((socket) => {
    came += 1;
    const on = connect(Number(port), hostname);
    for (const each of [socket, on]) each.on('error', () => undefined);
    socket.pipe(on).pipe(socket);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came: () => came };
}

test('a gateway that begins is waited for, within the time', async (t) => {
  const gate = join(folder(t), 'gate');
  const up = await startGoverned(t, `${agents}tools:\n${lateServer(gate)}`);
  const key = up.keyOf('bot');
  writeFileSync(join(up.home, 'bot.key'), key);
  const words = ['call', 'small/echo', '--key-file', 'bot.key', '--json'];
  const atOnce = recourse([...words, '--url', up.url, '--wait', '0'], { cwd: up.home });
  assert.equal(atOnce.status, 1, atOnce.stderr);
  assert.equal((JSON.parse(atOnce.stdout) as { code: string }).code, 'DAEMON_NOT_READY');
  const between = await aGate(t, up.url);
  const waited = runBeside([...words, '--url', between.url, '--wait', '60'], up.home);
  await eventually('it asked too early', async () => between.came() > 0);
  writeFileSync(gate, '');
  const { status, stdout, stderr } = await waited;
  assert.equal(status, 0, stderr);
  assert.equal((JSON.parse(stdout) as { action: string }).action, 'small/echo');
});

test('an answer that was lost leaves a key to ask again with; nobody at all is told from that', async (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'bot.key'), `rk_ct9zajjrgfyphj1r_${'A'.repeat(43)}`);
  let sent = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      sent += chunk.toString();
      if (sent.includes('"key"')) socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const words = ['call', 'pay', '--url', url, '--key-file', 'bot.key'];
  const lost = await runBeside(words, cwd);
  assert.equal(lost.status, 3);
  assert.match(lost.stderr, /did not answer: the connection was lost\nthe call may have run\./);
  const told = /--idempotency-key (cli_\S+)/.exec(lost.stderr)?.[1];
  assert.equal(sent.match(/POST \/v1/g)?.length, 1, 'it was not asked twice');
  assert.ok(sent.includes(`"key":"${told}"`));
  server.close();
  await once(server, 'close');
  const nobody = recourse(words, { cwd });
  assert.equal(nobody.status, 3);
  assert.match(nobody.stderr, /no gateway is listening at/);
  assert.doesNotMatch(nobody.stderr, /may have run/);
});
