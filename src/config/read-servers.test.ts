import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './read-config.ts';

test('a read cannot be declared to be in doubt when it fails', () => {
  const declared = (rule: string) =>
    readConfig(`tools: { files: { mcp: { command: x }, tools: { look: { ${rule} } } } }`, 'recourse.yaml').problems;
  assert.deepEqual(
    declared('effect: pure, on_error: unknown').map(({ message, fix }) => `${message}; ${fix}`),
    ["'look' is pure, and a read that fails has had no effect; leave on_error out, or correct effect"],
  );
  for (const rule of ['effect: pure, on_error: none', 'on_error: unknown', 'effect: plain, on_error: none'])
    assert.deepEqual(declared(rule), [], rule);
});

/** What is written about a server, and the problem. */
const wrongEgress: readonly (readonly [string, string, string])[] = [
  [
    'an entry that is no host',
    'mcp: { command: x }, egress: { allow: [a.test, 10.0.0.1/8] }',
    "1:66 '10.0.0.1/8' is no range of addresses; write its first address, such as 10.0.0.0/8",
  ],
  [
    'a hold that there is not',
    'mcp: { command: x }, egress: { allow: [], hold: jail }',
    "1:67 'jail' is not known here; use one of proxy, namespace",
  ],
  ['no list', 'mcp: { command: x }, egress: {}', "1:48 the key 'allow' is missing; add allow: … (these and no others)"],
  [
    'a list of an address',
    'mcp: { url: "https://a.test" }, egress: { allow: [] }',
    "1:51 'egress' has no meaning with url; use egress of the agents",
  ],
];

for (const [what, written, problem] of wrongEgress)
  test(`egress of a server with ${what} is told`, () => {
    const { problems } = readConfig(`tools: { files: { ${written} } }`, 'recourse.yaml');
    assert.deepEqual(
      problems.map(({ line, column, message, fix }) => `${line}:${column} ${message}; ${fix}`),
      [problem],
    );
  });

test('egress of a server is read, and a proxy holds it unless the file says otherwise', () => {
  const read = (more: string) =>
    readConfig(`tools: { files: { mcp: { command: x }, egress: { allow: [a.test]${more} } } }`, 'recourse.yaml').config
      .tools[0]?.egress;
  assert.deepEqual(read(''), { allow: ['a.test'], hold: 'proxy' });
  assert.deepEqual(read(', hold: namespace'), { allow: ['a.test'], hold: 'namespace' });
});
