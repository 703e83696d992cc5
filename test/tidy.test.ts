/** The house rules as tests. A rule that no test or compiler checks is only a wish; one that cannot fail is another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badConsoles } from './house/bad-consoles.ts';
import { houseRules } from './house/house-rules.ts';
import { maskSource, referencesOf, type Tree } from './house/read-source.ts';
import { ratchetFile } from './house/ratchet.ts';
import { readTree, subjectsFile } from './house/read-tree.ts';

type RuleName = keyof typeof houseRules;
const ruleNames = Object.keys(houseRules) as RuleName[];

const project: Tree = readTree();

for (const name of ruleNames) {
  test(name, () => assert.deepEqual(houseRules[name](project), []));
}

/** A tree in good order; each bad tree below differs from it by what it names. */
const good: Readonly<Record<string, string>> = {
  'README.md': '```\nnpm test   # everything\n```\n[why](docs/decisions/)\n',
  '.ci/run': '#!/usr/bin/env bash\nset -euo pipefail\nnpm test\n',
  'package.json': JSON.stringify({
    scripts: { test: 'node scripts/need-node.js && node scripts/test.js' },
    allowScripts: { node: true },
    dependencies: { ajv: '8.20.0' },
  }),
  'package-lock.json': '{ "packages": { "node_modules/ajv": { "version": "8.20.0", "integrity": "sha512-" } } }',
  'docs/decisions/README.md': '[0001](0001-runtime.md)\n',
  'docs/decisions/0001-runtime.md': '# Runtime\n',
  'src/doors/cli/start.ts':
    "/**\n * Starts.\n * Path of a call: 1/3. Next: shell/handle-call.ts.\n */\nimport '../../shell/handle-call.ts';\nconsole.log();\n",
  'src/shell/handle-call.ts':
    "/** Path of a call: 2/3. Next: core/decide.ts. */\nexport { decide } from '../core/decide.ts';\n",
  'src/core/decide.ts':
    "/** No Date, no await.\n * Path of a call: 3/3. Next: the agent. */\nimport { Ajv } from 'ajv/dist/2020.js';\nexport const decide = (kind: 'async' | 'x') => {\n  switch (kind) {\n    case 'x':\n      return Ajv;\n    default:\n      return 'Math.random';\n  }\n};\n",
  'src/client/call.ts':
    "/** Calls. */\nimport type { decide } from '../core/decide.ts';\nexport { send } from './send.ts';\n",
  'src/client/send.ts': '// Sends.\nexport const send = fetch;\n',
  'src/adapters/store/store.ts':
    "/** Stores. */\nnew URL(`./worker${path.extname(import.meta.url)}`, import.meta.url);\nnew URL('../../../package.json', import.meta.url);\n",
  'src/adapters/store/worker.ts': '// Works.\nexport {};\n',
};

test('a tree in good order breaks no rule', () => {
  const tree = new Map(Object.entries(good));
  for (const name of ruleNames) assert.deepEqual(houseRules[name](tree), [], name);
});

const sayIn = (file: string, text: string) => ({ [file]: `/** Header. */\n${text}\n` });
const manifest = (change: object) => ({
  'package.json': JSON.stringify({ ...(JSON.parse(good['package.json'] ?? '') as object), ...change }),
});
const listed = (rule: RuleName, figures: object) => ({ [ratchetFile]: JSON.stringify({ above: { [rule]: figures } }) });
const aFunction = (name: string, body: string, parameters = '') =>
  sayIn('src/core/x.ts', `export function ${name}(${parameters}) {\n${body}}`);
const branches = (count: number) => aFunction('f', '  if (a) b();\n'.repeat(count));
const parameters = (count: number) =>
  aFunction('f', '', Array.from({ length: count }, (_, n) => `p${n}: 1`).join(', '));
