/** Templates with names of arguments in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesInTemplate, parseTemplate } from './text-template.ts';

const good: readonly (readonly [string, string, unknown])[] = [
  ['a text without a name is one part', 'plain', [{ kind: 'text', text: 'plain' }]],
  ['a name alone is one part', '{id}', [{ kind: 'name', name: 'id' }]],
  [
    'names and text follow each other',
    '/v1/{a}/x{b}',
    [
      { kind: 'text', text: '/v1/' },
      { kind: 'name', name: 'a' },
      { kind: 'text', text: '/x' },
      { kind: 'name', name: 'b' },
    ],
  ],
  [
    'doubled braces are braces',
    '{{{a}}}',
    [
      { kind: 'text', text: '{' },
      { kind: 'name', name: 'a' },
      { kind: 'text', text: '}' },
    ],
  ],
  ['an empty text has no parts', '', []],
];

for (const [name, text, parts] of good) test(name, () => assert.deepEqual(parseTemplate(text), { ok: true, parts }));

for (const text of ['{', '}', 'a{b', '{}', '{a}}'])
  test(`'${text}' is refused`, () => {
    assert.equal(parseTemplate(text).ok, false);
    assert.deepEqual(namesInTemplate(text), []);
  });
