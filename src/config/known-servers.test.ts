import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownServers, knownTool, packageStarted } from './known-servers.ts';

const files = '@modelcontextprotocol/server-filesystem';

test('a package is known by the command line that starts it, and by no name that anybody can take', () => {
  const cases: readonly [string, readonly string[], string | null][] = [
    ['npx', ['-y', files, '.'], files],
    ['npx', ['--yes', `${files}@2026.8.31`, '.'], files],
    ['npx', [`${files}@latest`], files],
    ['C:\\Program Files\\nodejs\\npx.cmd', ['-y', files], files],
    ['bunx', [files], files],
    ['cmd', ['/c', 'npx', '-y', files], files],
    ['cmd', ['/c', 'evil', '-y', files], null],
    ['cmd', ['/c'], null],
    ['node', [`/opt/node_modules/${files}/dist/index.js`, '.'], files],
    ['/usr/bin/node', [`/a/node_modules/b/node_modules/${files}/dist/index.js`], files],
    ['npx', ['-y', 'left-pad@1.0.0'], 'left-pad'],
    // Another package under this name.
    ['npx', ['-y', `${files}@npm:evil@1.0.0`], null],
    ['npx', ['-y', `${files}@file:../evil`], null],
    ['npx', ['-y', `${files}@github:evil/evil`], null],
    ['npx', ['-y', `${files}@https://evil.example/a.tgz`], null],
    ['npx', ['--registry', 'evil.example', files], null],
    ['npx', ['--package', 'evil', files], null],
    ['npx', ['-p', 'evil', files], null],
    ['npx', ['-c', files], null],
    ['npx', [`./${files}`], null],
    ['npx', [], null],
    ['node', ['--import', './evil.js', `/opt/node_modules/${files}/dist/index.js`], null],
    ['node', [`/opt/node_modules/${files}/../../../evil.js`], null],
    ['node', ['evil.js', `/opt/node_modules/${files}/dist/index.js`], null],
    ['node', [`/opt/${files}/dist/index.js`], null],
    ['node', [], null],
    ['mcp-server-filesystem', ['.'], null],
    ['./npx-evil', [files], null],
    ['python', [`/opt/node_modules/${files}/dist/index.js`], null],
  ];
  for (const [command, args, expected] of cases)
    assert.equal(packageStarted(command, args), expected, [command, ...args].join(' '));
});

test('a tool is known by package, name and hash together', () => {
  const known = knownServers[files]?.['edit_file'];
  assert.ok(known !== undefined);
  const { sha256 } = known;
  assert.equal(knownTool(files, 'edit_file', sha256), known);
  assert.equal(
    knownTool(
      files,
      'edit_file',
      sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    ),
    null,
  );
  assert.equal(knownTool(files, 'read_file', sha256), null);
  assert.equal(knownTool('@modelcontextprotocol/server-memory', 'edit_file', sha256), null);
  for (const other of [null, 'evil', 'constructor', '__proto__'])
    assert.equal(knownTool(other, 'edit_file', sha256), null);
  for (const name of ['constructor', 'toString', '__proto__']) assert.equal(knownTool(files, name, sha256), null);
});
