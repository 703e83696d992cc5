/** `recourse up` as people run it: real servers behind one address, and the official client in front of it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isSuccess } from '../../src/index.ts';
import { barProject, isAlive, strayModule } from '../support/cli-project.ts';
import { eventually } from '../support/eventually.ts';
import { connectHttp } from '../support/mcp-connect.ts';
import { bin, exitOf, objectsIn, recourse, storeIn } from '../support/recourse-process.ts';
import { realProgram } from '../support/upstream-mcp.ts';

const node = JSON.stringify(process.execPath);
const everything = `tools:
  everything:
    mcp: { command: ${node}, args: [${JSON.stringify(realProgram('everything'))}, stdio] }
`;
const broken = '  broken:\n    mcp: { command: a-program-that-is-not-there }\n';
const complaining = `  complaining:\n    mcp: { command: ${node}, args: ["-e", "throw new Error('SHOP_TOKEN is not set')"] }\n`;
const hanging = `  hanging:\n    mcp: { command: ${node}, args: ["-e", "setInterval(() => 0, 1000)"] }\n`;
const adding = `  adding:
    initial: idle
    actions: { add: { tool: everything/get-sum, effect: pure } }
    states: { idle: { on: { add: done } }, done: { type: final } }
`;

function startUp(t: TestContext, home: string, words: readonly string[] = []) {
  const child = spawn(process.execPath, [bin, 'up', '--listen', '127.0.0.1:0', '--agent', 'local', ...words], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const saying = (words: RegExp) =>
    eventually(`up says ${words}`, async () => {
      if (child.exitCode !== null) throw new Error(`up has ended: ${said.stdout}${said.stderr}`);
      return words.exec(said.stdout);
    });
  const address = async () => (await saying(/^recourse is starting at (http:\S+)$/m))[1] ?? '';
  return { child, said, saying, address, ready: () => saying(/^Ctrl-C lets running calls end/m) };
}

async function get(url: string, key?: string) {
  const response = await fetch(url, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('every tool at /mcp, each workflow at its own path, and a server that fails by itself', async (t) => {
  const { home } = barProject(t);
  writeFileSync(
    join(home, 'recourse.yaml'),
    `${everything}${broken}${complaining}workflows:\n  bar: ./bar.ts\n${adding}`,
  );
  const up = startUp(t, home);
  const url = await up.address();
  await up.ready();
  assert.match(up.said.stdout, /^store \/.*recourse\.db, as its owner$/m);
  assert.match(up.said.stdout, /^✓ everything {3}\d+ tools$/m);
  assert.match(
    up.said.stdout,
    /^✗ broken {7}the command 'a-program-that-is-not-there' cannot be started: ENOENT; it is tried again$/m,
  );
  assert.match(
    up.said.stdout,
    /^✗ complaining {2}it ended by itself with exit code 1; it is tried again\n(?: {15}it said: .*\n)* {15}it said: Error: SHOP_TOKEN is not set$/m,
  );
  assert.match(up.said.stdout, new RegExp(`^ {2}${url}/mcp +\\d+ tools$`, 'm'));
  assert.match(up.said.stdout, new RegExp(`^ {2}${url}/mcp/adding +workflow adding$`, 'm'));
  assert.doesNotMatch(up.said.stderr, /WARNING/);

  const all = await connectHttp(t, new URL(`${url}/mcp`), '2025-11-25');
  const { tools } = await all.client.listTools();
  assert.ok(tools.some(({ name }) => name === 'everything__echo'));
  const echoed = await all.client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } });
  assert.deepEqual(echoed['content'], [{ type: 'text', text: 'Echo: hello' }]);
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const walker = await connectHttp(t, new URL(`${url}/mcp/adding`), revision);
    const { reply } = await walker.step({ action: 'add', inputs: { a: 2, b: 3 } });
    assert.ok(isSuccess(reply) && reply.done === true, JSON.stringify(reply));
    await walker.client.close();
  }

  const key = readFileSync(`${storeIn(home)}.token`, 'utf8').trim();
  assert.ok(up.said.stdout.includes(key), "the operator's key is shown at the first start");
  const status = await get(`${url}/v1/status`, key);
  assert.deepEqual([status.status, status.body['ready'], status.body['role']], [200, true, 'owner']);
  const states = (status.body['upstreams'] as { name: string; state: string }[]).map(({ name, state }) => [
    name,
    state,
  ]);
  assert.deepEqual(states.slice(0, 2), [
    ['everything', 'connected'],
    ['broken', 'waiting'],
  ]);
  assert.doesNotMatch(JSON.stringify(status.body), /SHOP_TOKEN/, 'what a child says is for the terminal alone');
  assert.deepEqual(status.body['workflows'], ['bar', 'adding']);
  for (const path of ['/healthz', '/readyz']) {
    const { status: code, body } = await get(`${url}${path}`);
    assert.equal(code, 200, path);
    assert.deepEqual(Object.keys(body), ['status'], 'whoever has no key hears nothing else');
  }
  const nowhere = await get(`${url}/nowhere`);
  assert.deepEqual([nowhere.status, nowhere.body['code']], [404, 'NoSuchPath']);
  for (const path of ['/', '/healthz', '/mcp'])
    assert.equal(await statusAs('evil.example', url, path), 403, 'a page that had its name point at us');

  await all.client.close();
  up.child.kill('SIGINT');
  assert.equal(await exitOf(up.child), 0);
  const calls = objectsIn(recourse(['calls', 'ls', '--json'], { cwd: home }).stdout);
  assert.deepEqual(
    calls.map(({ tool, state }) => [tool, state]),
    [
      ['add', 'SUCCEEDED'],
      ['add', 'SUCCEEDED'],
      ['everything/echo', 'SUCCEEDED'],
    ],
  );
});

async function statusAs(host: string, url: string, path: string): Promise<number> {
  const asked = request(`${url}${path}`, { headers: { host } }).end();
  const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test('--mode tools gives each workflow one tool for each action, and what is not legal now is refused as ever', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'recourse.yaml'), 'workflows:\n  bar: ./bar.ts\n');
  const up = startUp(t, home, ['--mode', 'tools']);
  const url = await up.address();
  await up.ready();
  const { client, call } = await connectHttp(t, new URL(`${url}/mcp/bar`), '2026-07-28');
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).slice(0, 2), ['order', 'wait']);
  const { reply } = await call('order', { drink: 'tea' });
  assert.ok(isSuccess(reply));
  const stale = await call('serve', { session: reply.session });
  assert.equal((stale.reply as { error?: string }).error, 'invalid_transition');
});

test('until it is ready it says so, in the words of a call; whoever ends it then does not wait for its servers', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'recourse.yaml'), `tools:\n${hanging}`);
  const up = startUp(t, home);
  const url = await up.address();
  const early = await fetch(`${url}/mcp`, { method: 'POST', body: '{}' });
  const reply = (await early.json()) as Record<string, unknown>;
  assert.deepEqual([early.status, early.headers.get('retry-after')], [503, '2']);
  assert.deepEqual([reply['error'], reply['code'], reply['effect']], ['denied', 'DAEMON_NOT_READY', 'none']);
  assert.deepEqual(await get(`${url}/healthz`).then(({ status, body }) => [status, body['status']]), [200, 'starting']);
  assert.equal((await fetch(`${url}/readyz`)).status, 503);
  up.child.kill('SIGTERM');
  assert.equal(await exitOf(up.child), 0);
});

test('a promise that a body leaves behind and that is rejected ends no workflow', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'stray.ts'), strayModule);
  writeFileSync(join(home, 'recourse.yaml'), 'workflows: { bar: ./bar.ts, stray: ./stray.ts }\n');
  const up = startUp(t, home);
  const url = await up.address();
  await up.ready();
  const stray = await connectHttp(t, new URL(`${url}/mcp/stray`), '2025-11-25');
  const bar = await connectHttp(t, new URL(`${url}/mcp/bar`), '2025-11-25');
  assert.ok(isSuccess((await stray.step({ action: 'reject' })).reply));
  await eventually('the operator hears of it', async () => /left a promise .*nobody waits/.test(up.said.stderr));
  assert.ok(isSuccess((await bar.step({ action: 'order', inputs: { drink: 'tea' } })).reply));
  assert.ok(isSuccess((await stray.step({ action: 'refuse' })).reply));
  up.child.kill('SIGINT');
  assert.equal(await exitOf(up.child), 0);
});

test('a running call ends before it does; who asks twice does not wait', async (t) => {
  const bar = barProject(t);
  writeFileSync(join(bar.home, 'recourse.yaml'), 'workflows: { bar: ./bar.ts }\n');
  const begin = async () => {
    const up = startUp(t, bar.home);
    const url = await up.address();
    await up.ready();
    const client = await connectHttp(t, new URL(`${url}/mcp/bar`), '2025-11-25');
    await client.step({ action: 'order', inputs: { drink: 'tea' } });
    const before = bar.done().length;
    const waiting = client.step({ action: 'wait' });
    await eventually('the body runs', async () => bar.done().length > before);
    up.child.kill('SIGINT');
    await eventually('nothing new is let in', async () => (await fetch(`${url}/readyz`)).status === 503);
    return { up, waiting };
  };
  const impatient = await begin();
  // The client hears nothing more, and waits for as long as clients do.
  impatient.waiting.catch(() => undefined);
  impatient.up.child.kill('SIGINT');
  assert.equal(await exitOf(impatient.up.child), 130);

  const patient = await begin();
  bar.openGate();
  assert.ok(isSuccess((await patient.waiting).reply));
  assert.equal(await exitOf(patient.up.child), 0);
});

test('nothing of a server outlives it, not even when it is ended at once', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'recourse.yaml'), everything);
  const up = startUp(t, home);
  await up.ready();
  const [, pid = ''] = await eventually('the child is known', async () => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(up.child.pid)], { encoding: 'utf8' });
    return /(\d+)/.exec(stdout);
  });
  up.child.kill('SIGINT');
  up.child.kill('SIGINT');
  await exitOf(up.child);
  await eventually('the server is gone', async () => !isAlive(Number(pid)));
});

test('problems of the configuration read as check has them, and an address that cannot be had is said', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'recourse.yaml'), 'tool: {}\nworkflows: { bar: ./absent.ts }\n');
  const refused = recourse(['up', '--listen', '127.0.0.1:0'], { cwd: home });
  assert.equal(refused.status, 1);
  const checked = recourse(['check'], { cwd: home });
  for (const line of refused.stderr.trimEnd().split('\n')) assert.ok(checked.stdout.includes(line), line);
  assert.match(refused.stderr, /recourse\.yaml:1:1 error/);

  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  writeFileSync(join(home, 'recourse.yaml'), `runtime: { listen: "127.0.0.1:${port}" }\n`);
  const second = recourse(['up'], { cwd: home });
  assert.equal(second.status, 1);
  assert.match(second.stderr, new RegExp(`127\\.0\\.0\\.1:${port} is taken by another program: .*--listen`));
  for (const odd of ['7411', '127.0.0.1:99999', 'http://x:1', '[zz]:1'])
    assert.equal(recourse(['up', '--listen', odd], { cwd: home }).status, 2, odd);
});

test('an address beyond this machine is warned about, loudly', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'recourse.yaml'), 'runtime: { listen: "0.0.0.0:0" }\nworkflows: { bar: ./bar.ts }\n');
  const child = spawn(process.execPath, [bin, 'up'], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await eventually('it warns', async () => /^WARNING: .*other machines/m.test(said));
  child.kill('SIGINT');
  assert.equal(await exitOf(child), 0);
});
