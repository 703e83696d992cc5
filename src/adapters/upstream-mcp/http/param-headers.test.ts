import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../core/values/json.ts';
import { paramHeaders } from './param-headers.ts';

const marked = (mark: unknown): JsonObject => ({ type: 'object', properties: { a: { 'x-mcp-header': mark as Json } } });

test('marked arguments become headers; what a header cannot carry travels as base64', () => {
  const cases: readonly [Json, string | undefined][] = [
    ['plain text', 'plain text'],
    ['Zürich', '=?base64?WsO8cmljaA==?='],
    [' padded', '=?base64?IHBhZGRlZA==?='],
    ['two\r\nlines: x', '=?base64?dHdvDQpsaW5lczogeA==?='],
    ['=?base64?QQ==?=', '=?base64?PT9iYXNlNjQ/UVE9PT89?='],
    ['', '=?base64??='],
    [42, '42'],
    [true, 'true'],
    [2 ** 60, undefined],
    [null, undefined],
    [{ deep: 1 }, undefined],
  ];
  for (const [value, expected] of cases) {
    assert.equal(paramHeaders(marked('Name'), { a: value })['Mcp-Param-Name'], expected, JSON.stringify(value));
  }
});

test('marks count along properties only, and a mark that is no header name counts nowhere', () => {
  const schema: JsonObject = {
    properties: {
      outer: { properties: { inner: { 'x-mcp-header': 'Inner' } } },
      list: { items: { 'x-mcp-header': 'Item' } },
    },
    anyOf: [{ properties: { x: { 'x-mcp-header': 'Branch' } } }],
  };
  assert.deepEqual(paramHeaders(schema, { outer: { inner: 'i' }, list: ['l'], x: 'b' }), { 'Mcp-Param-Inner': 'i' });
  for (const mark of ['', 'two words', 'a:b', 'a\r\nb', 7, null])
    assert.deepEqual(paramHeaders(marked(mark), { a: 'x' }), {});
  assert.deepEqual(paramHeaders(null, { a: 'x' }), {});
  assert.deepEqual(paramHeaders(marked('N'), {}), {});
});
