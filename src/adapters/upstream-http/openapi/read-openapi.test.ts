/** What becomes of one operation: its arguments, its request, its schemas; or the reason why it is no tool. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileSchema } from '../../../core/schema/compile-schema.ts';
import type { Json, JsonObject } from '../../../core/values/json.ts';
import { targetOf } from '../../../../test/support/http/api.ts';
import { buildRequest } from '../build-request.ts';
import { type OpenApiTool, readOpenApi } from './read-openapi.ts';

type Loose = Record<string, unknown>;

const document = (operation: Loose, more: Loose = {}, at = '/things/{id}', method = 'post') =>
  JSON.stringify({
    openapi: '3.0.3',
    paths: { [at]: { [method]: { operationId: 'do/it', ...operation } } },
    ...more,
  });

const pathId = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });

function toolIn(text: string): OpenApiTool {
  const read = readOpenApi(text);
  assert.ok(read.ok, read.ok ? '' : read.problem);
  assert.deepEqual(read.refused, []);
  const [tool] = read.tools;
  assert.ok(tool);
  return tool;
}

function sentBy(tool: OpenApiTool, args: JsonObject) {
  const built = buildRequest(targetOf('https://a.example'), tool.plan, args, null);
  assert.ok(built.ok, built.ok ? '' : built.problem);
  const { url, headers, body } = built.request;
  return [`${url.pathname}${url.search}`, headers.get('x-trace') ?? null, body];
}

const accepts = (schema: JsonObject | null, value: Json): boolean => {
  const compiled = compileSchema(schema ?? {});
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.problem);
  return compiled.check(value).length === 0;
};

const flat = { required: true, ...json({ type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }) };
const parameters = [
  pathId,
  { name: 'filter[tag]', in: 'query', schema: { type: 'array', items: { type: 'string' } }, explode: false },
  { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
];

describe('an operation', () => {
  test('takes path, query, header and body as arguments', () => {
    const tool = toolIn(document({ parameters, requestBody: flat, summary: 'Does it.' }));
    assert.deepEqual([tool.name, tool.description], ['do_it', 'Does it.']);
    const args = { id: 'a b', filter_tag_: ['x', 'y'], 'X-Trace': 't', n: 1 };
    assert.ok(accepts(tool.input, args));
    assert.ok(!accepts(tool.input, { id: 'a' }), 'n is required');
    assert.ok(!accepts(tool.input, { ...args, more: 1 }));
    assert.deepEqual(sentBy(tool, args), ['/things/a%20b?filter%5Btag%5D=x%2Cy', 't', '{"n":1}']);
  });

  test('keeps a body apart whose fields collide with parameters', () => {
    const body = { required: true, ...json({ type: 'object', properties: { id: { type: 'integer' } } }) };
    const tool = toolIn(document({ parameters: [pathId], requestBody: body }));
    assert.deepEqual(sentBy(tool, { id: 'a', body: { id: 1 } }), ['/things/a', null, '{"id":1}']);
  });

  test('keeps a body apart that is a list, or a choice', () => {
    for (const schema of [{ type: 'array' }, { oneOf: [{ type: 'object' }] }]) {
      const tool = toolIn(document({ parameters: [pathId], requestBody: { required: true, ...json(schema) } }));
      assert.deepEqual(tool.input['required'], ['id', 'body']);
    }
  });

  test('sends a form, deep where the document says so', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, m: { type: 'object' } } };
    const encoding = { m: { style: 'deepObject', explode: true } };
    const requestBody = { content: { 'application/x-www-form-urlencoded': { schema, encoding } } };
    const tool = toolIn(document({ parameters: [pathId], requestBody }));
    const [, , body] = sentBy(tool, { id: 'x', a: '1 2', m: { k: ['v'] } });
    assert.equal(decodeURIComponent(String(body)), 'a=1+2&m[k][0]=v');
  });

  test('has a name of method and path without an operationId, and names are unique', () => {
    const get = { responses: {} };
    const paths = {
      '/a/{id}': { get: { ...get, parameters: [pathId] } },
      '/a-{id}': { get: { ...get, parameters: [pathId] } },
    };
    const read = readOpenApi(
      JSON.stringify({ openapi: '3.1.0', paths: { ...paths, '/a': { get: { ...get, operationId: 'get_a_id' } } } }),
    );
    assert.ok(read.ok);
    assert.deepEqual(
      read.tools.map(({ name }) => name),
      ['get_a_id', 'get_a-_id', 'get_a_id_2'],
    );
  });

  test('leaves out headers that the configuration sets', () => {
    const read = readOpenApi(document({ parameters }), { headers: ['x-trace'] });
    assert.ok(read.ok);
    assert.ok(!Object.hasOwn(read.tools[0]?.input['properties'] as object, 'X-Trace'));
  });

  test('may be written in YAML', () => {
    const yaml = 'openapi: 3.1.0\npaths:\n  /a:\n    get:\n      operationId: read\n      responses: {}\n';
    assert.equal(toolIn(yaml).name, 'read');
  });
});

describe('a schema', () => {
  const output = (schema: unknown, more: Loose = {}, version = '3.0.3') =>
    toolIn(document({ responses: { 200: json(schema) } }, { ...more, openapi: version }, '/a', 'get')).output;

  test('of 3.0 keeps its null and its exclusive limits', () => {
    const schema = { type: 'number', nullable: true, minimum: 1, exclusiveMinimum: true };
    assert.deepEqual(
      [null, 1, 2].map((value) => accepts(output(schema), value)),
      [true, false, true],
    );
    assert.ok(accepts(output({ type: 'string', nullable: true, enum: ['a'] }), null));
    assert.ok(accepts(output({ nullable: true, allOf: [{ type: 'string' }] }), null));
  });

  test('that refers to itself stays a cycle', () => {
    const tree = {
      type: 'object',
      properties: { child: { $ref: '#/components/schemas/Tree' }, n: { type: 'integer' } },
    };
    const schema = output({ $ref: '#/components/schemas/Tree' }, { components: { schemas: { Tree: tree } } });
    assert.ok(accepts(schema, { child: { child: { n: 1 } } }));
    assert.ok(!accepts(schema, { child: { child: { n: 'x' } } }));
  });

  test('may be any of several successes, or nothing', () => {
    const responses = { 200: json({ type: 'string' }), 201: json({ type: 'integer' }), 204: {}, 400: json({}) };
    const tool = toolIn(document({ responses }, {}, '/a', 'get'));
    assert.deepEqual(
      ['a', 1, null, true].map((value) => accepts(tool.output, value)),
      [true, true, true, false],
    );
  });

  test('of a success that is no JSON is none', () => {
    const responses = { 200: json({ type: 'string' }), 202: { content: { 'text/csv': {} } } };
    assert.equal(toolIn(document({ responses }, {}, '/a', 'get')).output, null);
  });

  test('does not ask a caller for what only the server writes', () => {
    const schema = { type: 'object', required: ['id', 'n'], properties: { id: { readOnly: true }, n: {} } };
    const tool = toolIn(document({ requestBody: { required: true, ...json(schema) } }, {}, '/a'));
    assert.ok(accepts(tool.input, { n: 1 }));
  });
});

const refused: readonly (readonly [string, Loose, RegExp, Loose?, string?])[] = [
  ['files', { requestBody: { content: { 'multipart/form-data': {} } } }, /multipart\/form-data/],
  ['a cookie', { parameters: [pathId, { name: 'sid', in: 'cookie' }] }, /'sid' is in a cookie/],
  ['a style of paths', { parameters: [{ ...pathId, style: 'matrix' }] }, /has the style matrix/],
  ['a remote parameter', { parameters: [{ $ref: 'other.yaml#/p' }] }, /'other.yaml#\/p', outside the document/],
  [
    'a remote schema',
    { parameters: [pathId], requestBody: json({ items: { $ref: 'https://e.com/s.json' } }) },
    /outside the document/,
  ],
  [
    'a missing schema',
    { parameters: [pathId], requestBody: json({ items: { $ref: '#/nowhere' } }) },
    /which is not there/,
  ],
  ['a remote response', { parameters: [pathId], responses: { 200: json({ $ref: 'x.json' }) } }, /outside the document/],
  ['a path without its parameter', {}, /\{id\}, which is no parameter/],
  ['another address', { parameters: [pathId], servers: [{ url: 'https://uploads.example' }] }, /an address of its own/],
  ['a read with a body', { parameters: [pathId], requestBody: flat }, /which GET cannot send/, {}, 'get'],
  ['an unknown method', { parameters: [pathId] }, /its method is TRACE/, {}, 'trace'],
  [
    'a login by cookie',
    { parameters: [pathId], security: [{ c: [] }] },
    /login by cookie/,
    { components: { securitySchemes: { c: { type: 'apiKey', in: 'cookie', name: 'sid' } } } },
  ],
];

describe('an operation is refused for', () => {
  for (const [name, operation, reason, more, method] of refused)
    test(name, () => {
      const read = readOpenApi(document(operation, more, '/things/{id}', method));
      assert.ok(read.ok);
      assert.equal(read.tools.length, 0);
      assert.match(read.refused[0]?.reason ?? '', reason);
    });
});

const unreadable: readonly (readonly [string, string, RegExp])[] = [
  ['an old version', '{"swagger":"2.0"}', /no OpenAPI 3 document/],
  ['a future version', '{"openapi":"4.0.0"}', /OpenAPI 4.0.0/],
  ['broken JSON', '{"openapi":', /cannot be parsed/],
  ['broken YAML', 'openapi: [', /cannot be parsed/],
  ['a text', 'hello', /no map/],
  ['nothing', '', /no map/],
];

for (const [name, text, problem] of unreadable)
  test(`${name} is no document`, () => {
    const read = readOpenApi(text);
    assert.ok(!read.ok);
    assert.match(read.problem, problem);
  });
