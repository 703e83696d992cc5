/** HTTP APIs in recourse.yaml: what is read, and every mistake with its place and fix. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig } from './read-config.ts';

const env = { TOKEN: 'secret', HOST: 'api.example.com' };
const read = (text: string) => readConfig(text, 'recourse.yaml', { env });
const told = (text: string) => read(text).problems.map(({ line, message, fix }) => `${line} ${message}; ${fix}`);

const good = `
tools:
  shop:
    http:
      url: https://\${HOST}/v1
      headers: { Authorization: "Bearer \${TOKEN}" }
      redirects: same_origin
      key: { header: X-Key }
      conflicts: { completed: [done], evidence: ["*"] }
      max_response: 1000
      connect_timeout: 2s
    timeout: 5s
    names: bare
    tools:
      refund:
        request:
          method: POST
          path: /orders/{order}/refunds
          body: { amount: "{cents}" }
        description: Refunds an order.
        input: { type: object, properties: { order: { type: string }, cents: { type: integer } } }
        effect: keyed
        dedupe_window: 1h
      read: { request: { method: GET, path: "/orders/{order}" } }
`;

test('an API is read with its tools, and is no MCP server', () => {
  const { config, problems } = read(good);
  assert.deepEqual(problems, []);
  assert.deepEqual(config.tools, []);
  const [api] = config.apis;
  assert.ok(api);
  assert.deepEqual(
    [api.url, api.headers, api.redirects, api.key, api.timeoutMs, api.names, api.limits],
    [
      'https://api.example.com/v1',
      { Authorization: 'Bearer secret' },
      'same_origin',
      { kind: 'header', name: 'X-Key' },
      5_000,
      'bare',
      { connectTimeoutMs: 2_000, maxResponseBytes: 1_000 },
    ],
  );
  assert.deepEqual(api.conflicts, { in_flight: [], completed: ['done'], mismatch: [], evidence: ['*'] });
  const [refund, readOrder] = api.tools;
  assert.deepEqual(
    [refund?.match, refund?.effect, refund?.dedupeWindowMs, refund?.body, refund?.description],
    ['refund', 'keyed', 3_600_000, { amount: '{cents}' }, 'Refunds an order.'],
  );
  assert.deepEqual([readOrder?.effect, readOrder?.query, readOrder?.body], [null, null, undefined]);
});

test('the document of an API is a path, or a path and operations', () => {
  const openapiOf = (written: string) => {
    const { openapi } = read(`tools: { a: { http: { url: "http://x", openapi: ${written} } } }`).config.apis[0] ?? {};
    return [openapi?.file, openapi?.operations];
  };
  assert.deepEqual(openapiOf('api.json'), ['api.json', []]);
  assert.deepEqual(openapiOf('{ file: api.yaml, operations: ["get_*"] }'), ['api.yaml', ['get_*']]);
});

const tool = (more: string) => `tools: { a: { http: { url: "http://x" }, tools: { t: ${more} } } }`;
const http = (more: string) =>
  `tools: { a: { http: { url: "http://x", ${more} }, tools: { t: { request: { method: DELETE, path: /a } } } } }`;

const wrong: readonly (readonly [string, string, RegExp])[] = [
  [
    'both mcp and http',
    'tools: { a: { mcp: { command: x }, http: { url: "http://x", openapi: x } } }',
    /mcp and http exclude each other/,
  ],
  ['neither', 'tools: { a: { timeout: 1s } }', /one of mcp, http, extension is missing/],
  ['no url', 'tools: { a: { http: { openapi: x } } }', /the key 'url' is missing/],
  ['no tools at all', 'tools: { a: { http: { url: "http://x" } } }', /'a' has no tools; add http.openapi/],
  ['an address that is none', 'tools: { a: { http: { url: "http://", openapi: x } } }', /no address/],
  ['an unknown key', http('retries: 3'), /there is no key 'retries' here/],
  ['an unknown rule for redirects', http('redirects: all'), /'all' is not known here/],
  ['a key in two places', http('key: { header: a, field: b }'), /header and field exclude each other/],
  ['a key field without a body', http('key: { field: k }'), /the key goes into a field of the body, and 't' has none/],
  ['a rule without a document', tool('{ effect: pure }'), /'t' has no request, and there is no openapi document/],
  ['an unknown method', tool('{ request: { method: GIT, path: /a } }'), /'GIT' is not known here/],
  ['a path that is none', tool('{ request: { method: GET, path: a } }'), /not usable here; use a path/],
  ['a body of a read', tool('{ request: { method: GET, path: /a, body: {} } }'), /a GET has no body/],
  ['a broken template', tool('{ request: { method: GET, path: "/{a" } }'), /this is no template/],
  [
    'an argument that is not in input',
    tool('{ request: { method: GET, path: "/{odrer}" }, input: { properties: { order: {} } } }'),
    /there is no argument 'odrer' in input; did you mean \{order\}\?/,
  ],
  [
    'a schema that is none',
    tool('{ request: { method: GET, path: /a }, output: { type: 7 } }'),
    /this schema is not usable/,
  ],
  ['keyed without a window', tool('{ request: { method: POST, path: /a }, effect: keyed }'), /keyed without a window/],
  ['on_error', tool('{ request: { method: POST, path: /a }, on_error: none }'), /'on_error' has no meaning with http/],
  [
    'annotations',
    'tools: { a: { http: { url: "http://x", openapi: x }, annotations: trust } }',
    /'annotations' has no meaning/,
  ],
  [
    'a glob with a request',
    'tools: { a: { http: { url: "http://x" }, tools: { "t*": { request: { method: GET, path: /a } } } } }',
    /'t\*' is not usable as the name/,
  ],
  [
    'a request of an MCP tool',
    'tools: { a: { mcp: { command: x }, tools: { t: { request: { method: GET, path: /a } } } } }',
    /'request' has no meaning with mcp/,
  ],
  [
    'a description without a request',
    'tools: { a: { http: { url: "http://x", openapi: x }, tools: { t: { description: hi } } } }',
    /needs a request beside it/,
  ],
  [
    'keyed and no key',
    'tools: { a: { http: { url: "http://x", key: none }, tools: { t: { request: { method: POST, path: /a }, effect: keyed, dedupe_window: 1h } } } }',
    /key: none sends no key/,
  ],
  [
    'a workflow of the same name',
    'tools: { a: { http: { url: "http://x", openapi: x } } }\nworkflows: { a: ./a.ts }',
    /has the name of a server/,
  ],
];

describe('an API is refused for', () => {
  for (const [name, text, problem] of wrong)
    test(name, () => {
      const problems = told(text);
      assert.ok(
        problems.some((each) => problem.test(each)),
        problems.join('\n') || 'no problem',
      );
    });
});
