/** `recourse init` as a person runs it, on a machine that has other clients already. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recourse } from '../support/compiled-recourse.ts';
import { bin, folder } from '../support/recourse-process.ts';

interface Machine {
  readonly cwd: string;
  readonly home: string;
  put(file: string, value: unknown): void;
  text(): string;
  init(words?: readonly string[]): ReturnType<typeof recourse>;
}

function aMachine(t: TestContext): Machine {
  const [home, cwd] = [folder(t), folder(t)];
  const env = { HOME: home, APPDATA: join(home, 'AppData') };
  return {
    cwd,
    home,
    put(file, value) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    },
    text: () => readFileSync(join(cwd, 'recourse.yaml'), 'utf8'),
    init: (words = []) => recourse(['init', ...words], { cwd, env }),
  };
}

test('without any client it writes a file that holds, and denies by default', (t) => {
  const { cwd, init, text } = aMachine(t);
  const { status, stdout } = init(['--yes']);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /recourse\.yaml is written, with 0 servers\. Next:\n {2}recourse agents add my-agent\n {2}recourse up\n$/,
  );
  assert.match(text(), /^ {2}my-agent:\n(?:.*\n)* {4}default: deny$/m);
  const check = recourse(['check'], { cwd });
  assert.equal(check.status, 0, check.stdout);
  assert.equal(existsSync(join(cwd, '.gitignore')), false, 'nobody asked for one');
});

test('a file that is there is never overwritten', (t) => {
  const { cwd, init, text } = aMachine(t);
  writeFileSync(join(cwd, 'recourse.yaml'), 'mine');
  const { status, stderr, stdout } = init();
  assert.deepEqual([status, stdout, text()], [1, '', 'mine']);
  assert.match(stderr, /recourse\.yaml' is there already, and is never overwritten/);
});

test('a file that could not be written whole is not left behind: an empty one would let everybody in', (t) => {
  const { cwd } = aMachine(t);
  const words = ['-c', 'ulimit -f 0 && exec "$@"', 'sh', process.execPath, bin, 'init'];
  const { status, stderr } = spawnSync('sh', words, { cwd, encoding: 'utf8' });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /recourse\.yaml' cannot be written \(EFBIG\): check its folder, its mode and the disk/);
  assert.deepEqual(readdirSync(cwd), []);
});

test('the servers of every client are taken over, and no secret is', (t) => {
  const { cwd, home, put, init, text } = aMachine(t);
  const files = { command: 'files-mcp', args: ['-y', '.'] };
  put(join(cwd, '.mcp.json'), { mcpServers: { files } });
  put(join(cwd, '.cursor/mcp.json'), {
    mcpServers: {
      files,
      linear: { url: 'https://mcp.linear.app/mcp?key=lin_api_1', headers: { Authorization: 'Bearer very-secret-1' } },
    },
  });
  put(
    join(cwd, '.vscode/mcp.json'),
    `{ // asked once
      "inputs": [],
      "servers": { "gh": { "type": "stdio", "command": "docker", "args": ["run", "-e", "GH=\${input:gh-token}", "gh"] }, },
    }`,
  );
  put(join(home, '.claude.json'), {
    mcpServers: { db: { command: 'db-mcp', args: ['postgres://ann:very-secret-2@db/x'], env: { LOG_LEVEL: 'debug' } } },
    projects: { [cwd]: { mcpServers: { here: { command: 'here-mcp' } } }, '/other': { mcpServers: { there: files } } },
  });
  put(join(home, 'Library/Application Support/Claude/claude_desktop_config.json'), {
    mcpServers: { mac: { command: 'mac-mcp', env: { WHO: 'very-secret-3' } } },
  });
  put(join(home, '.config/Claude/claude_desktop_config.json'), {
    mcpServers: { linux: { command: 'linux-mcp', args: ['--token', 'very-secret-4'] } },
  });
  put(join(home, 'AppData/Claude/claude_desktop_config.json'), {
    mcpServers: { windows: { command: 'C:\\mcp\\windows.exe' } },
  });
  put(join(home, '.codeium/windsurf/mcp_config.json'), {
    mcpServers: { 'wind surf': { serverUrl: 'http://127.0.0.1:9/mcp' }, files: { command: 'other-files' } },
  });
  const { status, stderr, stdout } = init();
  assert.equal(status, 0, stderr);
  // What each client is to start instead, in its own form.
  const said = [...stdout.matchAll(/put this into (.+), in place of the servers there:\n((?: {2}.*\n)+)/g)];
  const [[, most = '', first = '{}'] = [], [, vsCode, second = '{}'] = []] = said;
  assert.match(most, /^\.mcp\.json and \.cursor\/mcp\.json and ~\/\.claude\.json/);
  assert.equal(vsCode, '.vscode/mcp.json');
  const { mcpServers } = JSON.parse(first) as { mcpServers: { recourse: { args: string[]; env: object } } };
  const where = join(realpathSync(cwd), 'recourse.yaml');
  assert.deepEqual(mcpServers.recourse.args.slice(1), ['stdio', '--config', where, '--agent', 'my-agent']);
  assert.ok(Object.keys(mcpServers.recourse.env).length > 0, 'the variables that it needs');
  assert.match(second, /"servers"/);
  const names = [...text().matchAll(/^ {2}"(.+)":$/gm)].map(([, name]) => name);
  assert.deepEqual(names, ['files', 'linear', 'gh', 'db', 'here', 'mac', 'linux', 'wind-surf', 'files-2', 'windows']);
  for (const shown of [text(), stderr, stdout]) assert.doesNotMatch(shown, /very-secret|lin_api_1/);
  const wanted = [...stderr.matchAll(/^ {2}([A-Z_]+) {2}.* of the server '(.+)'$/gm)].map(([, name, server]) => [
    name,
    server,
  ]);
  assert.deepEqual(wanted, [
    ['LINEAR_KEY', 'linear'],
    ['LINEAR_AUTHORIZATION', 'linear'],
    ['GH_TOKEN', 'gh'],
    ['DB_LOGIN', 'db'],
    ['WHO', 'mac'],
    ['LINUX_TOKEN', 'linux'],
  ]);
  assert.equal(recourse(['check'], { cwd }).status, 1, 'the variables are not set yet');
  const env = Object.fromEntries(wanted.map(([name]) => [String(name), 'set']));
  const check = recourse(['check'], { cwd, env });
  assert.equal(check.status, 0, check.stdout);
});

test('what cannot be expressed is named in a comment, whatever its name is', (t) => {
  const { cwd, put, init, text } = aMachine(t);
  put(join(cwd, '.mcp.json'), {
    mcpServers: {
      old: { type: 'sse', url: 'https://old.example/sse' },
      off: { command: 'x', disabled: true },
      login: { url: 'https://ann:very-secret@x.example/mcp' },
      asks: { command: 'x', args: ['${command:pick}'] },
      files: { command: 'x', envFile: '.env' },
      self: { command: 'npx', args: ['recourse', 'serve', 'refunds'] },
      here: { url: 'http://127.0.0.1:7411/mcp' },
      'a\nruntime: { mode: audit }': { nothing: true },
      list: [],
    },
  });
  const { status, stderr } = init();
  assert.equal(status, 0, stderr);
  const skipped = [...text().matchAll(/^# Not taken over: (.+), from \.mcp\.json: (.+)\.$/gm)].map(([, name, why]) => [
    name,
    why,
  ]);
  assert.deepEqual(
    skipped.map(([name]) => name),
    ['old', 'off', 'login', 'asks', 'files', 'self', 'here', 'a\\nruntime: { mode: audit }', 'list'],
  );
  assert.match(text(), /^ {2}mode: enforce$/m);
  assert.doesNotMatch(text(), /^runtime: \{/m);
  assert.doesNotMatch(text() + stderr, /very-secret/);
  assert.equal(recourse(['check'], { cwd }).status, 0);
});

test('--from takes one file, --dry-run writes nothing, and no other file is touched', (t) => {
  const { cwd, home, put, init, text } = aMachine(t);
  put(join(home, '.cursor/mcp.json'), { mcpServers: { other: { command: 'x' } } });
  put(join(cwd, 'some.json'), { mcpServers: { mine: { command: 'x', env: { A_TOKEN: 'very-secret' } } } });
  writeFileSync(join(cwd, '.gitignore'), 'node_modules');
  const dry = init(['--from', 'some.json', '--dry-run']);
  assert.equal(dry.status, 0, dry.stderr);
  assert.match(dry.stdout, /^ {2}"mine":$/m);
  assert.doesNotMatch(dry.stdout, /"other"|very-secret/);
  assert.equal(existsSync(join(cwd, 'recourse.yaml')), false);
  assert.equal(readFileSync(join(cwd, '.gitignore'), 'utf8'), 'node_modules');

  const written = init(['--from', 'some.json']);
  assert.equal(written.status, 0, written.stderr);
  assert.equal(text(), dry.stdout);
  assert.equal(readFileSync(join(cwd, '.gitignore'), 'utf8'), 'node_modules');
  assert.ok(!text().includes('store:'), 'the store lies where tools are not pointed at');
  const second = init(['--from', 'some.json', '--config', 'second.yaml', '--json']);
  assert.equal(second.status, 0, second.stderr);
  assert.deepEqual(JSON.parse(second.stdout), {
    file: 'second.yaml',
    written: true,
    lock: null,
    servers: [
      { name: 'mine', from: 'some.json', problem: 'the environment has no A_TOKEN; set A_TOKEN before starting' },
    ],
    tools: [],
    left_out: [],
    skipped: [],
    unreadable: [],
    variables: [{ name: 'A_TOKEN', meaning: "env A_TOKEN of the server 'mine'", is_set: false }],
  });
  for (const [name, says] of [
    ['absent.json', /is not there, or names no server/],
    ['recourse.yaml', /this is not a JSON object/],
  ] as const) {
    const { status, stderr } = init(['--from', name, '--config', 'third.yaml']);
    assert.equal(status, 1);
    assert.match(stderr, says);
  }
  assert.equal(existsSync(join(cwd, 'third.yaml')), false);
});
