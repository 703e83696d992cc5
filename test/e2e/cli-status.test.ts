/** `recourse status`: beside a gateway that is ready, one that is not, somebody else, and nobody. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { runBeside } from '../support/cli-project.ts';
import { hanging, startGoverned } from '../support/governed-up.ts';
import { recourse } from '../support/compiled-recourse.ts';
import { closedPort } from '../support/http/closed-port.ts';
import { aClosedStore, folder } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

test('a gateway that is ready tells what it enforces; audit mode is loud', async (t) => {
  const agents = `agents:\n${rules('bot', ['permit: small/echo'])}`;
  const up = await startGoverned(
    t,
    `runtime: { mode: audit }\n${agents}tools:\n${smallServer()}notify: { ops: { webhook: "http://127.0.0.1:9/y", events: [POLICY_DENY] } }\n`,
  );
  await up.ready();
  const { status, stdout, stderr } = recourse(['status', '--url', up.url], { cwd: up.home });
  assert.equal(status, 0, stderr);
  assert.match(stdout, new RegExp(`^✓ ready at ${up.url}, version \\d`));
  assert.match(stdout, /^! AUDIT MODE: what policy denies is NOT stopped/m);
  assert.match(stdout, /^ {2}servers +small: connected, \d+ tools$/m);
  assert.match(stdout, /^ {2}policy +sha256 [0-9a-f]{64}\n +bot: 1 rule, default deny$/m);
  assert.match(stdout, /^ {2}calls +0 under way, 0 in doubt$/m);
  assert.match(stdout, /absent: .*credential/);
  assert.match(stdout, /recourse\.yaml:\d+ 'ops' has no secret/);
  const report = JSON.parse(recourse(['status', '--url', up.url, '--json'], { cwd: up.home }).stdout) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    [report['ready'], report['listening'], report['mode'], report['in_doubt']],
    [true, true, 'audit', 0],
  );
  assert.deepEqual(report['governed'], {
    mode: 'audit',
    ref: 'recourse.yaml:2',
    agents: [{ agent: 'bot', rules: 1, default: 'deny' }],
  });

  const agentKey = up.keyOf('bot');
  const forbidden = recourse(['status', '--url', up.url], { cwd: up.home, env: { RECOURSE_KEY: agentKey } });
  assert.equal(forbidden.status, 1);
  assert.match(forbidden.stderr, /This key may not do that/);
  const elsewhere = recourse(['status', '--url', up.url], { cwd: folder(t) });
  assert.equal(elsewhere.status, 1);
  assert.match(elsewhere.stderr, /no key was sent: there is no '.*recourse\.db\.token'/);
  for (const { stdout: out, stderr: told } of [forbidden, elsewhere])
    assert.ok(!`${out}${told}`.includes(agentKey) && !`${out}${told}`.includes(up.operatorKey()));
});

test('calls that wait for a person are told as that where nobody listens, for no start settles them', async (t) => {
  const yaml = `agents:\n${rules('bot', ['{ defer: small/echo }'])}tools:\n${smallServer()}`;
  const up = await startGoverned(t, yaml);
  await up.ready();
  const held = await up.ask('/v1/calls', { key: up.keyOf('bot'), body: { tool: 'small/echo', args: {} } });
  assert.equal(held.status, 202, JSON.stringify(held.body));
  assert.equal(await up.stop(), 0);
  const { stdout } = recourse(['status', '--url', up.url], { cwd: up.home });
  assert.match(stdout, /^ {2}unfinished +0\n {2}waiting +1 for a person: start it, then recourse approvals ls\n/m);
  const told = JSON.parse(recourse(['status', '--url', up.url, '--json'], { cwd: up.home }).stdout) as {
    readonly store: Readonly<Record<string, unknown>>;
  };
  assert.deepEqual([told.store['unfinished'], told.store['awaiting_approval']], [0, 1]);
});

test('a gateway that begins says so', async (t) => {
  const up = await startGoverned(t, hanging);
  const { status, stdout } = recourse(['status', '--url', up.url], { cwd: up.home });
  assert.deepEqual([status, stdout], [1, `✗ not ready at ${up.url}: it is starting\n`]);
});

test('where nobody listens the store is read; the address is that of the file', async (t) => {
  const { home } = await aClosedStore(t);
  const port = await closedPort();
  writeFileSync(join(home, 'recourse.yaml'), `runtime: { listen: "127.0.0.1:${port}", store: recourse.db }\n`);
  const { status, stdout } = recourse(['status'], { cwd: home });
  assert.equal(status, 1);
  assert.ok(
    stdout.startsWith(`✗ no gateway is listening at http://127.0.0.1:${port}: start it with recourse up\n`),
    stdout,
  );
  assert.match(stdout, /^ {2}last call +20\d\d-.*\n {2}unfinished +0\n {2}in doubt +0$/m);
  const told = JSON.parse(recourse(['status', '--json'], { cwd: home }).stdout) as {
    store: { file: string; in_doubt: number };
  };
  assert.deepEqual([told.store.file, told.store.in_doubt], [join(home, 'recourse.db'), 0]);

  const empty = folder(t);
  writeFileSync(join(empty, 'recourse.yaml'), `runtime: { listen: "0.0.0.0:${port}" }\n`);
  const nothing = recourse(['status'], { cwd: empty });
  assert.equal(nothing.status, 1);
  assert.ok(nothing.stdout.includes(`no gateway is listening at http://127.0.0.1:${port}:`), nothing.stdout);
  assert.match(nothing.stderr, /there is no store at/);
  writeFileSync(join(empty, 'recourse.yaml'), 'runtime: { listen: "127.0.0.1:0" }\n');
  assert.equal(recourse(['status'], { cwd: empty }).status, 2);
});

test('INVARIANT: the key beside the store goes to nobody but this machine, and is not carried on by a redirect', async (t) => {
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(307, { location: `http://localhost:${port}/stolen` }).end('<html>');
  }).listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const home = folder(t);
  writeFileSync(join(home, 'recourse.db.token'), `rk_ct9zajjrgfyphj1r_${'A'.repeat(43)}\n`, { mode: 0o600 });
  const { status, stderr } = await runBeside(['status', '--url', `http://127.0.0.1:${port}`], home);
  assert.equal(status, 1);
  assert.match(stderr, /is not a recourse gateway \(status 307\)/);
  assert.deepEqual(seen.length, 1);
  assert.match(seen[0] ?? '', /^Bearer rk_/);
  const far = await runBeside(['status', '--url', 'http://gateway.invalid:1'], home);
  assert.equal(far.status, 1);
  for (const words of [
    ['--url', 'ftp://x'],
    ['--url', 'http://ann:pw@127.0.0.1:1'],
  ])
    assert.equal(recourse(['status', ...words], { cwd: home }).status, 2);
});
