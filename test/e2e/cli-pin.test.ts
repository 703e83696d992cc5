/** `recourse pin` as a person runs it: real servers, a real lock. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recourse } from '../support/compiled-recourse.ts';
import { folder } from '../support/recourse-process.ts';
import { rules, smallServer } from '../support/small-server.ts';

const named = (stdout: string, sign: string) =>
  stdout.split('\n').flatMap((line) => (line.startsWith(`  ${sign} `) ? [line.split(' ')[3]] : []));

test('the lock is written once, is the same text again, and tells what changed', (t) => {
  const cwd = folder(t);
  const lock = join(cwd, 'recourse.lock');
  writeFileSync(join(cwd, 'recourse.yaml'), `tools:\n${smallServer('one')}${smallServer('two', 'odd')}`);
  const before = recourse(['pin', '--check'], { cwd });
  assert.equal(before.status, 1, before.stderr);
  assert.equal(existsSync(lock), false);
  const first = recourse(['pin'], { cwd });
  assert.equal(first.status, 0, first.stderr);
  assert.ok(named(first.stdout, '+').includes('one/echo'));
  assert.ok(named(first.stdout, '+').includes('two/fine'));
  assert.match(first.stderr, /left out: two\/no_schema: it has no input schema/);
  const text = readFileSync(lock, 'utf8');
  assert.deepEqual(readdirSync(cwd).toSorted(), ['recourse.lock', 'recourse.yaml']);
  const again = recourse(['pin', '--check', '--json'], { cwd });
  assert.equal(again.status, 0, again.stderr);
  const { changes, holds, servers } = JSON.parse(again.stdout) as Record<string, unknown>;
  assert.deepEqual({ changes, holds, servers }, { changes: [], holds: true, servers: 2 });

  const changed = JSON.parse(text) as { servers: { one: { tools: Record<string, Record<string, unknown>> } } };
  const { tools } = changed.servers.one;
  tools['gone'] = { ...tools['echo'] };
  tools['echo'] = { ...tools['echo'], description: 'other', inputSchema: { type: 'object', required: ['x'] } };
  delete tools['vendor'];
  writeFileSync(lock, `${JSON.stringify(changed, null, 2)}\n`);
  const other = recourse(['pin', '--check'], { cwd });
  assert.equal(other.status, 1, other.stderr);
  assert.deepEqual(named(other.stdout, '+'), ['one/vendor']);
  assert.deepEqual(named(other.stdout, '-'), ['one/gone']);
  assert.deepEqual(named(other.stdout, '~'), ['one/echo']);
  assert.match(other.stdout, /^ {6}~description$/m);
  assert.match(other.stdout, /^ {6}-inputSchema\/required$/m);
  assert.notEqual(readFileSync(lock, 'utf8'), text, '--check writes nothing');
  assert.equal(recourse(['pin'], { cwd }).status, 0);
  assert.equal(readFileSync(lock, 'utf8'), text);
});

test('a server that cannot be reached is an error, and the lock stays as it is', (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'recourse.lock'), 'as it was');
  writeFileSync(
    join(cwd, 'recourse.yaml'),
    `tools:\n${smallServer('one')}  two: { mcp: { command: /nowhere/server } }\n`,
  );
  const { status, stderr, stdout } = recourse(['pin'], { cwd });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /the server 'two' cannot be reached: the command '\/nowhere\/server' cannot be started: ENOENT/);
  assert.doesNotMatch(stderr, /'one'/);
  assert.equal(readFileSync(join(cwd, 'recourse.lock'), 'utf8'), 'as it was');
});

test('a lock that nobody can read, or that a rule no longer fits, is renewed', (t) => {
  const cwd = folder(t);
  const rule = 'permit: small/echo\n        when: args.fresh == 1';
  writeFileSync(join(cwd, 'recourse.yaml'), `agents:\n${rules('bot', [rule])}tools:\n${smallServer()}`);
  writeFileSync(join(cwd, 'recourse.lock'), '{ merged badly');
  assert.equal(recourse(['check'], { cwd }).status, 1);
  const mended = recourse(['pin'], { cwd });
  assert.equal(mended.status, 0, mended.stderr);
  assert.match(mended.stderr, /could not be read/);
  assert.equal(recourse(['check'], { cwd }).status, 0);

  const lock = JSON.parse(readFileSync(join(cwd, 'recourse.lock'), 'utf8')) as {
    servers: { small: { tools: { echo: { inputSchema: object } } } };
  };
  lock.servers.small.tools.echo.inputSchema = { type: 'object', properties: { fresh: { type: 'string' } } };
  writeFileSync(join(cwd, 'recourse.lock'), `${JSON.stringify(lock, null, 2)}\n`);
  assert.equal(recourse(['check'], { cwd }).status, 1, 'the old lock says that it is a text');
  assert.equal(recourse(['pin'], { cwd }).status, 0);
  assert.equal(recourse(['check'], { cwd }).status, 0);
});

test('what is wrong with the file is told as check tells it', (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'recourse.yaml'), 'tols: {}\n');
  const { status, stderr } = recourse(['pin'], { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /^recourse\.yaml:1:1 error ConfigSchemaViolation /);
  assert.match(recourse(['pin', '--config', 'absent.yaml'], { cwd }).stderr, /absent\.yaml:1:1 .*does not exist/);
});
