/**
 * Which arguments of a server name the gateway's own files? With real folders; test/e2e/exposed-state.test.ts asks the
 * commands.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ServerConfig } from '../../config/config.ts';
import { warnExposed } from './warn-exposed.ts';

/** A store, and a server that runs in a folder beside it. */
function aHome(t: TestContext) {
  const home = mkdtempSync(path.join(realpathSync(tmpdir()), 'recourse-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cwd = path.join(home, 'safe');
  mkdirSync(cwd);
  symlinkSync(home, path.join(cwd, 'link'));
  const warned = (arg: string): readonly string[] => {
    const connect = { kind: 'stdio', command: 'node', args: ['x.js', arg], env: {}, cwd } as const;
    const at = { file: 'recourse.yaml', line: 3, column: 1 } as unknown as ServerConfig['at'];
    const server = { name: 'files', at, connect, timeoutMs: null, trustAnnotations: false, onError: null, rules: [] };
    const told: string[] = [];
    warnExposed([server], path.join(home, 'recourse.db'), home, (_at, message) => told.push(message));
    return told;
  };
  return { home, warned };
}

const onWindows = process.platform === 'win32';

test('a path that hangs on an option or a sign, or that a glob leads to, is warned of', { skip: onWindows }, (t) => {
  const { home, warned } = aHome(t);
  const [up, name] = [path.dirname(home), path.basename(home)];
  const attached = [`-C${home}`, `-I${home}/recourse.db`, '-C..', '-C/', `-isystem${home}`, `@${home}`, `x@${home}`];
  const inBrackets = [`[${home}]`, `(${home})`, `[${home},/usr]`, `[/usr,${home}]`, `{a:<${home}>}`, `cat(${home})`];
  const globs = [`${up}/*`, `${home}/*`, `${home}/recourse.*`, `${home.slice(0, -1)}?/**`, '../*', '/**/*.db', '/*'];
  const classes = [`${up}/[a-z]*`, `${up}/{${name},other}`, 'link/*', 'link/rec*.db.token'];
  const both = [`-C${home}/*`, `sh -c 'cat ${home}/*'`, `[${home}/*]`, `@${home}/rec*`];
  for (const each of [...attached, ...inBrackets, ...globs, ...classes, ...both]) {
    assert.equal(warned(each).length, 1, each);
    assert.match(warned(each)[0] ?? '', /^the server 'files' can reach .* through its argument 2, '/);
  }
});

test('words, and paths and globs that lead elsewhere, are not', { skip: onWindows }, (t) => {
  const { home, warned } = aHome(t);
  const words = ['-rf', '-C.', '--home', '@scope/package', 'a@b.org', '[x]', '(a|b)', '*', '**/*.ts', '.*', 'x?'];
  const expressions = [
    '{a,b}',
    '^/.*$',
    '[^/]+',
    '/[^/]+/g',
    's/a/b/',
    '(?:a/b)',
    'https://x.org/?q=*',
    '<a/>',
    '--a/b',
  ];
  const elsewhere = [
    '-C/usr',
    '@/usr',
    '[/usr]',
    '/usr/*',
    `${home}/*.txt`,
    `${home}/safe/*`,
    '/usr/**',
    `-C${home}/x`,
  ];
  for (const each of [...words, ...expressions, ...elsewhere]) assert.deepEqual(warned(each), [], each);
});