const lines = (count: number, name = 'f', end = '') => aFunction(name, `${'  a();\n'.repeat(count)}${end}`);
const folderOf = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/x${n}.ts`, '// X.\n']));
const wide = 'a word '.repeat(20);
const locked = (packages: object) => ({ 'package-lock.json': JSON.stringify({ packages }) });

/** What each rule must complain of. Words that a rule would find in this very file are put together from two. */
const bad: Readonly<Record<RuleName, readonly Readonly<Record<string, string>>[]>> = {
  'layers import only downwards': [
    sayIn('src/core/x.ts', "import type { Store } from '../ports/store.ts';"),
    sayIn('src/ports/x.ts', "import {\n  type A,\n  type B,\n} from '../shell/b.ts';"),
    sayIn('src/doors/http/x.ts', "import type { Store } from '../../ports/store.ts';"),
    sayIn('src/doors/http/x.ts', "import { createGateway } from '../../main.ts';"),
    sayIn('src/shell/x.ts', "const a = await import('../adapters/store/store.ts');"),
    sayIn('src/shell/x.ts', "new URL('../adapters/store/worker.js', import.meta.url);"),
    sayIn('src/shell/x.ts', "type A = import('../adapters/store/store.ts').A;"),
    sayIn('src/client/x.ts', "export * from '../shell/handle-call.ts';"),
    sayIn('src/config/x.ts', "import '../doors/cli/start.ts';"),
    sayIn('src/faults/x.ts', "import { handleCall } from '../shell/handle-call.ts';"),
    sayIn('src/shell/x.ts', "import { startFaults } from '../faults/start-faults.ts';"),
    sayIn('src/index.ts', "export { handleCall } from './shell/handle-call.ts';"),
    sayIn('src/core/x.ts', "import { aCall } from '../../test/support/builders.ts';"),
    sayIn('src/stray.ts', ''),
  ],
  'doors and adapters do not know their siblings': [
    sayIn('src/doors/http/x.ts', "import { start } from '../cli/start.ts';"),
    sayIn('src/doors/shared/x.ts', "import { start } from '../cli/start.ts';"),
    sayIn('src/adapters/pg/x.ts', "import type { Row } from '../store/store.ts';"),
    sayIn('src/adapters/shared/x.ts', "import type { Row } from '../store/store.ts';"),
  ],
  ...badConsoles,
  'no import goes in a circle, types included': [
    { 'src/core/a.ts': "import type { B } from './b.ts';", 'src/core/b.ts': "export {\n  type A,\n} from './a.ts';" },
    { 'src/core/a.ts': "import type { A } from './a.ts';" },
    { 'src/adapters/store/worker.ts': "import type { Message } from './store.ts';" },
    { 'src/core/a.ts': "const b = import('./b.ts');", 'src/core/b.ts': "import './a.ts';" },
  ],
  'the core is pure: itself and the pure engines, no clock, chance or promise': [
    sayIn('src/core/x.ts', "import { createHash } from 'node:crypto';"),
    sayIn('src/core/x.ts', "import zod from 'ajv-like';"),
    ...['new Date()', 'Math.random()', 'async () => 1', 'let a: Promise<1>', 'f(...process.argv)', '`${Date}`'].map(
      (code) => sayIn('src/core/x.ts', `${code};`),
    ),
    sayIn('src/core/x.ts', "const quotes = /['\"`]/; setTimeout(f, '1');"),
    sayIn('src/core/x.ts', 'const half = a / b; new TextEncoder(); // a / b'),
  ],
  'the client runs anywhere: no package, no Node, and of the core only types': [
    sayIn('src/client/x.ts', "import { readFileSync } from 'node:fs';"),
    sayIn('src/client/x.ts', "import type { Ajv } from 'ajv';"),
    sayIn('src/client/x.ts', "import { decide } from '../core/decide.ts';"),
    sayIn('src/client/x.ts', "import { type Decision } from '../core/decide.ts';"),
    sayIn('src/client/x.ts', "export * from '../core/decide.ts';"),
    sayIn('src/client/x.ts', "const decide = await import('../core/decide.ts');"),
  ],
  'what is published imports only what it declares': [
    sayIn('src/shell/x.ts', "import type { Spec } from '@standard-schema/spec';"),
    sayIn('src/shell/x.ts', "import { z } from 'ajv-keywords';"),
  ],
  'no file is longer than 300 lines': [
    { 'src/core/x.ts': 'a;\n'.repeat(301) },
    { 'bench/x.ts': 'a;\n'.repeat(301) },
    { 'scripts/x.js': 'a;\n'.repeat(301) },
  ],
  'every source file opens with a header of at most six lines': [
    { 'src/core/x.ts': 'export {};\n/** Too late. */\n' },
    { 'src/core/x.ts': `/**\n${' * Line.\n'.repeat(7)} */\n` },
    { 'src/core/x.ts': '// Line.\n'.repeat(7) },
    { 'src/core/x.ts': '/** */\n' },
  ],
  'the path of a call is a chain without gaps': [
    { 'src/core/decide.ts': '/** Off the path. */\n' },
    { 'src/shell/handle-call.ts': '/** Path of a call: 2/3. Next: core/lifecycle.ts. */\n' },
    { 'src/core/decide.ts': '/** Path of a call: 3/4. Next: the agent. */\n' },
    { 'src/core/decide.ts': '/** Path of a call: 3/3. Next: shell/handle-call.ts. */\n' },
    { 'src/ports/x.ts': '/** Path of a call: four. */\n' },
  ],
  'every switch ends with a default': [
    sayIn('src/core/x.ts', "switch (f(a)) {\n  case 'b':\n    return { default: 1 };\n}"),
    sayIn('src/core/x.ts', 'switch (a) {\n  case 1:\n    switch (b) {\n      default:\n        c();\n    }\n}'),
    sayIn('src/core/x.ts', 'switch (a) {\n  default:\n    b();\n  case 1:\n    c();\n}'),
  ],
  'an error that is ignored says why': [
    ...[
      'try { a(); } catch {}',
      'try { a(); } catch (error) {\n  // Nothing to do.\n}',
      'a().catch(() => undefined);',
    ].map((code) => sayIn('src/shell/x.ts', code)),
    ...[
      'a().catch((error: unknown) => {});',
      'a().catch(() => null);',
      "a().catch(() => 'x');",
      'a().catch(() => last);',
    ].map((code) => sayIn('scripts/x.js', code)),
    sayIn('src/shell/x.ts', '// Ignored: too far away.\n\na().catch(() => false);'),
  ],
  'only the command line writes to the console': [sayIn('src/shell/x.ts', 'console.error(1);')],
  'nothing is left for later and no test is switched off': [
    sayIn('src/core/x.ts', `// ${'TO'}DO: mend`),
    { 'docs/guide.md': `${'FIX'}ME\n` },
    { 'test/x.test.ts': `test.${'only'}('a', () => {});\n` },
  ],
  'files of code have kebab-case names that say something': [
    { 'src/core/decideCall.ts': '' },
    { 'test/Chaos/kill.test.ts': '' },
    { 'src/core/call_state.ts': '' },
    { 'src/core/call-utils.ts': '' },
  ],
  'no default exports': [{ 'src/core/x.ts': 'export default 1;\n' }, { 'bench/x.ts': 'export { x as default };\n' }],
  'package.json pins exact versions': [
    manifest({ dependencies: { ajv: '^8.20.0' } }),
    manifest({ devDependencies: { node: '24' } }),
    manifest({ devDependencies: { node: 'latest' } }),
    manifest({ allowScripts: { 'node@24.21.0': true } }),
  ],
  'every script begins with the check of Node': [manifest({ scripts: { test: 'node --test' } })],
  'the lock file names no addresses': [{ 'package-lock.json': '{ "a": { "resolved": "https://example.com/a.tgz" } }' }],
  'the lock file is whole for all platforms': [
    locked({ 'node_modules/a': { integrity: 'sha512-', optionalDependencies: { 'a-darwin-arm64': '1.0.0' } } }),
    locked({
      'node_modules/a': { integrity: 'sha512-', dependencies: { b: '1.0.0' } },
      'node_modules/c/node_modules/b': { integrity: 'sha512-' },
    }),
    locked({ '': { devDependencies: { a: '1.0.0' } } }),
    locked({ 'node_modules/a': { version: '1.0.0' } }),
  ],
  'no file names a registry host': [
    { 'docs/guide.md': `see https://${'registry'}.example.org/ajv\n` },
    { '.npmrc': `${'registry'}=https://mirror.example.com/\n` },
  ],
  'no file names a path of a machine': [
    { 'docs/guide.md': `in \`/${'home'}/me/project\`\n` },
    sayIn('src/core/x.ts', `// file:///${'root'}/a`),
    { 'bench/x.ts': `open('/${'work'}')` },
  ],
  'links in documents lead somewhere': [
    { 'docs/guide.md': '[a](decisions/0001-runtime.md) [b](gone.md#part)\n' },
    { 'CHANGELOG.md': '[c](docs/gone/)\n' },
  ],
  'every decision is in the index': [{ 'docs/decisions/0002-store.md': '# Store\n' }],
  'CI runs the test command of the README and nothing else': [
    { '.ci/run': 'npm test\nnpm run bench\n' },
    { '.ci/run': 'npm run check\n' },
    { 'README.md': 'Run it.\n' },
  ],
  'the command loads files that are there': [{ 'bin/recourse.js': "await load('doors/cli/gone');\n" }],
  'no function has a cyclomatic complexity above 15, tables excepted': [
    branches(15),
    { 'scripts/x.js': `const f = () => {\n${'if (a) b();\n'.repeat(15)}};\n` },
    {
      ...branches(16),
      ...listed('no function has a cyclomatic complexity above 15, tables excepted', { 'src/core/x.ts f': 16 }),
    },
    {
      ...branches(16),
      ...listed('no function has a cyclomatic complexity above 15, tables excepted', { 'src/core/x.ts f': 18 }),
    },
    listed('no function has a cyclomatic complexity above 15, tables excepted', { 'src/core/x.ts f': 16 }),
  ],
  'no function is longer than 60 lines, a factory 120': [
    lines(60),
    lines(60, 'create', '  return { a };\n'),
    lines(60, 'createX', '  a(1);\n'),
    lines(120, 'createX', '  return { a };\n'),
  ],
  'no function has more than 5 parameters': [
    parameters(6),
    { ...parameters(7), ...listed('no function has more than 5 parameters', { 'src/core/x.ts f': 6 }) },
  ],
  'no folder has more than 20 files, tests beside their source not counted': [
    folderOf('src/core/y', 21),
    folderOf('test/y', 21),
    listed('no folder has more than 20 files, tests beside their source not counted', { 'test/y': 21 }),
  ],
  'no line of a document is wider than 120 columns': [
    { 'docs/guide.md': `${wide}\n` },
    {
      'docs/guide.md': `${wide}\n${wide}\n`,
      ...listed('no line of a document is wider than 120 columns', { 'docs/guide.md': 1 }),
    },
  ],
  'no subject of a commit is longer than 72 characters': [{ [subjectsFile]: `Say why\n${'Say '.repeat(19)}\n` }],
  'a table is named only where one is': [{ [ratchetFile]: '{ "tables": ["src/core/decide.ts decide"] }' }],
};

