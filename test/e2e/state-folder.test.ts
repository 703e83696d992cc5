/**
 * Where store, keys and token lie if nobody says: in a state folder of the user's, found by every command, moved there
 * once.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createGateway } from '../../src/index.ts';
import { startGoverned } from '../support/governed-up.ts';
import {
  aClosedStore,
  exitOf,
  folder,
  objectsIn,
  recourse,
  startGateway,
  storeIn,
} from '../support/recourse-process.ts';

const policy = 'agents:\n  bot: { default: permit }\n';
const entries = (home: string) => readdirSync(home).sort();
const callsIn = (cwd: string, words: readonly string[] = []) =>
  objectsIn(recourse(['calls', 'ls', '--json', ...words], { cwd }).stdout).map(({ call_id }) => call_id);

/** A project whose state folder is one of its own. */
function project(t: TestContext, yaml = policy) {
  const home = folder(t);
  const state = folder(t);
  writeFileSync(join(home, 'recourse.yaml'), yaml);
  const env = { RECOURSE_STATE_DIR: state };
  return { home, state, env, run: (...words: string[]) => recourse(words, { cwd: home, env }) };
}

test('a gateway leaves nothing in the project: store, keys, token and socket lie in a folder for this user alone', async (t) => {
  const up = await startGoverned(t, policy);
  await up.ready();
  up.keyOf('bot');
  assert.deepEqual(entries(up.home), ['recourse.yaml']);
  const store = storeIn(up.home);
  for (const part of ['', '.keys', '.token', '-lock', '-sock']) assert.ok(existsSync(`${store}${part}`), part);
  assert.equal(statSync(dirname(store)).mode & 0o777, 0o700);
  assert.ok(up.said().includes(`store ${store}`), up.said());
  assert.equal(recourse(['status', '--url', up.url], { cwd: up.home }).status, 0);
  assert.match(recourse(['agents', 'ls'], { cwd: up.home }).stdout, /operator +admin/);
  assert.equal(recourse(['audit', 'verify'], { cwd: up.home }).status, 0);
  assert.equal(await up.stop(), 0);
  assert.deepEqual(entries(up.home), ['recourse.yaml']);
});

test('the folder is that of the configuration, by its real path, wherever a command is started', (t) => {
  const { home, state, env, run } = project(t);
  assert.equal(run('agents', 'add', 'bot').status, 0);
  const [made = ''] = readdirSync(state);
  assert.match(made, /^[\w.-]{1,32}-[0-9a-f]{12}$/);
  assert.equal(readFileSync(join(state, made, 'project'), 'utf8'), `${home}\n`);
  const linked = join(folder(t), 'link');
  symlinkSync(home, linked);
  const elsewhere = folder(t);
  for (const [cwd, words] of [
    [linked, []],
    [elsewhere, ['--config', join(home, 'recourse.yaml')]],
    [elsewhere, ['--config', join(linked, 'recourse.yaml')]],
  ] as const)
    assert.match(recourse(['agents', 'ls', ...words], { cwd, env }).stdout, /bot +agent/);
  assert.equal(recourse(['agents', 'ls'], { cwd: elsewhere, env }).stdout, '');
  assert.deepEqual(readdirSync(state), [made]);
});

test('--file, then RECOURSE_FILE, then runtime.store, then the state folder: in every command', async (t) => {
  const named = await aClosedStore(t, 1);
  const written = await aClosedStore(t, 2);
  const { home, run, env } = project(t, `runtime: { store: ${JSON.stringify(written.file)} }\n${policy}`);
  assert.equal(callsIn(home).length, 2);
  assert.equal(callsIn(home, ['--file', named.file]).length, 1);
  const byEnv = recourse(['calls', 'ls', '--json'], { cwd: home, env: { ...env, RECOURSE_FILE: named.file } });
  assert.equal(objectsIn(byEnv.stdout).length, 1);
  assert.match(run('audit', 'verify').stdout, /the journal holds/);
  assert.equal(run('sessions', 'ls').status, 0);
  assert.equal(run('agents', 'add', 'bot').status, 0);
  assert.ok(existsSync(`${written.file}.keys`));
  assert.ok(run('calls', 'show', written.ids[0] ?? '').stdout.includes('SUCCEEDED'));
  assert.match(run('calls', 'settle', written.ids[0] ?? '', '--happened', 'no').stderr, /is not in doubt/);
});

