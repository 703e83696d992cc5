import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { listenEverywhere } from '../../../test/support/egress/egress-world.ts';
import { startDns } from '../../../test/support/egress/dns-server.ts';
import { compileList } from '../../core/egress/egress-list.ts';
import { createResolver } from '../shared/node-resolver.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import { startProxy } from './start-proxy.ts';

const zone = {
  'allowed.test': ['127.0.0.2'],
  'private.test': ['127.0.0.3'],
  'rebind.test': [['127.0.0.2'], ['127.0.0.3']],
};

async function open(t: TestContext, limits: Partial<ProxyLimits> = {}) {
  const dns = await startDns(t, zone);
  const denied: string[] = [];
  const onDenied = (server: string, host: string) => void denied.push(`${server} ${host}`);
  const proxy = await startProxy({ resolver: createResolver([dns.address]), onDenied, limits });
  t.after(proxy.close);
  const site = await listenEverywhere(t);
  const login = proxy.admit('web', compileList(['allowed.test', 'rebind.test', '127.0.0.2']));
  const other = proxy.admit('other', compileList([]));
  const port = Number(new URL(login.url).port);
  const basic = ({ user, password }: typeof login) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  /** Sends a head as it is and returns all that comes back. */
  async function say(line: string, authorization: string | null = basic(login), then = ''): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (then !== '' && said.startsWith('HTTP/1.1 200 Connection')) socket.write(then);
      then = '';
    });
    // Ignored: what was said before a reset is what counts.
    socket.on('error', () => undefined);
    const login = authorization === null ? '' : `Proxy-Authorization: ${authorization}\r\n`;
    socket.write(`${line} HTTP/1.1\r\nHost: whatever.test\r\n${login}Connection: close\r\n\r\n`);
    await once(socket, 'close');
    return said;
  }
  return { site, say, denied, dns, login, other, basic };
}

const statusOf = (said: string): number => Number(said.split(' ')[1]);
const inside = (port: number) => `GET /in HTTP/1.1\r\nHost: allowed.test:${port}\r\nConnection: close\r\n\r\n`;

