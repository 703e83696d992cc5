/** Processes of MCP servers that we start: what the proxy holds, what a namespace holds, and what a call hears of it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { permitsNamespaces } from '../../../src/adapters/egress-proxy/network-namespace.ts';
import { isObject } from '../../../src/core/values/json.ts';
import { joinUpstreams } from '../../../src/compose/upstreams/join-upstreams.ts';
import { serverConfig, type ServerOptions } from '../../../src/compose/upstreams/server-options.ts';
import { defaultLimits } from '../../../src/index.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { listenEverywhere, openWorld } from '../../support/egress/egress-world.ts';

const child = path.join(import.meta.dirname, '../../support/egress/fetching-child.ts');
const names = ['fetch', 'write', 'raw', 'variables'];
const zone = {
  'allowed.test': ['127.0.0.2'],
  'private.test': ['127.0.0.3'],
  'rebind.test': [['127.0.0.2'], ['127.0.0.3']],
};

async function open(t: TestContext, egress: ServerOptions['egress'], more: Partial<ServerOptions> = {}) {
  const server = {
    name: 'web',
    command: process.execPath,
    args: [child],
    tools: { fetch: { effect: 'pure' }, raw: { effect: 'pure' }, variables: { effect: 'pure' } },
    ...(egress === undefined ? {} : { egress }),
    ...more,
  } as ServerOptions;
  const serverTools = names.map((name) => `web/${name}`);
  const { gateway } = await openWorld(t, [], { zone, servers: [server], serverTools });
  return gateway;
}

type Opened = Awaited<ReturnType<typeof open>>;

async function saidBy(gateway: Opened, tool: string, args: unknown): Promise<string> {
  const { result } = successOf(await gateway.call({ tool, args }));
  const content = isObject(result) ? (result['content'] as readonly { readonly text: string }[]) : [];
  return content[0]?.text ?? '';
}

const allow = ['allowed.test', '127.0.0.2'];

describe('a child behind the proxy', () => {
  test('[C4-egress-3] reaches what its list allows, with a name that only the proxy resolves', async (t) => {
    const site = await listenEverywhere(t);
    const gateway = await open(t, { allow });
    assert.equal(await saidBy(gateway, 'web/fetch', { url: `http://allowed.test:${site.port}/x` }), '200 "reached"');
    assert.deepEqual(site.heard, [`allowed.test:${site.port} /x`]);
  });

  test('[C4-egress-3] a read that is stopped there fails with EGRESS_DENIED and effect none; a write is in doubt', async (t) => {
    const site = await listenEverywhere(t);
    const gateway = await open(t, { allow });
    const url = `http://private.test:${site.port}/x`;
    const read = errorOf(await gateway.call({ tool: 'web/fetch', args: { url } }), 'action_error');
    assert.deepEqual(
      [read.class, read.code, read.effect, read.verdict, read.error_message, read.resolution],
      [
        'Governance',
        'EGRESS_DENIED',
        'none',
        'policy_denied',
        "denied: host 'private.test' not in egress allow list",
        { type: 'rule_block', rule_id: 'egress' },
      ],
    );
    const write = errorOf(await gateway.call({ tool: 'web/write', args: { url } }), 'action_error');
    assert.deepEqual([write.code, write.effect, write.resolution.type], ['EGRESS_DENIED', 'unknown', 'reconcile']);
    assert.deepEqual(site.heard, []);
    assert.deepEqual(
      gateway.notices.filter(({ kind }) => kind === 'egress_denied'),
      [{ kind: 'egress_denied', server: 'web', host: 'private.test' }],
    );
  });

  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:7f00:1]', '169.254.169.254', 'evil.test'])
    test(`[C4-egress-3] does not reach ${host}`, async (t) => {
      const site = await listenEverywhere(t);
      const gateway = await open(t, { allow });
      const reply = await gateway.call({ tool: 'web/fetch', args: { url: `http://${host}:${site.port}/x` } });
      assert.equal(errorOf(reply, 'action_error').code, 'EGRESS_DENIED');
      assert.deepEqual(site.heard, []);
    });

  test('[C4-egress-3] a failure without a denial keeps its own code', async (t) => {
    const site = await listenEverywhere(t, (_, response) => response.writeHead(500).end('"no"'));
    const gateway = await open(t, { allow });
    const reply = await gateway.call({ tool: 'web/fetch', args: { url: `http://allowed.test:${site.port}/x` } });
    assert.equal(errorOf(reply, 'action_error').code, 'ExecutionFailed');
  });

  test('[C4-egress-3] gets this proxy in every spelling and no other, whatever is configured', async (t) => {
    const env = { HTTP_PROXY: 'http://other.test', no_proxy: '*', npm_config_proxy: 'http://other.test' };
    const gateway = await open(t, { allow }, { env } as Partial<ServerOptions>);
    const lines = (await saidBy(gateway, 'web/variables', {})).split('\n');
    const byName = new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'npm_config_proxy'])
      assert.match(byName.get(name) ?? '', /^http:\/\/[0-9a-f]{16}:\*\*\*@127\.0\.0\.1:\d+$/, name);
    assert.deepEqual([byName.get('NO_PROXY'), byName.get('no_proxy'), byName.get('NODE_USE_ENV_PROXY')], ['', '', '1']);
  });

  test('[C4-egress-3] what it cannot hold: a child that ignores the proxy connects by itself', async (t) => {
    const site = await listenEverywhere(t);
    assert.equal(await saidBy(await open(t, { allow: [] }), 'web/raw', { port: site.port }), 'connected');
  });
});

const permission = await permitsNamespaces();
const skip = permission.ok ? false : permission.problem;

describe('a child in a network namespace', { skip }, () => {
  test('[C4-egress-4] reaches what its list allows, and nothing by itself', async (t) => {
    const site = await listenEverywhere(t);
    const gateway = await open(t, { allow, hold: 'namespace' });
    assert.equal(await saidBy(gateway, 'web/fetch', { url: `http://allowed.test:${site.port}/x` }), '200 "reached"');
    assert.match(await saidBy(gateway, 'web/raw', { port: site.port }), /^not connected: ECONNREFUSED$/);
    assert.equal(site.heard.length, 1);
    const url = `http://private.test:${site.port}/x`;
    const denied = errorOf(await gateway.call({ tool: 'web/fetch', args: { url } }), 'action_error');
    assert.equal(denied.code, 'EGRESS_DENIED');
  });
});

test('[C4-egress-4] where the system does not permit a namespace the server does not start, and says why', async (t) => {
  const before = process.env['PATH'];
  t.after(() => void (process.env['PATH'] = before));
  process.env['PATH'] = '/nowhere';
  const server = {
    name: 'web',
    command: process.execPath,
    args: [child],
    egress: { allow, hold: 'namespace' },
  } as const;
  const joined = await joinUpstreams({ servers: [serverConfig(server)] }, defaultLimits, () => undefined);
  t.after(joined.close);
  await joined.servers?.ready(60_000);
  const [status] = joined.status();
  const says =
    "egress hold: namespace is not possible here: the program 'unshare' is missing: install util-linux, or use hold: proxy";
  assert.deepEqual([status?.pid, status?.problem], [null, says]);
});
