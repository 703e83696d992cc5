/** Mistakes in YAML itself, as people make them who write their first file: the advice must be one that mends it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../read-config.ts';

const cases: readonly (readonly [string, string, string])[] = [
  [
    'a condition that begins with !',
    'guard: !context.done\n',
    '1:8 this is not YAML: Unresolved tag: !context.done; put a text that begins with ! in quotes, or leave the tag out',
  ],
  [
    'a map that nobody closed',
    'tools: { files: {}\nagents: {}\n',
    '2:1 this is not YAML: Flow map in block collection must be sufficiently indented and end with a }; close it with } before this line, and indent what stands in it',
  ],
  [
    'a colon in a condition within brackets',
    'tools: { when: 1 > 0 ? true: false }\n',
    '1:16 this is not YAML: Block collections are not allowed within flow collections; put the text in quotes, or correct the YAML',
  ],
  [
    'two documents, told without advice for programmers',
    'tools: {}\n---\ntools: {}\n',
    '2:1 this is not YAML: Source contains multiple documents; keep one document, without ---',
  ],
];

for (const [name, text, expected] of cases)
  test(name, () => {
    const [first] = readConfig(text, 'recourse.yaml', { env: {} }).problems;
    assert.equal(`${first?.line}:${first?.column} ${first?.message}; ${first?.fix}`, expected);
  });
