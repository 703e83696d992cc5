/** Which servers does `recourse serve` start for a workflow? */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../config/read-config.ts';
import { serversFor } from './serve-options.ts';

const text = `tools:
  files: { mcp: { command: a } }
  bank: { mcp: { command: b } }
workflows:
  none: { initial: a, actions: { go: {} }, states: { a: { on: { go: a } } } }
  pays: { initial: a, actions: { go: {}, pay: { tool: bank/pay } }, states: { a: { on: { go: a, pay: a } } } }
  coded: ./coded.ts
`;

const cases: readonly (readonly [asked: string, servers: readonly string[], because: string])[] = [
  ['none', [], 'its actions call nothing, and it has no code of an author'],
  ['pays', ['bank'], 'one of its actions names it'],
  ['coded', ['files', 'bank'], 'a body may call any tool'],
  ['./coded.ts', ['files', 'bank'], 'a body may call any tool'],
  ['./none.ts', ['files', 'bank'], 'a module by its path is not the workflow of the same name'],
];

for (const [asked, servers, because] of cases)
  test(`serve ${asked} starts ${servers.join(' and ') || 'none'}: ${because}`, () => {
    const { config, allProblems } = readConfig(text, 'recourse.yaml', { env: {} });
    assert.deepEqual(allProblems(), []);
    assert.deepEqual(
      serversFor(asked, config).map(({ name }) => name),
      servers,
    );
  });