test('a runtime.store that cannot be read here is told, and no other store is used in its place', (t) => {
  const { run, state } = project(t, `runtime: { store: "\${NOWHERE_SET}/recourse.db" }\n${policy}`);
  for (const words of [
    ['agents', 'add', 'bot'],
    ['calls', 'ls'],
  ]) {
    const { status, stdout, stderr } = run(...words);
    assert.deepEqual([status, stdout], [3, '']);
    assert.match(
      stderr,
      /runtime\.store of 'recourse\.yaml' cannot be read here: see recourse check, or name the store with --file/,
    );
  }
  assert.deepEqual(readdirSync(state), []);
});

test('a folder that others can write is refused', (t) => {
  const { run, state } = project(t);
  assert.equal(run('agents', 'add', 'bot').status, 0);
  const [made = ''] = readdirSync(state);
  chmodSync(join(state, made), 0o770);
  const refused = run('agents', 'add', 'bot');
  assert.deepEqual([refused.status, refused.stdout], [3, '']);
  assert.match(refused.stderr, /other users can write '.*', where keys would be kept: chmod 700/);
  chmodSync(join(state, made), 0o755);
  assert.equal(run('agents', 'add', 'bot').status, 0);
  assert.equal(statSync(join(state, made)).mode & 0o777, 0o700);
  chmodSync(state, 0o777);
  assert.match(run('agents', 'add', 'bot').stderr, /other users can write/);
});

/** A folder as an earlier version left it. */
async function earlier(t: TestContext) {
  const { home, file, ids } = await aClosedStore(t, 2);
  writeFileSync(join(home, 'recourse.yaml'), policy);
  const key = recourse(['agents', 'add', 'bot', '--file', file], { cwd: home }).stdout.trim();
  writeFileSync(
    `${file}.token`,
    `${recourse(['agents', 'add', 'operator', '--role', 'admin', '--file', file]).stdout}`,
    { mode: 0o600 },
  );
  return { home, file, ids, key };
}

test('a store of an earlier version is found where it is, then moved with its keys by the next start, and that is told', async (t) => {
  const { home, file, ids, key } = await earlier(t);
  assert.deepEqual(callsIn(home), [...ids].reverse());
  assert.ok(existsSync(file));
  const up = await startGoverned(t, policy, [], home);
  await up.ready();
  assert.ok(up.said().includes(`the store and its keys were moved from '${file}' to '${storeIn(home)}'`), up.said());
  assert.deepEqual(entries(home), ['recourse.db-lock', 'recourse.db.head', 'recourse.yaml']);
  assert.deepEqual(callsIn(home), [...ids].reverse());
  assert.equal((await up.ask('/v1/tools', { key })).status, 200);
  assert.equal(recourse(['status', '--url', up.url], { cwd: home }).status, 0);
  assert.equal(await up.stop(), 0);
  const again = await startGoverned(t, policy, [], home);
  await again.ready();
  assert.ok(!again.said().includes('were moved'), again.said());
});

test('a store that a process owns stays where it is, and is used there', async (t) => {
  const home = folder(t);
  const file = join(home, 'recourse.db');
  assert.equal(recourse(['agents', 'add', 'bot', '--file', file], { cwd: home }).status, 0);
  const owner = await startGateway(t, file);
  const paid = String((await owner.ask({ tool: 'pay', args: { cents: 1 } }))['call_id']);
  const up = await startGoverned(t, policy, [], home);
  await up.ready();
  assert.match(up.said(), /is in use, so it stays where it is for now/);
  assert.deepEqual(callsIn(home), [paid]);
  assert.ok(!existsSync(storeIn(home)));
  assert.equal(recourse(['status', '--url', up.url], { cwd: home }).status, 0);
});

