/**
 * `recourse serve` as MCP clients start it: one workflow over standard input and output, on a store that others may use
 * too.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isRefusal, isSuccess, type Reply } from '../../src/index.ts';
import { barProject, connectServe, isAlive, strayModule } from '../support/cli-project.ts';
import { eventually } from '../support/eventually.ts';
import { bin, exitOf, objectsIn, recourse } from '../support/recourse-process.ts';
import { realProgram } from '../support/upstream-mcp.ts';

const latte = { inputs: { drink: 'latte' } };

function succeeded(reply: Reply): Reply & { readonly session: string } {
  assert.ok(isSuccess(reply) && reply.session !== null, JSON.stringify(reply));
  return reply as Reply & { readonly session: string };
}

test('a module is served: messages only on standard output, whatever its author prints', async (t) => {
  const bar = barProject(t);
  const served = await connectServe(t, ['./bar.ts', '--agent', 'waiter'], { cwd: bar.home });
  await served.saying(/^recourse: serving workflow 'bar' on \/.*recourse\.db, as its owner\n/m);
  const { tools } = await served.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['step', 'reset_session', 'fork_session', 'next', 'history'],
  );
  const { session } = succeeded(await served.step('order', latte));
  assert.match(served.said(), /^the module prints$/m);
  await served.saying(/^a body prints$/m);
  await served.client.close();
  assert.deepEqual(served.errors, []);
  await eventually('serve has ended', async () => !isAlive(served.pid));
  const [listed] = objectsIn(recourse(['sessions', 'ls', '--json'], { cwd: bar.home }).stdout);
  assert.deepEqual([listed?.['session'], listed?.['agent'], listed?.['seq']], [session, 'waiter', 1]);
});

test('--mode tools gives one tool for each action', async (t) => {
  const bar = barProject(t);
  const served = await connectServe(t, ['./bar.ts', '--mode', 'tools'], { cwd: bar.home });
  const { tools } = await served.client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).slice(0, 2), ['order', 'wait']);
  succeeded(await served.call('order', { drink: 'tea' }));
});

test('a name of recourse.yaml is served, on the store it names; another name is told which there are', async (t) => {
  const bar = barProject(t);
  writeFileSync(
    join(bar.home, 'recourse.yaml'),
    'runtime: { store: data/bar.db }\nworkflows:\n  bar: ./bar.ts\n  tiny: { initial: a, actions: { go: {} }, states: { a: { on: { go: b } }, b: { type: final } } }\n',
  );
  mkdirSync(join(bar.home, 'data'));
  const served = await connectServe(t, ['tiny'], { cwd: bar.home });
  await served.saying(/serving workflow 'tiny' on \/.*data\/bar\.db, as its owner/);
  succeeded(await served.step('go'));
  const wrong = recourse(['serve', 'nothing'], { cwd: bar.home });
  assert.deepEqual([wrong.status, wrong.stdout], [1, '']);
  assert.match(wrong.stderr, /there is no workflow 'nothing'\n {2}fix use one of bar, tiny\n/);
});

test('a body may call a tool of any server, even where every action has a body', async (t) => {
  const { home } = barProject(t);
  const command = JSON.stringify(process.execPath);
  const args = JSON.stringify([realProgram('everything'), 'stdio']);
  writeFileSync(join(home, 'stray.ts'), strayModule);
  writeFileSync(
    join(home, 'recourse.yaml'),
    `tools: { everything: { mcp: { command: ${command}, args: ${args} } } }\nworkflows: { stray: ./stray.ts }\n`,
  );
  for (const asked of ['stray', './stray.ts']) {
    const served = await connectServe(t, [asked], { cwd: home });
    const reply = succeeded(await served.step('echo'));
    assert.match(JSON.stringify(reply), /Echo: hello/);
    await served.client.close();
  }
});

test('a promise that a body leaves behind and that is rejected is told in a line; serving goes on', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'stray.ts'), strayModule);
  const served = await connectServe(t, ['./stray.ts'], { cwd: home });
  succeeded(await served.step('reject'));
  await served.saying(
    /^recourse: code of a workflow or tool left a promise .*\(TypeError: nobody waits\\u001b\[31m\): .*$/m,
  );
  succeeded(await served.step('refuse'));
  await served.saying(/\(threw undefined\): await or catch it there; serving goes on$/m);
  const { session } = succeeded(await served.step('flood'));
  succeeded(await served.step('refuse', { session }));
  const lines = served.said().match(/left a promise that was rejected/g) ?? [];
  assert.equal(lines.length, 20, 'a flood of them does not fill the log');
  assert.equal(isAlive(served.pid), true);
  assert.deepEqual(served.errors, []);
});

test('what a timer of a body throws ends the thread of its module, is told, and serving goes on', async (t) => {
  const { home } = barProject(t);
  writeFileSync(join(home, 'stray.ts'), strayModule);
  const served = await connectServe(t, ['./stray.ts'], { cwd: home });
  served.step('crash').catch(() => undefined);
  await served.saying(/what code of a workflow threw where nobody could catch it.*thrown by a timer/m);
  succeeded(await served.step('refuse'));
  assert.equal(isAlive(served.pid), true);
});

test('a module that throws where nobody can catch it is a no that names it, and no bug of ours', (t) => {
  const { home } = barProject(t);
  const wait = 'await new Promise((resolve) => setTimeout(resolve, 5_000));\n';
  const modules = {
    'timer.ts': `setTimeout(() => { throw new Error('too late'); }, 0); ${wait}`,
    'stray.ts': `void Promise.reject(new Error('too late')); ${wait}`,
    'odd.ts': `setTimeout(() => { throw { toString() { throw 1; } }; }, 0); ${wait}`,
  };
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(home, name), text);
  const fix = 'catch it there; a timer or a promise was left behind';
  for (const line of ['check timer.ts', 'render stray.ts', 'serve ./timer.ts', 'check odd.ts']) {
    const { status, stderr } = recourse(line.split(' '), { cwd: home });
    const name = /\w+\.ts/.exec(line)?.[0];
    const what = name === 'odd.ts' ? 'something that cannot be written down' : 'too late';
    const told = `recourse: '${name}' threw where nobody could catch it (${what}) while it was loaded: ${fix}\n`;
    assert.deepEqual([status, stderr], [1, told]);
  }
  const { status, stdout } = recourse(['check', 'timer.ts', '--json'], { cwd: home });
  assert.deepEqual([status, objectsIn(stdout).map(({ kind }) => kind)], [1, ['problem', 'summary']]);
});

test('what cannot be served is said, with the exit code of its kind', (t) => {
  const bar = barProject(t);
  mkdirSync(join(bar.home, 'folder.ts'));
  writeFileSync(join(bar.home, 'empty.ts'), 'export const nothing = 1;\n');
  writeFileSync(join(bar.home, 'named.ts'), "export { workflow as bar } from './bar.ts';\n");
  writeFileSync(join(bar.home, 'throws.ts'), 'throw { toString() { throw 1; } };\n');
  writeFileSync(join(bar.home, 'text.db'), 'not a database at all\n'.repeat(500));
  const ends: readonly (readonly [line: string, status: number, sentence: RegExp])[] = [
    ['serve ./absent.ts', 1, /there is no module/],
    [
      'serve ./bar.yaml',
      1,
      /'bar\.yaml' is no module\n {2}fix name a workflow that is in it, with --config bar\.yaml; in recourse\.yaml put the file under include/,
    ],
    ['serve ./folder.ts', 1, /'folder\.ts' is a folder\n {2}fix name the module in it/],
    ['serve ./empty.ts', 1, /'empty\.ts' exports no workflow/],
    [
      'serve ./named.ts',
      1,
      /'named\.ts' exports no workflow as 'workflow' or as its default, but 'bar'\n {2}fix call it/,
    ],
    ['serve ./throws.ts', 1, /'throws\.ts' cannot be loaded/],
    ['serve bar', 1, /recourse\.yaml:1:1 error ShapeInvalid this file does not exist/],
    ['serve ./bar.ts --file text.db', 3, /'.*text\.db' is not a database/],
    ['serve ./bar.ts --mode all', 2, /--mode is step or tools, not 'all'/],
  ];
  for (const [line, status, sentence] of ends) {
    const end = recourse(line.split(' '), { cwd: bar.home });
    assert.deepEqual([end.status, end.stdout], [status, ''], `${line}: ${end.stderr}`);
    assert.match(end.stderr, sentence);
    assert.doesNotMatch(end.stderr, /^\s+at /m);
  }
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`${signal} lets the running step end, and is no failure`, async (t) => {
    const bar = barProject(t);
    const served = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
    const { session } = succeeded(await served.step('order', latte));
    const waiting = served.step('wait', { session });
    await eventually('the body runs', async () => bar.done().includes('wait'));
    process.kill(served.pid, signal);
    const refused = await eventually('nothing new begins', async () => {
      // Of no session, so that it does not wait for its turn.
      const reply = await served.step('order', { ...latte, session: 'ses_of_nobody' });
      return isRefusal(reply) && reply.code === 'DAEMON_NOT_READY' ? reply : null;
    });
    assert.equal(refused.effect, 'none');
    bar.openGate();
    succeeded(await waiting);
    await eventually('serve has ended', async () => !isAlive(served.pid));
    const [call] = objectsIn(recourse(['calls', 'ls', '--tool', 'wait', '--json'], { cwd: bar.home }).stdout);
    assert.equal(call?.['state'], 'SUCCEEDED');
  });

test('the end of standard input, and a signal, are ends in good order: exit code 0', async (t) => {
  const bar = barProject(t);
  for (const how of ['end', 'SIGTERM', 'SIGINT'] as const) {
    const child = spawn(process.execPath, [bin, 'serve', './bar.ts'], { cwd: bar.home, stdio: 'pipe' });
    t.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await eventually('it serves', async () => said.includes('serving workflow'));
    if (how === 'end') child.stdin.end();
    else child.kill(how);
    assert.equal(await exitOf(child), 0, `${how}: ${said}`);
  }
  const child = spawn(process.execPath, [bin, 'serve', './bar.ts'], { cwd: bar.home, stdio: 'pipe' });
  child.stdin.end();
  await once(child, 'close');
  assert.equal(child.exitCode, 0, 'a client that was gone before it began');
});

test('two on one store: the first owns it, the second forwards; one session is walked from both', async (t) => {
  const bar = barProject(t);
  const first = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await first.saying(/as its owner/);
  const second = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await second.saying(/as its forwarder/);
  const { session } = succeeded(await first.step('order', latte));
  succeeded(await second.step('order', { inputs: { drink: 'tea' }, session }));
  const paid = succeeded(await first.step('pay', { session }));
  assert.equal(isSuccess(paid) ? paid.seq : 0, 3);
});

test('kill -9 of the forwarder between steps: the owner, and a new process, go on with the same handle', async (t) => {
  const bar = barProject(t);
  const first = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await first.saying(/as its owner/);
  const second = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  const { session } = succeeded(await second.step('order', latte));
  process.kill(second.pid, 'SIGKILL');
  // Another order: an equal one would be answered with the first, if its process died before it could say that its
  // reply was written.
  succeeded(await first.step('order', { inputs: { drink: 'tea' }, session }));
  const third = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await third.saying(/as its forwarder/);
  succeeded(await third.step('pay', { session }));
  assert.deepEqual(bar.done(), ['order', 'order', 'pay']);
});

test('[S001-class-9] kill -9 of the owner between steps: the forwarder takes its place, and goes on with the same handle', async (t) => {
  const bar = barProject(t);
  const first = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await first.saying(/as its owner/);
  const second = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await second.saying(/as its forwarder/);
  const { session } = succeeded(await first.step('order', latte));
  process.kill(first.pid, 'SIGKILL');
  await second.saying(/as its owner/);
  succeeded(await second.step('order', { inputs: { drink: 'tea' }, session }));
  const third = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await third.saying(/as its forwarder/);
  succeeded(await third.step('pay', { session }));
  assert.deepEqual(bar.done(), ['order', 'order', 'pay']);
  assert.equal(recourse(['audit', 'verify'], { cwd: bar.home }).status, 0);
});

test('a step under way while the owner is killed is recorded by its successor, and done once', async (t) => {
  const bar = barProject(t);
  const first = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await first.saying(/as its owner/);
  const second = await connectServe(t, ['./bar.ts'], { cwd: bar.home });
  await second.saying(/as its forwarder/);
  const { session } = succeeded(await second.step('order', latte));
  const waiting = second.step('wait', { session });
  await eventually('the body runs', async () => bar.done().includes('wait'));
  process.kill(first.pid, 'SIGKILL');
  await second.saying(/as its owner/);
  bar.openGate();
  // Its successor took the step for one in doubt. Whoever asked hears of a success only with the state that it moved.
  const waited = succeeded(await waiting);
  assert.ok(isSuccess(waited) && waited.seq === 2 && waited.state !== null, JSON.stringify(waited));
  succeeded(await second.step('pay', { session, expected_seq: 2 }));
  assert.deepEqual(bar.done(), ['order', 'wait', 'pay']);
});
