/**
 * A new user's first quarter of an hour, played by the real commands: a client's configuration with two public servers,
 * `init`, `agents add`, `up`, and an official client that reads, fails to read, writes with a person's approval, and
 * completes.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { eventually } from '../support/eventually.ts';
import { bin, folder, objectsIn, recourse } from '../support/recourse-process.ts';
import { type Answer, envelopeOf } from '../support/servers-clients.ts';
import { realProgram } from '../support/upstream-mcp.ts';

const startsWithinMs = 120_000;

/** A machine with a client that uses both servers already; the filesystem server is pointed at the project itself. */
function aMachine(t: TestContext) {
  const home = folder(t);
  const project = path.join(realpathSync(folder(t)), 'notes');
  mkdirSync(project);
  writeFileSync(path.join(project, 'todo.txt'), 'buy milk\n');
  const config = path.join(home, '.config/Claude/claude_desktop_config.json');
  mkdirSync(path.dirname(config), { recursive: true });
  const memory = path.join(project, 'memory.jsonl');
  const mcpServers = {
    filesystem: { command: process.execPath, args: [realProgram('filesystem'), project] },
    memory: { command: process.execPath, args: [realProgram('memory')], env: { MEMORY_FILE_PATH: memory } },
  };
  writeFileSync(config, JSON.stringify({ mcpServers }, null, 2));
  // Where the state lies is nobody's setting here, as on a new machine.
  const env = { HOME: home, RECOURSE_STATE_DIR: '', XDG_STATE_HOME: '', APPDATA: '', LOCALAPPDATA: '' };
  const run = (...words: string[]) => {
    const end = recourse(words, { cwd: project, env });
    assert.equal(end.status, 0, `${words.join(' ')}: ${end.stderr}${end.stdout}`);
    return end;
  };
  return { home, project, env, run };
}

type Machine = ReturnType<typeof aMachine>;

async function startUp(t: TestContext, { project, env }: Machine): Promise<string> {
  const words = [bin, 'up', '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, words, {
    cwd: project,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return eventually(
    'a gateway that is ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`recourse up has ended: ${said}`);
      const url = /recourse is starting at (http:\S+)/.exec(said)?.[1];
      return url !== undefined && (await fetch(`${url}/readyz`)).ok ? url : null;
    },
    startsWithinMs,
  );
}

async function connect(t: TestContext, url: string, key: string) {
  const client = new Client({ name: 'new-user', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  t.after(() => client.close());
  const { tools } = await client.listTools();
  const nameOf = (server: string, tool: string) => {
    const found = tools.find(({ name }) => name.startsWith(server) && name.endsWith(tool) && name !== tool);
    assert.ok(found !== undefined, `${server} ${tool} is listed`);
    return found.name;
  };
  const call = async (name: string, args: object, key_?: string): Promise<Answer> => {
    const meta = key_ === undefined ? {} : { _meta: { 'recourse/key': key_ } };
    return (await client.callTool({ name, arguments: args, ...meta } as never)) as Answer;
  };
  return { call, nameOf, names: tools.map(({ name }) => name) };
}

function filesUnder(at: string): readonly string[] {
  return readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(at, entry.name);
    return entry.isDirectory() ? filesUnder(full) : entry.isFile() ? [full] : [];
  });
}

const textOf = (result: Answer) =>
  (result['content'] as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('\n');

test('a new user: init, up, a failed read, an approved write, and no key in the served folder', async (t) => {
  const machine = aMachine(t);
  const { project, run } = machine;
  const init = run('init');
  assert.match(init.stderr, /^filesystem\/read_text_file +pure +permit /m);
  assert.match(init.stderr, /^filesystem\/write_file +plain +defer /m);
  assert.match(init.stderr, /^memory\/read_graph +pure +permit /m);
  run('check');
  const key = run('agents', 'add', 'my-agent').stdout.trim();
  assert.match(key, /^rk_/);
  const url = await startUp(t, machine);
  const { call, nameOf, names } = await connect(t, url, key);
  assert.ok(names.length >= 23, names.join(' '));

  const todo = await call(nameOf('filesystem', 'read_text_file'), { path: path.join(project, 'todo.txt') });
  assert.equal(textOf(todo), 'buy milk\n');
  assert.notEqual((await call(nameOf('memory', 'read_graph'), {}))['isError'], true);

  const missing = [
    ['read_text_file', { path: path.join(project, 'nothing.txt') }],
    ['list_directory', { path: path.join(project, 'nowhere') }],
    ['get_file_info', { path: '/outside' }],
  ] as const;
  for (const [tool, args] of missing) {
    const failed = await call(nameOf('filesystem', tool), args);
    const { error, effect, resolution } = envelopeOf(failed);
    assert.deepEqual([failed['isError'], error, effect], [true, 'action_error', 'none'], tool);
    assert.equal((resolution as Answer)['type'], 'choose_action', tool);
    assert.doesNotMatch(textOf(failed), /do not repeat|in doubt|unknown/i, tool);
  }

  const note = path.join(project, 'note.txt');
  const write = () => call(nameOf('filesystem', 'write_file'), { path: note, content: 'once\n' }, 'write-note');
  const deferred = envelopeOf(await write());
  assert.deepEqual([deferred['error'], deferred['code'], deferred['effect']], ['denied', 'POLICY_DEFER', 'none']);
  assert.equal(existsSync(note), false);
  const { approval_id: approval } = deferred['resolution'] as { readonly approval_id: string };
  assert.match(run('approvals', 'ls', '--url', url).stdout, new RegExp(approval));
  run('approvals', 'approve', approval, '--url', url);
  assert.equal(existsSync(note), false, 'it waits for its agent');
  assert.match(textOf(await write()), /Successfully wrote to/);
  assert.equal(readFileSync(note, 'utf8'), 'once\n');
  writeFileSync(note, 'changed since\n');
  assert.match(textOf(await write()), /Successfully wrote to/, 'the same key gets the same reply');
  assert.equal(readFileSync(note, 'utf8'), 'changed since\n', 'and nothing is written a second time');

  const completed = envelopeOf(await call('complete', {}));
  assert.equal(completed['error'], undefined, JSON.stringify(completed));
  const calls = objectsIn(run('calls', 'ls', '--json', '--limit', '100').stdout);
  const ends = calls.map(({ tool, state }) => `${String(tool)} ${String(state)}`);
  assert.deepEqual(
    ends.filter((end) => end.endsWith('IN_DOUBT')),
    [],
  );
  assert.equal(ends.filter((end) => end === 'filesystem/write_file SUCCEEDED').length, 1);

  const operator = filesUnder(machine.home).filter((file) => file.endsWith('.token'));
  assert.equal(operator.length, 1, "the operator's key lies in the home folder");
  for (const file of filesUnder(project)) assert.doesNotMatch(readFileSync(file, 'latin1'), /rk_[a-z0-9]{8}/, file);
  const listed = textOf(await call(nameOf('filesystem', 'list_directory'), { path: project }));
  assert.doesNotMatch(listed, /recourse\.db|\.keys|\.token/);
});
