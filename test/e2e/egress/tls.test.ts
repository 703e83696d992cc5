/** TLS over a guarded connection: the certificate must be for the name in the address, and nothing is sent otherwise. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import tls from 'node:tls';
import { certificate, privateKey } from '../../support/egress/certificate.ts';
import { startDns } from '../../support/egress/dns-server.ts';
import { targetOf, toolOf } from '../../support/http/api.ts';
import { attemptOf } from '../../support/function-upstream.ts';
import { compileList } from '../../../src/core/egress/egress-list.ts';
import { createHttpUpstream } from '../../../src/adapters/upstream-http/http-upstream.ts';
import { createResolver } from '../../../src/adapters/shared/node-resolver.ts';

async function open(t: TestContext) {
  const heard: (string | undefined)[] = [];
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    heard.push(request.headers.host);
    response.end('"in"');
  });
  // Ignored: a client that does not trust the certificate hangs up.
  server.on('tlsClientError', () => undefined);
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dns = await startDns(t, { 'secure.test': ['127.0.0.2'], 'other.test': ['127.0.0.2'] });
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, certificate]);
  t.after(() => {
    tls.setDefaultCACertificates(before);
    server.closeAllConnections();
    server.close();
  });
  const ask = async (host: string, allow: readonly string[]) => {
    const tool = toolOf({ method: 'GET' }, { effectClass: 'pure' });
    const resolver = createResolver([dns.address]);
    const made = createHttpUpstream(targetOf(`https://${host}:${port}`), new Map([['it', tool]]), { resolver });
    t.after(made.close);
    const attempt = { ...attemptOf('it', {}), timeoutMs: 60_000, egress: compileList(allow) };
    const result = await made.upstream.invoke(attempt, new AbortController().signal);
    return result.kind === 'returned' ? 'returned' : `${result.failure.kind} ${result.failure.errorType}`;
  };
  return { ask, heard, port };
}

test('[C4-egress-2] a certificate for the name, or for the address if that is what was written, is accepted', async (t) => {
  const { ask, heard, port } = await open(t);
  assert.equal(await ask('secure.test', ['secure.test', '127.0.0.2']), 'returned');
  assert.equal(await ask('127.0.0.2', ['127.0.0.2']), 'returned');
  assert.deepEqual(heard, [`secure.test:${port}`, `127.0.0.2:${port}`]);
});

test('[C4-egress-2] a certificate of another name is refused, and an address that is not listed before any TLS', async (t) => {
  const { ask, heard } = await open(t);
  assert.equal(await ask('other.test', ['other.test', '127.0.0.2']), 'never_sent NotConnected');
  assert.equal(await ask('secure.test', ['secure.test']), 'never_sent EgressDenied');
  assert.deepEqual(heard, []);
});