test('what is listed as it is, or is within a limit, breaks no ratchet', () => {
  const complexity = 'no function has a cyclomatic complexity above 15, tables excepted';
  for (const change of [
    branches(14),
    { ...branches(15), ...listed(complexity, { 'src/core/x.ts f': 16 }) },
    { ...branches(15), [ratchetFile]: JSON.stringify({ tables: ['src/core/x.ts f'] }) },
    lines(100, 'createX', '  return { a };\n'),
    { ...folderOf('src/core/y', 20), 'src/core/y/x.test.ts': '' },
    { 'docs/guide.md': `| ${wide}|\nhttps://example.com/${'x'.repeat(120)}\n` },
  ]) {
    const tree = new Map(Object.entries({ ...good, ...change }));
    for (const name of ruleNames) assert.deepEqual(houseRules[name](tree), [], `${name}: ${JSON.stringify(change)}`);
  }
});

for (const name of ruleNames) {
  test(`can fail: ${name}`, () => {
    for (const change of bad[name]) {
      const complaints = houseRules[name](new Map(Object.entries({ ...good, ...change })));
      assert.notDeepEqual(complaints, [], `silent on ${JSON.stringify(change)}`);
    }
  });
}

test('masking keeps code, offsets and line ends, and nothing of comments, strings and patterns', () => {
  const text = [
    "const a = 'Date'; // Date",
    '/* Date',
    '   Date */ const b = `Date ${f({ Good: `Date` })} Date`;',
    String.raw`const c = /[/'"]Date\//g.test("Date \" Date") ? Good / 2 / 3 : 'it\'s Date';`,
    'return /Date/;',
  ].join('\n');
  const masked = maskSource(text);
  assert.equal(masked.length, text.length);
  assert.equal(masked.split('\n').length, text.split('\n').length);
  assert.doesNotMatch(masked, /Date/);
  assert.deepEqual([...masked.matchAll(/Good/g)].length, 2);
  for (const { index } of masked.matchAll(/Good/g)) assert.equal(text.slice(index, index + 4), 'Good');
});

test('references are found however they are written, and not in comments', () => {
  const text = `
    import type {
      A,
    } from './a.ts'; // import './no.ts';
    import b, { type C } from "./b.ts";
    export * as d from './d.ts';
    import './e.ts';
    const f = await import(\`./f.ts\`);
    new Worker(new URL(\`./g\${extension}\`, import.meta.url));
    const h = "import './no.ts'";
  `;
  const found = referencesOf(text).map(({ specifier }) => specifier);
  assert.deepEqual(found.sort(), ['./a.ts', './b.ts', './d.ts', './e.ts', './f.ts', './g']);
});
