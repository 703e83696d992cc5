import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type IncludedFile, includesIn } from './merge-files.ts';
import { readConfig } from '../read-config.ts';

function readAll(main: string, files: Readonly<Record<string, string | IncludedFile>>) {
  const included = new Map(
    Object.entries(files).map(([name, text]) => [
      name,
      typeof text === 'string' ? { ok: true as const, file: name.replace('./', ''), text } : text,
    ]),
  );
  const read = readConfig(main, 'main.yaml', { env: {}, included, lock: null });
  const problems = read
    .allProblems()
    .map(({ file, line, column, text, message, fix }) => `${file}:${line}:${column} [${text}] ${message}; ${fix}`);
  return { ...read, problems };
}

test('what several files say is one configuration, and each line keeps its file', () => {
  const { config, problems } = readAll(
    'include: [./a.yaml, ./b.yaml]\nagents:\n  main: { default: permit }\nroles: { r: [x] }\n',
    {
      './a.yaml':
        'agents:\n  first:\n    rules:\n      - permit: x\ntools: { shop: { mcp: { command: s, cwd: . } } }\n',
      './b.yaml': '\nroles: { s: [y] }\nagents:\n  second: { mode: network }\nworkflows: { w: ./w.ts }\n',
    },
  );
  assert.deepEqual(problems, []);
  assert.equal(config.policy?.ref, 'main.yaml:2');
  assert.deepEqual(
    config.policy.agents.map(({ agent, ref }) => `${agent} ${ref}`),
    ['main main.yaml:3', 'first a.yaml:2', 'second b.yaml:4'],
  );
  assert.equal(config.policy.agents[1]?.rules[0]?.ref, 'a.yaml:4');
  assert.equal(config.policy.agents[2]?.ceiling?.ref, 'b.yaml:4');
  assert.deepEqual(config.roles, { r: ['x'], s: ['y'] });
  assert.deepEqual([config.tools[0]?.at.file, config.workflows[0]?.at.file], ['a.yaml', 'b.yaml']);
});

test('agents that stand only in an included file are a policy too', () => {
  const { config } = readAll('include: [a.yaml]\n', { 'a.yaml': '# agents\nagents: {}\n' });
  assert.deepEqual(config.policy, { mode: 'enforce', ref: 'a.yaml:2', agents: [] });
});

const wrong: readonly (readonly [what: string, main: string, included: string | IncludedFile, problem: string])[] = [
  [
    'a name in two files',
    'include: [a.yaml]\nagents:\n  x: {}\n',
    'agents:\n  y: {}\n  x: {}\n',
    "a.yaml:3:3 [  x: {}] 'x' stands in main.yaml:3 already; keep one of them, or give it another name",
  ],
  [
    'runtime in an included file',
    'include: [a.yaml]\n',
    'runtime: {}\n',
    "a.yaml:1:1 [runtime: {}] 'runtime' cannot stand in a file that is included; move it to the file that includes this one",
  ],
  [
    'a file that includes on',
    'include: [a.yaml]\n',
    'include: [main.yaml]\n',
    "a.yaml:1:1 [include: [main.yaml]] 'include' cannot stand in a file that is included; move it to the file that includes this one",
  ],
  [
    'an unknown key in an included file',
    'include: [a.yaml]\n',
    'agnets: {}\n',
    "a.yaml:1:1 [agnets: {}] there is no key 'agnets' here; did you mean agents?",
  ],
  [
    'broken YAML in an included file',
    'include: [a.yaml]\n',
    'agents: [\n',
    'a.yaml:2:1 [] this is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]; close it with ] before this line, and indent what stands in it',
  ],
  [
    'an included file that is a list',
    'include: [a.yaml]\n',
    '- x\n',
    'a.yaml:1:1 [- x] a list stands here; write a map with keys such as agents or tools',
  ],
  [
    'what cannot be joined',
    'include: [a.yaml]\nagents: {}\n',
    'agents: [x]\n',
    'a.yaml:1:9 [agents: [x]] this cannot be joined with main.yaml:2; write a map',
  ],
  [
    'what cannot be joined in the main file',
    'include: [a.yaml]\nagents: x\n',
    'agents: {}\n',
    'main.yaml:2:9 [agents: x] this cannot be joined with a.yaml:1; write a map',
  ],
  [
    'a file that is not there',
    'include: [a.yaml]\n',
    { ok: false, message: "there is no file 'a.yaml'", fix: 'correct the path' },
    "main.yaml:1:11 [include: [a.yaml]] there is no file 'a.yaml'; correct the path",
  ],
  [
    'a file that is included twice',
    'include: [a.yaml, a.yaml]\n',
    'agents: { x: {} }\n',
    "main.yaml:1:19 [include: [a.yaml, a.yaml]] 'a.yaml' is read already; leave it out",
  ],
  [
    'a file that includes itself',
    'include: [a.yaml]\n',
    { ok: true, file: 'main.yaml', text: 'include: [a.yaml]\n' },
    "main.yaml:1:11 [include: [a.yaml]] 'main.yaml' is read already; leave it out",
  ],
  [
    'an include that is no list',
    'include: a.yaml\n',
    '',
    'main.yaml:1:10 [include: a.yaml] "a.yaml" stands here; write a list (other files, from the folder of this one)',
  ],
  [
    'more files than may be included',
    `include: [${'x, '.repeat(64)} x]\n`,
    '',
    `main.yaml:1:10 [${`include: [${'x, '.repeat(64)} x]`.slice(0, 200)}] this list is longer than 64; make it shorter`,
  ],
  [
    'a file that was not read',
    'include: [b.yaml]\n',
    '',
    "main.yaml:1:11 [include: [b.yaml]] 'b.yaml' was not read; name it by its path from the folder of this file",
  ],
];

for (const [what, main, included, problem] of wrong) {
  test(`${what} is told with its file`, () =>
    assert.deepEqual(readAll(main, { 'a.yaml': included }).problems, [problem]));
}

test('the paths that are included are found before anything is checked', () => {
  assert.deepEqual(includesIn('include: [./a.yaml, b/c.yaml, ./a.yaml, [x], 3]\nagents: oops\n'), [
    './a.yaml',
    'b/c.yaml',
  ]);
  assert.deepEqual(includesIn('include: x'), []);
  assert.deepEqual(includesIn('[['), []);
  assert.equal(includesIn(`include: [${Array.from({ length: 99 }, (_, at) => `f${at}`).join(', ')}]`).length, 64);
});
