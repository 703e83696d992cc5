import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { httpRoutes, routeNames } from '../../../src/core/http/http-routes.ts';
import { keyRoles, permissions } from '../../../src/core/call/identity.ts';
import { isObject } from '../../../src/core/values/json.ts';
import { aTool } from '../../support/tools.ts';
import { coffee } from '../../support/workflows.ts';
import { type Answered, type Closing, openHttp, openOnce, type Sent } from './open-http.ts';

const opened = (t: Closing) =>
  openHttp(t, { tools: [aTool('echo', (args) => args)], workflows: [coffee()], door: { maxBodyBytes: 10_000 } });

const targetOf = (name: keyof typeof httpRoutes) => httpRoutes[name].path.replace('{id}', 'none');
const isStream = (name: keyof typeof httpRoutes) => httpRoutes[name].answer === 'text/event-stream';
/** Clients of models find it in the error. */
const codeIn = ({ body }: Answered): unknown => {
  const { code, error } = body as { readonly code?: unknown; readonly error?: unknown };
  return isObject(error) ? error['code'] : code;
};
const aCall = { tool: 'echo', args: {} };

describe('who may come in', () => {
  const http = openOnce(opened);

  const strangers: readonly (readonly [string, Record<string, string>, number, string])[] = [
    ['another host', { host: 'evil.example' }, 403, 'HostForbidden'],
    ['another host with our port', { host: 'evil.example:80' }, 403, 'HostForbidden'],
    ['a host that begins like ours', { host: 'localhost.evil.example' }, 403, 'HostForbidden'],
    ['a host that cannot be read', { host: 'a b' }, 403, 'HostForbidden'],
    ['a page of another origin', { origin: 'https://evil.example' }, 403, 'OriginForbidden'],
    ['a page of no origin', { origin: 'null' }, 403, 'OriginForbidden'],
    ['a page whose address hides another', { origin: 'http://localhost@evil.example' }, 403, 'OriginForbidden'],
    ['no key', { authorization: '' }, 401, 'Unauthenticated'],
    ['a key of another form', { authorization: 'Basic abc' }, 401, 'Unauthenticated'],
    ['a key that nobody has', { authorization: 'Bearer rk_0000' }, 401, 'Unauthenticated'],
  ];
  for (const [who, headers, status, code] of strangers)
    test(`${who} gets ${status} ${code}, on every route that needs a key`, async () => {
      const { ask, keys, shell } = http();
      const before = await shell.ports.store.entries({ epoch: 0, seq: 0 }, 1_000);
      for (const name of routeNames.filter((each) => httpRoutes[each].needs !== null)) {
        const { method } = httpRoutes[name];
        const answered = await ask(method, targetOf(name), {
          key: keys.admin,
          headers,
          ...(method === 'POST' ? { body: aCall } : {}),
        });
        assert.deepEqual([answered.status, codeIn(answered)], [status, code], name);
      }
      assert.deepEqual(await shell.ports.store.entries({ epoch: 0, seq: 0 }, 1_000), before, 'and nothing happened');
    });

  test('our own names and pages of ours may call', async () => {
    for (const headers of [{ host: 'localhost' }, { host: '127.0.0.1:7411' }, { host: '[::1]:1' }])
      assert.equal((await http().call(aCall, { headers })).status, 200);
    assert.equal((await http().call(aCall, { headers: { origin: 'http://localhost:3000' } })).status, 200);
  });

  test('a key that was revoked opens nothing any more', async () => {
    const { ask, makeKey, keyring } = http();
    const key = await makeKey('default', 'viewer', 'vic');
    assert.equal((await ask('GET', '/v1/status', { key })).status, 200);
    const entry = (await keyring.list('default')).find(({ name }) => name === 'vic');
    assert.ok(await keyring.revoke('default', entry?.id ?? '', Date.now()));
    assert.equal((await ask('GET', '/v1/status', { key })).status, 401);
  });

  for (const name of routeNames)
    test(`${name}: the roles that may are those of the table`, async () => {
      const { ask, keys } = http();
      const { needs, method } = httpRoutes[name];
      for (const role of keyRoles) {
        const answered = await ask(method, `${targetOf(name)}${isStream(name) ? '?follow=false' : ''}`, {
          key: keys[role],
          ...(method === 'POST' ? { body: {} } : {}),
        });
        const may = needs === null || needs === 'key' || (permissions[needs] as readonly string[]).includes(role);
        assert.equal(answered.status === 403, !may, `${role}: ${answered.status}`);
        if (!may) assert.equal(codeIn(answered), 'RoleForbidden');
      }
    });
});

