import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { startDns, type Zone } from '../../../test/support/egress/dns-server.ts';
import { compileList, type EgressList } from '../../core/egress/egress-list.ts';
import type { Resolver } from '../../ports/resolver.ts';
import { connectGuarded, denialIn, EgressDenied } from './egress-connector.ts';
import { createResolver, systemResolver } from './node-resolver.ts';

async function open(t: TestContext, zone: Zone) {
  const dns = await startDns(t, zone);
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
  });
  server.listen(0);
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const to = async (host: string, list: EgressList, resolver: Resolver = createResolver([dns.address])) => {
    const socket = await connectGuarded({ host, port }, { list, resolver, timeoutMs: 60_000 });
    const { remoteAddress } = socket;
    socket.destroy();
    return remoteAddress?.replace('::ffff:', '');
  };
  return { to, connections: () => connections, dns };
}

describe('a guarded connection', () => {
  test('goes to an address that was checked', async (t) => {
    const { to } = await open(t, { 'a.test': ['127.0.0.2'] });
    assert.equal(await to('a.test', compileList(['a.test', '127.0.0.2'])), '127.0.0.2');
    assert.equal(await to('A.TEST.', compileList(['a.test', '127.0.0.2'])), '127.0.0.2');
    assert.equal(await to('127.0.0.4', compileList(['127.0.0.0/8'])), '127.0.0.4');
  });

  const denied: readonly (readonly [string, string, readonly string[]])[] = [
    ['a name that is not listed', 'b.test', ['a.test', '127.0.0.0/8']],
    ['an address that is not listed', 'a.test', ['a.test']],
    ['a name with one address that is not', 'both.test', ['both.test', '127.0.0.2']],
    ['a literal address', '127.0.0.1', ['a.test', '127.0.0.2']],
    ['another port', 'a.test', ['a.test', '127.0.0.2:1']],
    ['something that is no host', 'a.test/../b', ['a.test']],
  ];
  for (const [what, host, allow] of denied)
    test(`is refused for ${what}, and none is opened`, async (t) => {
      const { to, connections } = await open(t, { 'a.test': ['127.0.0.2'], 'both.test': ['127.0.0.2', '127.0.0.3'] });
      await assert.rejects(to(host, compileList(allow)), (error) => denialIn(error) instanceof EgressDenied);
      assert.equal(connections(), 0);
    });

  test('asks for a name once: a second answer cannot take the place of the checked one', async (t) => {
    const { to, dns } = await open(t, { 'a.test': [['127.0.0.2'], ['127.0.0.3']] });
    assert.equal(await to('a.test', compileList(['a.test', '127.0.0.2'])), '127.0.0.2');
    assert.deepEqual(
      dns.asked.filter((name) => name === 'a.test A'),
      ['a.test A'],
    );
  });

  test('a name without an address is a fault of the network, not a denial', async (t) => {
    const { to } = await open(t, {});
    await assert.rejects(to('a.test', compileList(['a.test'])), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
  });
});

describe('resolvers', () => {
  test('localhost is this machine, whatever a DNS server says', async (t) => {
    const dns = await startDns(t, { localhost: ['93.184.215.14'] });
    const resolved = await createResolver([dns.address]).resolve('localhost');
    assert.deepEqual([resolved, dns.asked], [{ ok: true, addresses: ['127.0.0.1', '::1'] }, []]);
    assert.equal((await systemResolver.resolve('localhost')).ok, true);
  });

  test('a name with more addresses than anybody needs has none', async (t) => {
    const many = Array.from({ length: 65 }, (_, at) => `127.0.1.${at}`);
    const dns = await startDns(t, { 'many.test': many, 'six.test': ['::1'] });
    const resolver = createResolver([dns.address]);
    assert.equal((await resolver.resolve('many.test')).ok, false);
    assert.deepEqual(await resolver.resolve('six.test'), { ok: true, addresses: ['::1'] });
    assert.deepEqual(await resolver.resolve('none.test'), { ok: false, code: 'ENOTFOUND' });
  });
});
