/**
 * What `recourse init` makes of the tools that it finds, and what becomes of a server that later says something else.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { recourse } from '../support/compiled-recourse.ts';
import { startGoverned } from '../support/governed-up.ts';
import { folder } from '../support/recourse-process.ts';
import { smallProgram } from '../support/small-server.ts';
import { realProgram } from '../support/upstream-mcp.ts';

const inputSchema = { type: 'object' };
type Hints = Readonly<Record<string, boolean>>;
type Listed = Readonly<Record<string, Hints | null>>;

/** A folder with a client's configuration that names one server, whose tools are what a file says. */
function aProject(t: TestContext, listed: Listed) {
  const cwd = folder(t);
  const file = path.join(folder(t), 'tools.json');
  const list = (tools: Listed) =>
    writeFileSync(
      file,
      JSON.stringify(
        Object.entries(tools).map(([name, annotations]) => ({
          name,
          inputSchema,
          ...(annotations && { annotations }),
        })),
      ),
    );
  const named = (servers: Readonly<Record<string, unknown>>) =>
    writeFileSync(path.join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
  list(listed);
  named({ own: { command: process.execPath, args: [smallProgram, 'written', file] } });
  return {
    cwd,
    list,
    named,
    init: (...words: string[]) => recourse(['init', '--from', '.mcp.json', ...words], { cwd }),
    text: () => readFileSync(path.join(cwd, 'recourse.yaml'), 'utf8'),
    lock: path.join(cwd, 'recourse.lock'),
  };
}

interface Told {
  readonly tools: readonly { readonly tool: string; readonly effect: string; readonly decision: string }[];
  readonly servers: readonly { readonly name: string; readonly problem: string | null }[];
  readonly left_out: readonly string[];
}

/** What rules name, in their order. */
function rulesIn(text: string): readonly string[] {
  const rules = text.slice(text.indexOf('    rules:'), text.indexOf('\ntools:'));
  return rules
    .split('\n')
    .filter((line) => /^ +- (?!deny)/.test(line))
    .map((line) => line.trim());
}

test('init names the tools that it finds, by effect, and no rule goes by what a server says of itself', (t) => {
  const project = aProject(t, {
    look: { readOnlyHint: true },
    purge: { readOnlyHint: true, destructiveHint: true },
    pay: { readOnlyHint: false },
    silent: null,
    '*': { readOnlyHint: true },
  });
  const { status, stdout, stderr } = project.init();
  assert.equal(status, 0, stderr);
  assert.deepEqual(rulesIn(project.text()), [
    '- permit:',
    '- "own/look"',
    '- defer:',
    '- "own/pay"',
    '- "own/purge"',
    '- "own/silent"',
  ]);
  assert.doesNotMatch(project.text(), /Hint|\*\*"/);
  assert.match(project.text(), /^ {6}"look": \{ effect: pure \}$/m);
  assert.match(project.text(), /^ {6}"purge": \{ effect: plain \}$/m);
  assert.match(project.text(), /^ {4}# Not declared, because its name means something else in a rule: \*$/m);
  assert.match(stderr, /^own\/look +pure +permit +its server says that it only reads$/m, 'the person is shown it');
  assert.match(stderr, /^own\/purge +plain +defer +its server says that it only reads, and that it destroys$/m);
  assert.match(stderr, /^own\/silent +plain +defer +nothing says that it only reads$/m);
  assert.match(stdout, /recourse\.yaml and recourse\.lock are written, with one server/);
  const check = recourse(['check'], { cwd: project.cwd });
  assert.equal(check.status, 0, check.stdout);
  assert.equal(recourse(['pin', '--check'], { cwd: project.cwd }).status, 0, 'the lock is what the servers say');
});

test('a server that says something else later is not believed, and pin --check and the start tell it', async (t) => {
  const project = aProject(t, { look: { readOnlyHint: true }, pay: { readOnlyHint: false } });
  assert.equal(project.init().status, 0);
  project.list({ look: { readOnlyHint: true }, pay: { readOnlyHint: true }, fresh: { readOnlyHint: true } });
  const pinned = recourse(['pin', '--check'], { cwd: project.cwd });
  assert.equal(pinned.status, 1);
  assert.match(
    pinned.stdout,
    /^ {2}\+ own\/fresh {2}added\n {2}~ own\/pay {2}changed\n {6}~annotations\/readOnlyHint$/m,
  );

  const up = await startGoverned(t, project.text(), [], project.cwd);
  await up.ready();
  const key = up.keyOf('my-agent');
  const ask = async (tool: string) => {
    const { body } = await up.ask('/v1/calls', { key, body: { tool, args: {} } });
    return body['error'] ?? 'done';
  };
  assert.equal(await ask('own/look'), 'done');
  const paid = await up.ask('/v1/calls', { key, body: { tool: 'own/pay', args: {} } });
  assert.deepEqual([paid.status, paid.body['code']], [202, 'POLICY_DEFER']);
  const fresh = await up.ask('/v1/calls', { key, body: { tool: 'own/fresh', args: {} } });
  assert.deepEqual([fresh.status, fresh.body['code']], [403, 'POLICY_DENY']);
  for (const tool of ['own/pay', 'own/fresh'])
    assert.match(up.said(), new RegExp(`^.*${tool}.*recourse\\.lock`, 'm'), 'the drift is told at the start');
});

test('a rule over hints, and annotations: trust, see what was pinned', async (t) => {
  const project = aProject(t, { look: { readOnlyHint: true }, pay: { readOnlyHint: false } });
  assert.equal(project.init().status, 0);
  project.list({ look: { readOnlyHint: false }, pay: { readOnlyHint: true } });
  const hinted = '- permit: "**"\n        when: tool.annotations.readOnlyHint == true && tool.effect == "pure"\n';
  const yaml = project
    .text()
    .replace(/ {4}rules:\n[\s\S]*?(?=\ntools:)/, `    rules:\n      ${hinted}`)
    .replace(/ {4}tools:\n(?: {6}.*\n)*/, '    annotations: trust\n');
  const up = await startGoverned(t, yaml, [], project.cwd);
  await up.ready();
  const key = up.keyOf('my-agent');
  const statusOf = async (tool: string) => (await up.ask('/v1/calls', { key, body: { tool, args: {} } })).status;
  assert.deepEqual([await statusOf('own/look'), await statusOf('own/pay')], [200, 403]);
});

test('a server that does not start has no tool permitted, and the person is told what to do', (t) => {
  const project = aProject(t, {});
  project.named({
    gone: { command: path.join(project.cwd, 'no-such-server') },
    asks: { command: process.execPath, args: [smallProgram], env: { API_TOKEN: 'very-secret' } },
    odd: { command: process.execPath, args: [smallProgram, 'odd'] },
    broken: { command: process.execPath, args: [smallProgram, 'dies_at_once'] },
    files: { command: process.execPath, args: [realProgram('filesystem'), project.cwd] },
  });
  const { status, stdout, stderr } = project.init('--json');
  assert.equal(status, 0, stderr);
  const { tools, servers, left_out: leftOut } = JSON.parse(stdout) as Told;
  assert.ok(leftOut.includes('odd/no_schema: it has no input schema'), JSON.stringify(leftOut));
  assert.deepEqual([...new Set(tools.map(({ tool }) => tool.split('/')[0]))], ['odd', 'files']);
  const problems = Object.fromEntries(servers.map(({ name, problem }) => [name, problem]));
  assert.equal(problems['files'], null);
  assert.match(problems['asks'] ?? '', /the environment has no API_TOKEN/);
  for (const name of ['gone', 'asks', 'broken']) {
    assert.ok((problems[name] ?? '') !== '', name);
    assert.ok(!rulesIn(project.text()).some((line) => line.includes(`"${name}/`)), name);
  }
  assert.deepEqual(Object.keys((JSON.parse(readFileSync(project.lock, 'utf8')) as { servers: object }).servers), [
    'files',
    'odd',
  ]);
  const check = recourse(['check'], { cwd: project.cwd, env: { API_TOKEN: 'x' } });
  assert.equal(check.status, 0, check.stdout);
  assert.match(check.stdout, /the server 'gone' is not in recourse\.lock/);
});

test('a lock that is there stays as it is, and nothing is started where a file is in the way', (t) => {
  const project = aProject(t, { look: { readOnlyHint: true } });
  writeFileSync(project.lock, 'mine');
  const { status, stderr } = project.init();
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(project.lock, 'utf8'), 'mine');
  assert.match(stderr, /recourse\.lock is left as it is: run recourse pin to renew it/);
  const mark = path.join(project.cwd, 'started');
  project.named({
    own: { command: process.execPath, args: ['-e', `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`] },
  });
  const again = project.init();
  assert.equal(again.status, 1);
  assert.match(again.stderr, /is there already, and is never overwritten/);
  assert.equal(existsSync(mark), false);
});
