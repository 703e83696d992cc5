/** How arguments become a request, and which ones are refused before anything is sent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../core/values/json.ts';
import { targetOf } from '../../../test/support/http/api.ts';
import { buildRequest, type BuiltRequest } from './build-request.ts';
import type { HttpTarget } from './http-config.ts';
import { planRequest, RequestPlanError, type WrittenRequest } from './plan-request.ts';

const base = 'https://api.example.com/v1';

function build(request: Partial<WrittenRequest>, args: JsonObject, target: Partial<HttpTarget> = {}): BuiltRequest {
  const plan = planRequest({ method: 'POST', path: '/orders/{id}', ...request });
  return buildRequest(targetOf(base, target), plan, args, 'call_1');
}

function sent(built: BuiltRequest): { readonly url: string; readonly body: string | null } {
  assert.ok(built.ok, built.ok ? '' : built.problem);
  return { url: built.request.url.href, body: built.request.body };
}

const good: readonly (readonly [string, Partial<WrittenRequest>, JsonObject, string, string | null])[] = [
  ['what the path does not use is the body', {}, { id: 'a', n: 1 }, `${base}/orders/a`, '{"n":1}'],
  ['a read puts it into the query', { method: 'GET' }, { id: 'a', q: 'x y', n: 1 }, `${base}/orders/a?q=x+y&n=1`, null],
  [
    'a deletion puts it into the query',
    { method: 'DELETE' },
    { id: 1, force: true },
    `${base}/orders/1?force=true`,
    null,
  ],
  ['a list repeats its name', { method: 'GET' }, { id: 'a', tag: ['x', 'y'] }, `${base}/orders/a?tag=x&tag=y`, null],
  ['a path argument is one segment', {}, { id: 'a/b?c#d e' }, `${base}/orders/a%2Fb%3Fc%23d%20e`, '{}'],
  [
    'query and body can be mapped',
    { query: { dry: '{dry}', v: 2 }, body: { order: { id: '{id}', note: 'for {who}' }, fixed: [1, '{n}'] } },
    { id: 'a', dry: true, who: 'me', n: 7 },
    `${base}/orders/a?dry=true&v=2`,
    '{"order":{"id":"a","note":"for me"},"fixed":[1,7]}',
  ],
  [
    'what is absent is left out',
    { query: { dry: '{dry}' }, body: { n: '{n}' } },
    { id: 'a' },
    `${base}/orders/a`,
    '{}',
  ],
  [
    'an own query leaves out the rest',
    { method: 'GET', query: { a: '{a}' } },
    { id: 'x', a: 1, b: 2 },
    `${base}/orders/x?a=1`,
    null,
  ],
];

describe('a request', () => {
  for (const [name, request, args, url, body] of good)
    test(name, () => assert.deepEqual(sent(build(request, args)), { url, body }));

  test('keeps the query of the address', () => {
    const { url } = sent(build({ method: 'GET' }, { id: 'a', q: 1 }, { url: `${base}?key=s3cret` }));
    assert.equal(url, `${base}/orders/a?key=s3cret&q=1`);
  });

  test('has the headers of the upstream, then those of the tool, then the key', () => {
    const built = build(
      { headers: { 'X-Id': '{id}', 'X-None': '{none}', 'X-Both': 'tool' } },
      { id: 'a' },
      {
        headers: { Authorization: 'Bearer t', 'x-both': 'upstream', Connection: 'upgrade' },
      },
    );
    assert.ok(built.ok);
    const { headers } = built.request;
    assert.deepEqual(
      ['authorization', 'x-id', 'x-none', 'x-both', 'idempotency-key', 'connection', 'content-type'].map((name) =>
        headers.get(name),
      ),
      ['Bearer t', 'a', undefined, 'tool', 'call_1', undefined, 'application/json'],
    );
  });

  const keys: readonly (readonly [string, HttpTarget['key'], string | undefined, string])[] = [
    ['in a header of its own', { kind: 'header', name: 'X-Key' }, 'call_1', '{"n":1}'],
    ['in a field of the body', { kind: 'field', name: 'request_id' }, undefined, '{"n":1,"request_id":"call_1"}'],
    ['nowhere', { kind: 'none' }, undefined, '{"n":1}'],
  ];
  for (const [name, key, header, body] of keys)
    test(`carries its key ${name}`, () => {
      const built = build({}, { id: 'a', n: 1 }, { key });
      assert.ok(built.ok);
      assert.deepEqual([built.request.headers.get('x-key'), built.request.body], [header, body]);
      assert.equal(built.request.hasKey, key.kind !== 'none');
    });
});

const refused: readonly (readonly [string, Partial<WrittenRequest>, JsonObject, RegExp, Partial<HttpTarget>?])[] = [
  ['a missing path argument', {}, {}, /'id' of the path is missing/],
  ['an empty path argument', {}, { id: '' }, /'id' of the path is no text/],
  ['an object in the path', {}, { id: { a: 1 } }, /'id' of the path is no text/],
  ['a path argument that goes up', {}, { id: '..' }, /would change the path/],
  ['a path argument that stays here', {}, { id: '.' }, /would change the path/],
  ['a header of two lines', { headers: { 'X-A': '{a}' } }, { id: 'a', a: 'b\r\nc: d' }, /'X-A' would not be one line/],
  ['a header beyond Latin-1', { headers: { 'X-A': '{a}' } }, { id: 'a', a: 'snow ☃' }, /'X-A' would not be one line/],
  [
    'a key field without a body',
    { method: 'DELETE' },
    { id: 'a' },
    /no body for its key/,
    { key: { kind: 'field', name: 'k' } },
  ],
  [
    'a key field in a list',
    { body: '{list}' },
    { id: 'a', list: [] },
    /no fields for its key/,
    { key: { kind: 'field', name: 'k' } },
  ],
];

describe('a request is refused for', () => {
  for (const [name, request, args, problem, target] of refused)
    test(name, () => {
      const built = build(request, args, target);
      assert.ok(!built.ok);
      assert.match(built.problem, problem);
    });
});

test('a plan that cannot work is refused when it is made', () => {
  assert.throws(() => planRequest({ method: 'GET', path: '/a', body: {} }), RequestPlanError);
  assert.throws(() => planRequest({ method: 'GET', path: '/{a' }), RequestPlanError);
});