test('a store that only a program has named stays where it is, and its keys are known there', async (t) => {
  const { home, file, ids } = await aClosedStore(t, 2);
  writeFileSync(join(home, 'recourse.yaml'), policy);
  const said = recourse(['agents', 'add', 'bot'], { cwd: home });
  assert.match(
    said.stderr,
    /recourse\.db' is not used: the store of this project is '.*If a program of yours names it/,
  );
  assert.deepEqual(callsIn(home, ['--file', file]), [...ids].reverse());
});

test('a program that names a store which was moved hears where it is, and begins no other', async (t) => {
  const { home, file } = await earlier(t);
  const moved = recourse(['agents', 'add', 'bob'], { cwd: home });
  assert.match(moved.stderr, /were moved from/);
  await assert.rejects(createGateway({ tools: [], file }), (error: Error) => {
    assert.ok(
      error.message.includes(`the store '${file}' was moved to '${storeIn(home)}': name that one`),
      error.message,
    );
    return true;
  });
  assert.ok(!existsSync(file));
});

test('several that start at once move it once', async (t) => {
  const { home, ids, key } = await earlier(t);
  const started = await Promise.all([1, 2, 3].map(() => startGoverned(t, policy, [], home)));
  for (const each of started) await each.ready();
  assert.deepEqual(callsIn(home), [...ids].reverse());
  for (const each of started) assert.equal((await each.ask('/v1/tools', { key })).status, 200);
  assert.equal(started.filter((each) => each.said().includes('were moved')).length, 1);
});

test('a store beside one that is used already is left alone, and told', async (t) => {
  const { home, run } = project(t);
  assert.equal(run('agents', 'add', 'bot').status, 0);
  const other = await aClosedStore(t);
  renameSync(other.file, join(home, 'recourse.db'));
  const said = run('agents', 'add', 'bob');
  assert.equal(said.status, 0);
  assert.match(said.stderr, /recourse\.db' is not used: the store of this project is '/);
  assert.ok(existsSync(join(home, 'recourse.db')));
});

test('a project that was moved is told where its state lies', async (t) => {
  const { home, env, run, state } = project(t);
  assert.equal(run('agents', 'add', 'bot').status, 0);
  const other = await aClosedStore(t);
  renameSync(other.file, join(state, readdirSync(state)[0] ?? '', 'recourse.db'));
  const moved = join(folder(t), home.split('/').at(-1) ?? '');
  mkdirSync(moved);
  renameSync(home, moved);
  const { stderr } = recourse(['agents', 'add', 'bot'], { cwd: moved, env });
  assert.ok(
    stderr.includes(`holds that of '${home}', which is gone: if it is this project, moved, name it with --file`),
    stderr,
  );
});

test('the library uses the same place if no file is named', async (t) => {
  const home = folder(t);
  const script = join(home, 'app.mjs');
  const { root } = await import('../support/recourse-process.ts');
  writeFileSync(
    script,
    `import { createGateway, tool } from ${JSON.stringify(join(root, 'src/index.ts'))};
     const gateway = await createGateway({ tools: [tool({ name: 'pay', description: 'pays', input: {}, run: async () => 1 })] });
     await gateway.handle({ tool: 'pay' });
     await gateway.close();`,
  );
  const { spawn } = await import('node:child_process');
  assert.equal(await exitOf(spawn(process.execPath, [script], { cwd: home, stdio: 'inherit' })), 0);
  assert.deepEqual(entries(home), ['app.mjs']);
  assert.equal(callsIn(home).length, 1);
});
