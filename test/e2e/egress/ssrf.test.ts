/**
 * Server-side request forgery, tried against a real gateway: whatever way an address is written, named, redirected to or
 * changed under our feet, nothing that is not named is reached. The forbidden server listens and would answer.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { joinUpstreams } from '../../../src/compose/upstreams/join-upstreams.ts';
import { defaultLimits } from '../../../src/index.ts';
import { startDns } from '../../support/egress/dns-server.ts';
import { listenModern } from '../../support/upstream-http.ts';
import { httpServer } from '../../support/upstream-mcp.ts';
import { createCountingTool } from '../../support/tools.ts';
import { listenEverywhere, openWorld, reads } from '../../support/egress/egress-world.ts';

/** Each is 127.0.0.1, this machine, or a place that is not public. */
const notations: readonly (readonly [string, string])[] = [
  ['dotted', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.01'],
  ['one octal number', '017700000001'],
  ['hexadecimal', '0x7f.0x0.0x0.0x1'],
  ['one hexadecimal number', '0x7f000001'],
  ['short', '127.1'],
  ['mixed', '0x7f.1'],
  ['with a last dot', '127.0.0.1.'],
  ['another address of loopback', '127.9.8.7'],
  ['unspecified', '0.0.0.0'],
  ['one zero', '0'],
  ['full-width digits', '１２７.０.０.１'],
  ['full-width dots', '127。0。0。1'],
  ['IPv6', '[::1]'],
  ['IPv6 unspecified', '[::]'],
  ['IPv6-mapped', '[::ffff:127.0.0.1]'],
  ['IPv6-mapped in hexadecimal', '[::ffff:7f00:1]'],
  ['IPv6-compatible', '[::127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['localhost', 'localhost'],
  ['localhost with a last dot', 'LOCALHOST.'],
  ['metadata', '169.254.169.254'],
  ['metadata in decimal', '2852039166'],
  ['metadata, mapped', '[::ffff:a9fe:a9fe]'],
  ['metadata of IPv6', '[fd00:ec2::254]'],
  ['a name of a private address', 'private.test'],
  ['a name of loopback', 'loopback.test'],
  ['a name with one address of several', 'both.test'],
  ['a name that is mapped', 'mapped.test'],
];

const zone = {
  'private.test': ['10.0.0.1'],
  'loopback.test': ['127.0.0.1'],
  'both.test': ['93.184.215.14', '127.0.0.1'],
  'mapped.test': ['::ffff:7f00:1'],
  'allowed.test': ['127.0.0.2'],
  'sub.allowed.test': ['127.0.0.2'],
};

describe('URLs in arguments', () => {
  const paths = { 'web/fetch': ['args.url'] };

  for (const [notation, host] of notations)
    test(`[C4-egress-1] ${notation} is refused: ${host}`, async (t) => {
      const fetches = createCountingTool('web/fetch');
      // Every name is allowed; what is private is not.
      const allow = ['private.test', 'loopback.test', 'both.test', 'mapped.test', 'localhost'];
      const { gateway } = await openWorld(t, [fetches.definition], { zone, egress: { allow, urls: paths } });
      const reply = await gateway.call({ tool: 'web/fetch', args: { url: `http://${host}:8080/latest` } });
      assert.equal(errorOf(reply, 'denied').code, 'EGRESS_DENIED');
      assert.equal(fetches.runs(), 0);
    });

  const tricks: readonly (readonly [string, string])[] = [
    ['a login that looks like a host', 'http://allowed.test@evil.test/'],
    ['a login with a password', 'http://allowed.test:80@evil.test/'],
    ['a login before an allowed host', 'http://evil.test@allowed.test/'],
    ['a backslash', 'http://evil.test\\@allowed.test/'],
    ['a backslash the other way', 'http://allowed.test\\@evil.test/'],
    ['a fragment', 'http://evil.test#@allowed.test/'],
    ['a question mark', 'http://evil.test?@allowed.test/'],
    ['a tab', 'http://allowed.test\t@evil.test/'],
    ['a line break', 'http://allowed.test\r\nHost: evil.test'],
    ['white space before it', ' http://allowed.test/'],
    ['an allowed host as the beginning of another', 'http://allowed.test.evil.test/'],
    ['an allowed host as the end of another', 'http://evilallowed.test/'],
    ['an encoded dot', 'http://allowed%2etest.evil.test/'],
    ['another scheme', 'file:///etc/passwd'],
    ['gopher', 'gopher://allowed.test:6379/_x'],
    ['no scheme', '//allowed.test/'],
    ['no host', 'http:///etc/passwd'],
    ['a number in place of a text', 'http://1/'],
  ];
  for (const [trick, url] of tricks)
    test(`[C4-egress-1] ${trick} is refused`, async (t) => {
      const fetches = createCountingTool('web/fetch');
      const { gateway, dns } = await openWorld(t, [fetches.definition], {
        zone,
        egress: { allow: ['allowed.test', '127.0.0.2'], urls: paths },
      });
      const reply = await gateway.call({ tool: 'web/fetch', args: { url } });
      assert.equal(errorOf(reply, 'denied').code, 'EGRESS_DENIED');
      assert.equal(fetches.runs(), 0);
      // A name that is not allowed is not even looked up: the question itself would carry data out.
      assert.deepEqual(dns.asked, []);
    });

  for (const url of [
    'http://allowed.test/',
    'https://ALLOWED.test./x',
    'http://sub.allowed.test:8080/?q#f',
    'http://127.0.0.2/',
  ])
    test(`[C4-egress-1] an allowed one passes: ${url}`, async (t) => {
      const fetches = createCountingTool('web/fetch');
      const egress = { allow: ['allowed.test', '*.allowed.test', '127.0.0.2'], urls: { 'web/*': ['args.url'] } };
      const { gateway } = await openWorld(t, [fetches.definition], { zone, egress });
      successOf(await gateway.call({ tool: 'web/fetch', args: { url } }));
      assert.equal(fetches.runs(), 1);
    });
});

describe('our own connections', () => {
  test('[C4-egress-2] an allowed name with a named address is reached, and its addresses are on record', async (t) => {
    const site = await listenEverywhere(t);
    const tool = reads('site/read', `http://allowed.test:${site.port}/page`);
    const { gateway } = await openWorld(t, [tool], { zone, egress: { allow: ['allowed.test', '127.0.0.0/8'] } });
    const reply = successOf(await gateway.call({ tool: 'site/read' }));
    assert.equal(reply.result, 'reached');
    assert.deepEqual(site.heard, [`allowed.test:${site.port} /page`]);
    const [record] = await gateway.records(reply.call_id);
    const { facts } = JSON.parse(record?.body ?? '{}') as { readonly facts: { readonly addresses: unknown } };
    assert.deepEqual(facts.addresses, [{ host: 'allowed.test', addresses: ['127.0.0.2'] }]);
  });

  for (const [notation, host] of notations)
    test(`[C4-egress-2] ${notation} is not reached by a redirect: ${host}`, async (t) => {
      const inner = await listenEverywhere(t);
      const outer = await listenEverywhere(t, (_, response) =>
        response
          .writeHead(302, { location: `http://${host.startsWith('[') ? host : encodeURI(host)}:${inner.port}/secret` })
          .end(),
      );
      const tool = reads('site/read', `http://allowed.test:${outer.port}/`, { redirects: 'follow' });
      const allow = [
        'allowed.test',
        '127.0.0.2',
        'private.test',
        'loopback.test',
        'both.test',
        'mapped.test',
        'localhost',
      ];
      const { gateway } = await openWorld(t, [tool], { zone, egress: { allow } });
      const reply = errorOf(await gateway.call({ tool: 'site/read' }), 'action_error');
      assert.deepEqual([reply.code, reply.effect], ['EGRESS_DENIED', 'none']);
      assert.deepEqual([outer.heard.length, inner.heard], [1, []]);
    });

  test('[C4-egress-2] a name that changes its answer after the gate is not reached', async (t) => {
    const site = await listenEverywhere(t);
    const changing = { 'rebind.test': [['127.0.0.2'], ['127.0.0.3']] };
    const tool = reads('site/read', `http://rebind.test:${site.port}/`);
    const { gateway, dns } = await openWorld(t, [tool], {
      zone: changing,
      egress: { allow: ['rebind.test', '127.0.0.2'] },
    });
    const reply = errorOf(await gateway.call({ tool: 'site/read' }), 'action_error');
    assert.deepEqual(
      [reply.code, reply.effect, reply.resolution],
      ['EGRESS_DENIED', 'none', { type: 'rule_block', rule_id: 'egress' }],
    );
    assert.deepEqual(site.heard, []);
    assert.equal(dns.asked.filter((name) => name === 'rebind.test A').length, 2);
  });

  test('[C4-egress-2] the same without any policy: only public addresses, and what the operator wrote', async (t) => {
    const site = await listenEverywhere(t);
    const tools = [
      reads('by/name', `http://loopback.test:${site.port}/`),
      reads('by/address', `http://127.0.0.1:${site.port}/`),
    ];
    const { gateway } = await openWorld(t, tools, { zone });
    // More often than a breaker lets failures of an upstream pass, and never sent again: it is our own refusal.
    for (let asked = 0; asked < 7; asked++) {
      const reply = errorOf(await gateway.call({ tool: 'by/name' }), 'action_error');
      assert.deepEqual([reply.code, reply.outcome?.kind, reply.attempts], ['EGRESS_DENIED', 'exhausted', undefined]);
    }
    assert.deepEqual(site.heard, []);
    successOf(await gateway.call({ tool: 'by/address' }));
  });

  test('[C4-egress-2] an agent without a list reaches no private address either', async (t) => {
    const site = await listenEverywhere(t);
    const { gateway } = await openWorld(t, [reads('by/name', `http://loopback.test:${site.port}/`)], {
      zone,
      egress: null,
    });
    assert.equal(errorOf(await gateway.call({ tool: 'by/name' }), 'denied').code, 'EGRESS_DENIED');
    assert.deepEqual(site.heard, []);
  });

  test('[C4-egress-2] a redirect is judged by the list of whoever asks', async (t) => {
    const site = await listenEverywhere(t, (request, response) =>
      request.url === '/away'
        ? response.writeHead(302, { location: `http://127.0.0.1:${site.port}/in` }).end()
        : response.end('"in"'),
    );
    const tools = [reads('site/away', `http://127.0.0.2:${site.port}/away`, { redirects: 'follow' })];
    const { gateway } = await openWorld(t, tools, { egress: { allow: ['127.0.0.2', '127.0.0.1'] } });
    assert.equal(successOf(await gateway.call({ tool: 'site/away' })).result, 'in');
    const { gateway: strict } = await openWorld(t, tools, {
      egress: { allow: ['127.0.0.2'] },
      file: `${gateway.folder}/strict.db`,
    });
    assert.equal(errorOf(await strict.call({ tool: 'site/away' }), 'action_error').code, 'EGRESS_DENIED');
  });

  test('[C4-egress-2] an MCP server whose name leads to a private address is not connected to', async (t) => {
    const { url } = await listenModern(t);
    const dns = await startDns(t, { ...zone, 'server.test': ['127.0.0.1'] });
    const servers = [httpServer('named', url.replace('127.0.0.1', 'server.test')), httpServer('literal', url)];
    const joined = await joinUpstreams({ servers, dns: [dns.address] }, defaultLimits, () => undefined);
    t.after(joined.close);
    await joined.servers?.ready(60_000);
    const states = joined.status().map(({ name, problem, tools }) => [name, problem, tools > 0]);
    assert.deepEqual(states, [
      ['named', "denied: host 'server.test' not in egress allow list", false],
      ['literal', null, true],
    ]);
  });

  test('[C4-egress-2] proxies in our own environment are not used', async (t) => {
    const site = await listenEverywhere(t);
    const proxy = await listenEverywhere(t);
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => [name, process.env[name]] as const);
    t.after(() => {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`;
    const { gateway } = await openWorld(t, [reads('site/read', `http://127.0.0.1:${site.port}/`)], { egress: null });
    successOf(await gateway.call({ tool: 'site/read' }));
    assert.deepEqual([site.heard.length, proxy.heard.length], [1, 0]);
  });
});

describe('audit mode', () => {
  test('[C9-audit-3] lets a host pass that is not listed, and never a private address', async (t) => {
    const site = await listenEverywhere(t);
    const tools = [
      reads('other/read', `http://127.0.0.1:${site.port}/`),
      reads('by/name', `http://loopback.test:${site.port}/`),
    ];
    const { gateway } = await openWorld(t, tools, { zone, egress: { allow: ['allowed.test'] }, mode: 'audit' });
    successOf(await gateway.call({ tool: 'other/read' }));
    assert.equal(site.heard.length, 1);
    assert.equal(errorOf(await gateway.call({ tool: 'by/name' }), 'denied').code, 'EGRESS_DENIED');
    assert.equal(site.heard.length, 1);
  });
});
