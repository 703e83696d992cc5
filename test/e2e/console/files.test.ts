/** What the browser is told with the files of the console: which scripts run, who may frame it, what is kept. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type ConsoleFiles, createConsoleDoor } from '../../../src/doors/console/console-door.ts';

const file = (type: string, text: string) => ({ type, bytes: Buffer.from(text), packed: gzipSync(text) });
const files: ConsoleFiles = new Map([
  ['/', file('text/html; charset=utf-8', '<!doctype html>')],
  ['/assets/index-1.js', file('text/javascript; charset=utf-8', 'go()')],
]);

async function serve(t: TestContext, given: ConsoleFiles) {
  const door = createConsoleDoor(() => given, ['127.0.0.1']);
  const server = createServer((request, response) => {
    if (!door.handle(request, response)) response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return (path: string, init: RequestInit = {}) => fetch(`${base}${path}`, init);
}

test('[C8-console-5] the page and its assets say which scripts run, and that nobody may frame them', async (t) => {
  const ask = await serve(t, files);
  for (const path of ['/', '/?x=1', '/assets/index-1.js']) {
    const { status, headers } = await ask(path);
    assert.equal(status, 200);
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    );
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-frame-options'), 'DENY');
  }
});

test('[C8-console-5] assets are kept for ever, the page is asked for again; both are packed', async (t) => {
  const ask = await serve(t, files);
  const page = await ask('/');
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  assert.equal(page.headers.get('content-encoding'), 'gzip');
  assert.equal(await page.text(), '<!doctype html>');
  assert.match((await ask('/assets/index-1.js')).headers.get('cache-control') ?? '', /immutable/);
});

test('[C8-console-5] only what was built is served, and nothing is written', async (t) => {
  const ask = await serve(t, files);
  for (const path of ['/assets/index-2.js', '/assets/../package.json', '/assets/%2e%2e/x', '/index.html', '/x'])
    assert.equal((await ask(path)).status, 404, path);
  const posted = await ask('/', { method: 'POST', body: 'x' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
  const head = await ask('/', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

test('[C8-console-5] without a build nothing is at the address', async (t) => {
  assert.equal((await (await serve(t, new Map()))('/')).status, 404);
});

test('[C8-console-3] under a name that is not ours nothing is served', async (t) => {
  const door = createConsoleDoor(() => files, ['localhost']);
  const server = createServer((request, response) => {
    if (!door.handle(request, response)) response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
  assert.equal((await fetch(`http://localhost:${port}/`)).status, 200);
});