describe('the proxy', () => {
  test('tunnels to an allowed host, and forwards a request with a whole address', async (t) => {
    const { site, say } = await open(t);
    const tunnelled = await say(`CONNECT allowed.test:${site.port}`, undefined, inside(site.port));
    assert.match(tunnelled, /^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*"reached"/);
    const forwarded = await say(`GET http://allowed.test:${site.port}/plain?q=1`);
    assert.equal(statusOf(forwarded), 200);
    assert.deepEqual(site.heard, [`allowed.test:${site.port} /in`, `allowed.test:${site.port} /plain?q=1`]);
  });

  const refusals: readonly (readonly [string, (port: number) => string, number])[] = [
    ['a tunnel to a name that is not listed', (port) => `CONNECT evil.test:${port}`, 403],
    ['a tunnel to a private address of another name', (port) => `CONNECT private.test:${port}`, 403],
    ['a tunnel to an address', (port) => `CONNECT 127.0.0.1:${port}`, 403],
    ['a tunnel to an address in decimal', (port) => `CONNECT 2130706433:${port}`, 403],
    ['a tunnel to a mapped address', (port) => `CONNECT [::ffff:7f00:1]:${port}`, 403],
    ['a request to an address', (port) => `GET http://127.0.0.1:${port}/`, 403],
    ['a request with a login in its address', (port) => `GET http://allowed.test@127.0.0.1:${port}/`, 403],
    ['a request to metadata', () => 'GET http://169.254.169.254/latest', 403],
    ['a tunnel without a port', () => 'CONNECT allowed.test', 400],
    ['a tunnel to something else', () => 'CONNECT allowed.test/x:80', 400],
    ['a request without a whole address', () => 'GET /x', 400],
    ['a request of another scheme', () => 'GET ftp://allowed.test/x', 400],
    ['no HTTP at all', () => 'nonsense', 400],
  ];
  for (const [what, line, status] of refusals)
    test(`answers ${status} to ${what}, and connects to nobody`, async (t) => {
      const { site, say } = await open(t);
      assert.equal(statusOf(await say(line(site.port))), status);
      assert.deepEqual(site.heard, []);
    });

  test('tells whose connection it denied, and the child by a header', async (t) => {
    const { site, say, denied, other, basic } = await open(t);
    assert.match(await say(`CONNECT allowed.test:${site.port}`, basic(other)), /x-recourse-code: EGRESS_DENIED/);
    await say(`CONNECT evil.test:${site.port}`);
    assert.deepEqual(denied, ['other allowed.test', 'web evil.test']);
  });

  test('wants the login of a child: without it nothing is looked up', async (t) => {
    const { site, say, denied, dns, login, other, basic } = await open(t);
    const wrong = [
      null,
      'Basic',
      'Bearer x',
      basic({ ...login, password: other.password }),
      basic({ ...login, user: 'x' }),
      `Basic ${Buffer.from(login.user).toString('base64')}`,
    ];
    for (const authorization of wrong) {
      const said = await say(`CONNECT allowed.test:${site.port}`, authorization);
      assert.match(said, /^HTTP\/1\.1 407 [\s\S]*proxy-authenticate: Basic/i);
      assert.equal(statusOf(await say(`GET http://allowed.test:${site.port}/`, authorization)), 407);
    }
    assert.deepEqual([site.heard, dns.asked, denied], [[], [], []]);
  });

  test('follows no name that changes: one answer is checked and used', async (t) => {
    const { site, say } = await open(t);
    assert.equal(statusOf(await say(`GET http://rebind.test:${site.port}/one`)), 200);
    assert.equal(statusOf(await say(`GET http://rebind.test:${site.port}/two`)), 403);
    assert.equal(site.heard.length, 1);
  });

  test('does not pass the login on', async (t) => {
    const { say } = await open(t);
    const echoes = await listenEverywhere(t, (request, response) => response.end(JSON.stringify(request.headers)));
    const said = await say(`GET http://allowed.test:${echoes.port}/`);
    assert.equal(statusOf(said), 200);
    assert.doesNotMatch(said, /proxy-authorization|whatever\.test/i);
  });

  for (const head of ['HTTP/1.1 042 Odd', 'HTTP/1.1 000 Odd', 'HTTP/1.1 101 Odd\r\nUpgrade: x\r\nConnection: upgrade'])
    test(`answers 502 if a host answers ${JSON.stringify(head)}, and goes on`, async (t) => {
      const { say } = await open(t);
      const odd = createServer((socket) => void socket.once('data', () => socket.end(`${head}\r\n\r\n`)));
      odd.listen(0);
      await once(odd, 'listening');
      t.after(() => odd.close());
      const { port } = odd.address() as AddressInfo;
      for (let asked = 0; asked < 2; asked++)
        assert.equal(statusOf(await say(`GET http://allowed.test:${port}/`)), 502);
    });

  test('opens only so many connections for one child, and counts those that are over no more', async (t) => {
    const { site, say, login, basic } = await open(t, { maxConnectionsEach: 1 });
    const held = connect(Number(new URL(login.url).port), '127.0.0.1');
    held.write(`CONNECT allowed.test:${site.port} HTTP/1.1\r\nProxy-Authorization: ${basic(login)}\r\n\r\n`);
    await once(held, 'data');
    assert.equal(statusOf(await say(`GET http://allowed.test:${site.port}/`)), 503);
    held.destroy();
    const hasRoom = async () => statusOf(await say(`GET http://allowed.test:${site.port}/`)) === 200;
    await eventually('there is room again', hasRoom);
    await eventually('a failed connection leaves room', async () => {
      const status = statusOf(await say('CONNECT allowed.test:1'));
      return status === 502 && hasRoom();
    });
  });

  test('answers 502 where nobody listens, and refuses heads above the limit', async (t) => {
    const { say } = await open(t, { maxHeaderBytes: 2_048 });
    assert.equal(statusOf(await say('CONNECT allowed.test:1')), 502);
    assert.ok([400, 431].includes(statusOf(await say(`GET http://allowed.test/${'x'.repeat(4_096)}`))));
  });
});
