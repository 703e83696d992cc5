/** What an author hears of a module that cannot be loaded: the line, and what is wrong in it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadWorkflowModule } from './load-workflow-module.ts';

const xstate = JSON.stringify(import.meta.resolve('xstate'));
const machine = (states: string) =>
  `import { createMachine } from ${xstate};\n\nexport const machine = createMachine({\n  id: 'bar',\n  initial: 'idle',\n  states: {\n${states}\n  },\n});\n`;

const table: readonly (readonly [what: string, name: string, text: string, message: RegExp])[] = [
  ['a throw', 'a.ts', 'const n: number = 1;\n\nthrow new TypeError("out of beans");\n', /: a\.ts:3: out of beans$/],
  [
    'a syntax error in TypeScript',
    'b.ts',
    'const n = 1;\nexport const x = { b: ;\n',
    /: b\.ts:2: Expression expected$/,
  ],
  [
    'a syntax error in JavaScript',
    'c.mjs',
    'const n = 1;\nexport const x = { b: ;\n',
    /: c\.mjs:2: Unexpected token ';'$/,
  ],
  ['an import that is not there', 'd.ts', '\nimport { nope } from "./helper.ts";\nnope();\n', /: d\.ts:2: .* 'nope'$/],
  ['a throw in what it imports', 'e.ts', 'import "./broken.ts";\n', /: broken\.ts:2: no beans$/],
  [
    'a throw whose message carries a stack',
    'poured.ts',
    '\nthrow new Error(`no water\\n    at pour (file:///away/pour.ts:7:1)\\n    at more`);\n',
    /: poured\.ts:2: no water$/,
  ],
  [
    'a target that does not exist',
    'f.ts',
    machine(
      "    idle: { on: { order: 'ordering' } },\n    ordering: { on: { pay: { target: 'payed' } } },\n    paid: {},",
    ),
    /: f\.ts:8: edge 'pay' of state 'ordering' leads to 'payed', which 'bar' does not have$/,
  ],
  [
    'a timer that leads nowhere',
    'g.ts',
    machine("    idle: { after: { 1000: 'late' }, on: { order: 'idle' } },"),
    /: g\.ts:7: after 1000 of state 'idle' leads to 'late', which 'bar' does not have$/,
  ],
  [
    'a target by its id, from a nested state',
    'h.ts',
    machine(
      "    idle: { initial: 'a', states: {\n      a: { on: { order: 'b' } },\n      b: { on: { // the last\n        pay: [{ guard: () => true, target: '#bar.zz' }] } } } },",
    ),
    /: h\.ts:10: edge 'pay' of state 'idle\.b' leads to 'zz', which 'bar' does not have$/,
  ],
  [
    'a timer to an id that nobody has',
    'i.ts',
    machine("    idle: { on: { order: 'idle' } },\n    late: {\n      after: { soon: '#zz' } },"),
    /: i\.ts:9: after soon of state 'late' leads to '#zz', which 'bar' does not have$/,
  ],
  [
    'a module that it imports and that is missing',
    'j.ts',
    'const n = 1;\nimport { a } from "./nofile.ts";\nexport { n, a };\n',
    /: j\.ts:2: Cannot find module '.*nofile\.ts' imported from /,
  ],
  [
    'a package that is missing',
    'k.ts',
    'import path from "node:path";\n\nimport a from "no-such-package/sub";\nexport { path, a };\n',
    /: k\.ts:3: Cannot find package 'no-such-package' imported from /,
  ],
];

test('of a module that cannot be loaded its author hears the line', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(path.join(folder, 'helper.ts'), 'export const yes = 1;\n');
  writeFileSync(path.join(folder, 'broken.ts'), 'const n = 1;\nthrow new Error("no beans");\n');
  for (const [what, name, text, message] of table) {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    const loaded = await loadWorkflowModule(file);
    assert.ok(!loaded.ok, what);
    const [problem] = loaded.problems;
    assert.match(problem?.message ?? '', message, what);
    assert.ok(!JSON.stringify(loaded).includes(pathToFileURL(folder).href), `${what}: no stack is shown`);
  }
});
