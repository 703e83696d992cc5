import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { loadProject } from './load-project.ts';

const tools = `tools:
  shop: { http: { url: "https://shop.example.com" }, tools: { read: { request: { method: GET, path: / } } } }
  far: { mcp: { url: "https://far.example.com:8443/mcp" } }
`;

/** What is written about the agent, and the warnings about its list. */
const cases: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'a host that a rule needs is missing',
    'egress: { allow: [a.test] }, rules: [{ permit: shop/* }]',
    ["6: a rule of 'bot' could permit tools of 'shop', and its egress does not allow shop.example.com:443"],
  ],
  [
    'a server at an address',
    'egress: { allow: [shop.example.com] }, default: permit',
    ["6: a rule of 'bot' could permit tools of 'far', and its egress does not allow far.example.com:8443"],
  ],
  ['a list that has them', 'egress: { allow: ["*.example.com"] }, default: permit', []],
  [
    'a port that is missing',
    'egress: { allow: [shop.example.com, "far.example.com:443"] }, default: permit',
    ["6: a rule of 'bot' could permit tools of 'far', and its egress does not allow far.example.com:8443"],
  ],
  ['rules that permit neither', 'egress: { allow: [] }, rules: [{ deny: "**" }]', []],
  ['no list', 'default: permit', []],
];

for (const [what, written, expected] of cases)
  test(`check says about ${what}: ${expected.length === 0 ? 'nothing' : 'a warning at the list'}`, async (t) => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-egress-'));
    t.after(() => rmSync(cwd, { recursive: true, force: true }));
    writeFileSync(path.join(cwd, 'recourse.yaml'), `${tools}agents:\n  bot: {\n    ${written} }\n`);
    const loaded = await loadProject({ cwd });
    const { warnings } = loaded.ok ? loaded.project : loaded;
    const told = warnings.filter(({ message }) => message.includes('egress'));
    assert.deepEqual(
      told.map(({ line, message }) => `${line}: ${message}`),
      expected,
    );
  });