describe('what cannot be served', () => {
  const http = openOnce(opened);

  for (const path of [
    '/',
    '/v1',
    '/v1/',
    '/v1/cals',
    '/v1/calls/',
    '/v1/calls/a/b',
    '/v1/sessions/a/steps/',
    '/V1/calls',
  ])
    test(`${path} is not there`, async () => {
      const { status, body } = await http().ask('GET', path);
      assert.deepEqual([status, body['code']], [404, 'NoSuchPath']);
    });

  test('a segment that cannot be decoded, or is too long, is not there', async () => {
    for (const id of ['%zz', '%ff', 'x'.repeat(300)])
      assert.equal((await http().ask('GET', `/v1/calls/${id}`)).body['code'], 'NoSuchPath');
  });

  test('another method is 405 and says which are allowed', async () => {
    const allowed = { '/v1/calls': 'GET, HEAD, POST', '/v1/evaluate': 'POST', '/healthz': 'GET, HEAD' };
    for (const [path, allow] of Object.entries(allowed))
      for (const method of ['DELETE', 'OPTIONS', 'PATCH']) {
        const { status, headers, body } = await http().ask(method, path);
        assert.deepEqual([status, headers['allow'], body['code']], [405, allow, 'MethodNotAllowed']);
      }
  });

  const bodies: readonly (readonly [string, Sent, number, string])[] = [
    ['JSON that ends too soon', { bytes: '{"tool":' }, 400, 'InputInvalid'],
    [
      'bytes that are no UTF-8',
      { bytes: Buffer.from('{"tool":"echo","args":{"x":"\xff"}}', 'latin1') },
      400,
      'InputInvalid',
    ],
    ['nothing', {}, 400, 'InputInvalid'],
    [
      'more than the limit',
      { bytes: JSON.stringify({ tool: 'echo', args: 'x'.repeat(20_000) }) },
      413,
      'InputTooLarge',
    ],
    [
      'a form',
      { bytes: 'tool=echo', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'UnsupportedMediaType',
    ],
    ['a body of no type', { bytes: '{}', headers: { 'content-type': '' } }, 415, 'UnsupportedMediaType'],
    ['an unknown expectation', { body: aCall, headers: { expect: 'the unexpected' } }, 200, ''],
  ];
  for (const [what, sent, status, code] of bodies)
    test(`${what} is ${status} ${code}`, async () => {
      const { ask } = http();
      const answered = await ask('POST', '/v1/calls', sent);
      assert.equal(answered.status, status, answered.text);
      if (code !== '') assert.equal(answered.body['code'], code);
      assert.equal((await ask('POST', '/v1/calls', { body: aCall })).status, 200, 'and the door goes on');
    });

  test('a body that never ends is cut off after the answer', async () => {
    const { url, keys } = http();
    const socket = connect(Number(url.port), '127.0.0.1');
    const head = `POST /v1/calls HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${keys.agent}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    socket.write(head);
    const chunk = `1000\r\n${'x'.repeat(4_096)}\r\n`;
    let heard = '';
    socket.on('data', (data: Buffer) => (heard += data.toString()));
    socket.on('error', () => undefined);
    const more = () => {
      if (!socket.destroyed) socket.write(chunk, () => setImmediate(more));
    };
    more();
    await new Promise<void>((resolve) => socket.on('close', () => resolve()));
    assert.match(heard, /^HTTP\/1\.1 413 [\s\S]+"code":"InputTooLarge"/);
  });

  const garbage: readonly (readonly [string, string, RegExp])[] = [
    ['no HTTP at all', 'hello\r\n\r\n', /^HTTP\/1\.1 400 [\s\S]+"code":"MalformedRequest"/],
    [
      'headers without end',
      `GET /v1/calls HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 [\s\S]+"code":"HeadersTooLarge"/,
    ],
    ['no host', 'GET /v1/calls HTTP/1.1\r\nconnection: close\r\n\r\n', /^HTTP\/1\.1 403 [\s\S]+"code":"HostForbidden"/],
    [
      'a broken chunk',
      'POST /v1/calls HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer KEY\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      /^HTTP\/1\.1 400 [\s\S]+"code":"MalformedRequest"/,
    ],
  ];
  for (const [what, bytes, heard] of garbage)
    test(`${what} gets a typed answer`, async () => {
      const { url, keys, call } = http();
      assert.match(await raw(Number(url.port), bytes.replace('KEY', keys.agent)), heard);
      assert.equal((await call(aCall)).status, 200, 'and the door goes on');
    });
});

function raw(port: number, bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.on('data', (data: Buffer) => (heard += data.toString()));
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(heard));
  socket.write(bytes);
  return promise;
}

describe('before it is ready', () => {
  const http = openOnce(opened);

  test('every route with a key answers DAEMON_NOT_READY, whoever asks', async (t) => {
    const { ask, shell } = http();
    shell.live.readiness = { ready: false, doing: 'recovering', retryAfterSeconds: 2 };
    t.after(() => (shell.live.readiness = { ready: true }));
    for (const name of routeNames.filter((each) => httpRoutes[each].needs !== null)) {
      const answered = await ask(httpRoutes[name].method, targetOf(name), { key: null });
      const { status, headers, body } = answered;
      assert.deepEqual([status, headers['retry-after'], codeIn(answered)], [503, '2', 'DAEMON_NOT_READY'], name);
      const { resolution } = isObject(body['error']) ? body['error'] : body;
      assert.deepEqual(resolution, { type: 'retry_after', retry_after_seconds: 2 });
    }
    const health = await ask('GET', '/healthz', { key: null });
    assert.deepEqual([health.status, health.body], [200, { status: 'recovering' }]);
    const ready = await ask('GET', '/readyz', { key: null });
    assert.deepEqual([ready.status, ready.body], [503, { status: 'recovering' }]);
  });

  test('health needs no key and says one word', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, body } = await http().ask('GET', path, { key: null });
      assert.deepEqual([status, body], [200, { status: 'ready' }]);
      assert.equal((await http().ask('HEAD', path, { key: null })).status, 200);
    }
  });
});
