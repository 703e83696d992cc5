import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpRoutes, routeNames } from '../../core/http/http-routes.ts';
import { findRoute, isOurs, readQuery } from './find-route.ts';

const found = (method: string, target: string) => findRoute(method, target, 20);

describe('a method and a target', () => {
  for (const name of routeNames)
    test(`${name} is found by its own`, () => {
      const { method, path } = httpRoutes[name];
      const id = path.includes('{id}') ? 'a b' : '';
      const target = path.replace('{id}', 'a%20b');
      assert.deepEqual(found(method, `${target}?x=1`), { kind: 'route', name, id, search: 'x=1' });
      if (method === 'GET') assert.equal(found('HEAD', target).kind, 'route');
      assert.ok(isOurs(target));
    });

  const nowhere = ['', '/', '*', '/v1', '/v1/', '/v1/calls/', '/v1/calls//settle', '/v1/calls/%zz', '/v1//calls'];
  for (const target of [
    ...nowhere,
    '/v1/calls/x/y',
    `/v1/calls/${'x'.repeat(21)}`,
    'http://localhost/v1/calls',
    '/metrics/',
  ])
    test(`'${target}' is nowhere`, () => assert.deepEqual(found('GET', target), { kind: 'no_path' }));

  test('names that every object has are no methods', () => {
    for (const method of ['constructor', '__proto__', 'toString', ''])
      assert.deepEqual(found(method, '/v1/calls'), { kind: 'no_method', allow: ['GET', 'HEAD', 'POST'] });
  });

  test('the door answers for what is under /v1 and for what machines ask, and for nothing else', () => {
    for (const target of ['/v1', '/v1?x', '/v1/anything', '/metrics', '/healthz?x', '/readyz'])
      assert.ok(isOurs(target));
    for (const target of ['', '/', '/mcp', '/v10', '/V1/calls', '/metrics2', '//v1/calls', '*'])
      assert.ok(!isOurs(target), target);
  });
});

describe('a query', () => {
  const fields = {
    name: { kind: 'text' },
    limit: { kind: 'count', max: 200 },
    wait: { kind: 'seconds' },
    state: { kind: 'choice', of: ['open', 'done'] },
    after: { kind: 'position' },
  } as const;
  const read = (search: string) => readQuery(search, fields, 10);

  test('is read by the kind of each field', () => {
    const { query, errors } = read('name=a%20b&limit=7&wait=1.5&state=done&after=3.17');
    assert.deepEqual([query, errors], [{ name: 'a b', limit: 7, wait: 1.5, state: 'done', after: '3.17' }, []]);
  });

  const wrong: readonly (readonly [string, string])[] = [
    ['name=', '/name'],
    ['name=12345678901', '/name'],
    ['limit=201', '/limit'],
    ['limit=-1', '/limit'],
    ['limit=1e2', '/limit'],
    ['wait=soon', '/wait'],
    ['wait=-1', '/wait'],
    ['state=lost', '/state'],
    ['after=3', '/after'],
    ['after=3.', '/after'],
    ['other=1', '/other'],
    ['__proto__=1', '/__proto__'],
    ['a/b~c=1', '/a~1b~0c'],
    ['limit=1&limit=2', '/limit'],
  ];
  for (const [search, path] of wrong)
    test(`'${search}' is wrong at ${path}`, () =>
      assert.deepEqual(
        read(search).errors.map((error) => error.path),
        [path],
      ));

  test('lists only so many errors', () => {
    const many = Array.from({ length: 100 }, (_, n) => `x${n}=1`).join('&');
    assert.equal(read(many).errors.length, 20);
  });
});
