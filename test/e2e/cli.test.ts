/** The command as people run it, by itself: help, the primer, and the package that is built from it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isObject } from '../../src/core/values/json.ts';
import { type CommandEntry, commands } from '../../src/doors/cli/arguments/commands.ts';
import { exitCodes } from '../../src/doors/cli/exit-codes.ts';
import { bin, folder, objectsIn, recourse, root } from '../support/recourse-process.ts';

test('help: no arguments, --help and help are the same, and fit a terminal', () => {
  const helps = [[], ['--help'], ['-h'], ['help']].map((words) => recourse(words));
  for (const help of helps) assert.deepEqual(help, helps[0]);
  const [{ status, stdout, stderr }] = helps as [ReturnType<typeof recourse>];
  assert.deepEqual([status, stderr], [0, '']);
  for (const part of ['Usage', 'Learn', 'Inspect', 'Audit', 'Examples', 'Exit codes', 'Read on'])
    assert.match(stdout, new RegExp(`^${part}$`, 'm'));
  for (const { code, says } of Object.values(exitCodes)) assert.ok(stdout.includes(`${code}  ${says}`));
});

test('colour is for terminals, unless it is asked for', () => {
  const escape = '\u001b[';
  assert.ok(!recourse(['--help']).stdout.includes(escape));
  assert.ok(recourse(['--help'], { env: { FORCE_COLOR: '1' } }).stdout.includes(escape));
  assert.ok(!recourse(['--help'], { env: { NO_COLOR: '1' } }).stdout.includes(escape));
});

test('the primer opens with the refund: on one screen, three refunds against one, the same on every run', (t) => {
  const home = folder(t);
  const env = { TMPDIR: home };
  const { status, stdout, stderr } = recourse(['primer'], { env });
  assert.deepEqual([status, stderr], [0, '']);
  const lines = stdout.trimEnd().split('\n');
  assert.ok(lines.length <= 20, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length <= 120, line);
  assert.match(stdout, /\bIn a retry loop\n(?: +\d +no answer\n){3} +3 refunds, \$120\n/);
  assert.match(stdout, /\bThrough Recourse, each time with the same key\n +1 +action_error, effect: unknown\n/);
  assert.match(stdout, /(?: +[23] +action_error, effect: unknown, replayed: true\n){2} +1 refund, \$40\n/);
  assert.match(stdout, /recourse primer --all/);
  assert.equal(recourse(['primer'], { env }).stdout, stdout);
  assert.deepEqual(readdirSync(home), []);
  const told = objectsIn(recourse(['primer', '--json'], { env }).stdout);
  for (const line of told) assert.deepEqual(Object.keys(line), ['say', 'request', 'reply']);
  assert.deepEqual([told[0]?.['reply'], told.at(-1)?.['reply']], [{ refunds: 3 }, { refunds: 1 }]);
});

test('the long primer is the same on every run, whole, and leaves nothing behind', (t) => {
  const home = folder(t);
  const env = { TMPDIR: home };
  const first = recourse(['primer', '--all'], { env });
  assert.deepEqual([first.status, first.stderr], [0, '']);
  assert.deepEqual(recourse(['primer', '--all'], { env }), first);
  assert.match(first.stdout, /✓ the journal holds\n {2}\d+ records, 1 epoch, \d+ payloads, 0 of them erased/);
  assert.match(first.stdout, /✓ input[\s\S]*– credential {2}not configured/);
  assert.doesNotMatch(first.stdout, /✗/);
  assert.ok(recourse(['primer', '--all'], { env: { ...env, FORCE_COLOR: '1' } }).stdout.includes('\u001b[32m'));
  assert.deepEqual(readdirSync(home), []);
});

test('the long primer for programs: each line says something, with request and reply', () => {
  const first = recourse(['primer', '--all', '--json']);
  assert.equal(recourse(['primer', '--all', '--json']).stdout, first.stdout);
  const lines = objectsIn(first.stdout);
  for (const line of lines) assert.deepEqual(Object.keys(line), ['say', 'request', 'reply']);
  const errors = new Set(lines.map(({ reply }) => (isObject(reply) ? reply['error'] : null)));
  for (const error of [
    'unknown_action',
    'validation_failed',
    'action_in_flight',
    'action_timeout',
    'action_error',
    'cancelled',
    'session_error',
    'denied',
  ])
    assert.ok(errors.has(error), error);
});

test('the primer without a place to write says so', (t) => {
  const { status, stderr } = recourse(['primer'], { env: { TMPDIR: join(folder(t), 'absent') } });
  assert.equal(status, 3);
  assert.match(stderr, /^recourse: no temporary folder can be made .*set TMPDIR.*\n$/);
});

test('output that cannot be written is a sentence, and no bug', { skip: !existsSync('/dev/full') }, (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const { status, stderr } = spawnSync(process.execPath, [bin, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  assert.equal(status, exitCodes.no.code);
  assert.equal(stderr, 'recourse: the output cannot be written (ENOSPC): check where it goes\n');
});

test('an old Node gets one sentence', () => {
  const pretend = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })';
  const { status, stdout, stderr } = recourse(['primer'], { node: ['--import', `data:text/javascript,${pretend}`] });
  assert.deepEqual([status, stdout, stderr.trimEnd().split('\n').length], [1, '', 1]);
  assert.match(stderr, /^recourse needs Node 24 or newer/);
});

test('the guide has the exit codes of the program', () => {
  const guide = readFileSync(join(root, 'docs/guides/cli.md'), 'utf8');
  for (const { code, says } of Object.values(exitCodes)) assert.ok(guide.includes(`| ${code} | ${says} |`));
});

test('the guide says what each command gives to programs', () => {
  const guide = readFileSync(join(root, 'docs/guides/cli.md'), 'utf8');
  const rows = (guide.split('## For programs')[1] ?? '').split('\n## ')[0]?.match(/^\| `[^|]+/gm) ?? [];
  for (const [name, { options }] of Object.entries<CommandEntry>(commands)) {
    if (!options.includes('json')) continue;
    const [first = '', last = first] = name.split(' ');
    const isTold = rows.some(
      (row) => row.includes(`\`${name}\``) || (row.includes(first) && row.includes(`\`${last}\``)),
    );
    assert.ok(isTold, `${name} --json is told nowhere`);
  }
});

test('the package: built, without sources, it does the same, and help loads nothing of the gateway', (t) => {
  const home = folder(t);
  const packed = join(home, 'bin/recourse.js');
  mkdirSync(join(home, 'bin'));
  writeFileSync(packed, readFileSync(bin));
  writeFileSync(join(home, 'package.json'), readFileSync(join(root, 'package.json')));
  const built = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      join(root, 'tsconfig.build.json'),
      '--outDir',
      join(home, 'dist'),
    ],
    { encoding: 'utf8' },
  );
  assert.equal(built.stdout, '');
  assert.deepEqual(recourse(['--help'], { command: packed }), recourse(['--help']));
  assert.deepEqual(recourse(['--version'], { command: packed }), recourse(['--version']));
  assert.equal(recourse(['cals'], { command: packed }).status, 2);

  // A command that is installed by itself serves what the project's own copy of the package mounted.
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'), 'dir');
  writeFileSync(
    join(home, 'door.ts'),
    `import { createMachine } from 'xstate';
     import { mount } from './dist/index.js';
     const machine = createMachine({ id: 'door', initial: 'shut', states: { shut: { on: { open: 'shut' } } } });
     export const workflow = mount(machine, { actions: { open: { run: async () => 1 } } });\n`,
  );
  const served = recourse(['serve', './door.ts'], { cwd: home });
  assert.deepEqual([served.status, /serving workflow 'door'/.test(served.stderr)], [0, true], served.stderr);

  // An extension imports the package by its name.
  writeFileSync(
    join(home, 'soap.ts'),
    `import { defineExtension } from 'recourse-gateway/extension';
     import { provesUpstream } from 'recourse-gateway/extension/testing';
     if (typeof provesUpstream !== 'function') throw new Error('no contracts');
     export default defineExtension({ name: 'soap', contract: 1 });\n`,
  );
  writeFileSync(join(home, 'recourse.yaml'), 'extensions: { soap: ./soap.ts }\n');
  const checked = recourse(['check'], { cwd: home, command: packed });
  assert.equal(checked.status, 0, `${checked.stdout}${checked.stderr}`);

  const demo = recourse(['demo', '--once', '--fast'], { cwd: home, command: packed });
  assert.equal(demo.status, 0, `${demo.stdout}${demo.stderr}`);

  rmSync(join(home, 'dist/main-cli.js'));
  const broken = recourse(['calls', 'ls'], { command: packed });
  assert.deepEqual([broken.status, broken.stdout, broken.stderr.trimEnd().split('\n').length], [4, '', 1]);
  assert.match(broken.stderr, /^recourse: this is a bug or a broken installation, err_\w+: .*install it again\.$/m);

  rmSync(join(home, 'dist/main.js'));
  rmSync(join(home, 'dist/shell'), { recursive: true });
  rmSync(join(home, 'node_modules'));
  assert.deepEqual(recourse(['--help'], { command: packed }), recourse(['--help']));
});
