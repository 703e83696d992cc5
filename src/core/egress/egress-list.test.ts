import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { destinationOf, plainDestinationOf, readHost } from './destination.ts';
import {
  anyPublicHost,
  compileList,
  onlyHost,
  openingFor,
  permitsAddress,
  permitsName,
  readEntry,
} from './egress-list.ts';
import { readArgumentPath, urlsAt } from './find-urls.ts';
import type { Json } from '../values/json.ts';

/** Allow list, URL, and whether its host is permitted by name. */
const names: readonly (readonly [readonly string[], string, boolean])[] = [
  [['api.example.com'], 'https://api.example.com/x', true],
  [['api.example.com'], 'https://API.EXAMPLE.COM./x', true],
  [['API.example.com.'], 'https://api.example.com/x', true],
  [['api.example.com'], 'https://api.example.com.evil.test/', false],
  [['api.example.com'], 'https://evilapi.example.com/', false],
  [['api.example.com'], 'https://api.example.com@evil.test/', false],
  [['api.example.com'], 'https://evil.test#api.example.com', false],
  [['api.example.com'], 'https://evil.test\\@api.example.com/', false],
  [['*.example.com'], 'https://a.example.com/', true],
  [['*.example.com'], 'https://a.b.example.com/', true],
  [['*.example.com'], 'https://example.com/', false],
  [['*.example.com'], 'https://badexample.com/', false],
  [['api.example.com:8443'], 'https://api.example.com:8443/', true],
  [['api.example.com:8443'], 'https://api.example.com/', false],
  [['api.example.com:443'], 'https://api.example.com/', true],
  [['api.example.com:80'], 'http://api.example.com/', true],
  [['bücher.example'], 'https://xn--bcher-kva.example/', true],
  [['127.0.0.1'], 'http://2130706433/', true],
  [['127.0.0.1'], 'http://0177.0.0.1/', true],
  [['127.0.0.1'], 'http://0x7f.1/', true],
  [['127.0.0.1'], 'http://[::ffff:127.0.0.1]/', true],
  [['10.0.0.0/8:5432'], 'http://10.9.9.9:5432/', true],
  [['10.0.0.0/8:5432'], 'http://10.9.9.9/', false],
  [['fd00::/8'], 'http://[fd00::1]/', true],
  [['[fd00::/8]:80'], 'http://[fd00::1]/', true],
  [['api.example.com'], 'http://127.0.0.1/', false],
  [['*.0.0.1'], 'http://127.0.0.1/', false],
  [[], 'https://api.example.com/', false],
];

describe('by name', () => {
  for (const [allow, url, expected] of names)
    test(`${JSON.stringify(allow)} ${expected ? 'permits' : 'refuses'} ${url}`, () => {
      const to = destinationOf(url);
      assert.ok(to !== null);
      assert.equal(permitsName(compileList(allow), to), expected);
    });
});

/** Allow list, address, port, and whether a connection may go there. */
const addresses: readonly (readonly [readonly string[], string, number, boolean])[] = [
  [['api.example.com'], '93.184.215.14', 443, true],
  [['internal.example.com'], '10.0.0.5', 443, false],
  [['internal.example.com', '10.0.0.5'], '10.0.0.5', 443, true],
  [['10.0.0.5:443'], '10.0.0.5', 80, false],
  [['10.0.0.0/8'], '10.255.0.1', 80, true],
  [['10.0.0.0/8'], '::ffff:10.255.0.1', 80, true],
  [['localhost'], '127.0.0.1', 80, false],
  [['169.254.0.0/16'], '169.254.1.1', 80, true],
  [['169.254.0.0/16'], '169.254.169.254', 80, false],
  [['0.0.0.0/0'], '169.254.169.254', 80, false],
  [['169.254.169.254'], '169.254.169.254', 80, true],
  [['api.example.com'], 'no address', 443, false],
];

describe('by address', () => {
  for (const [allow, address, port, expected] of addresses)
    test(`${JSON.stringify(allow)} ${expected ? 'permits' : 'refuses'} ${address}:${port}`, () =>
      assert.equal(permitsAddress(compileList(allow), address, port), expected));

  test('what an operator wrote as an address is named for its own port, and for no host of the list', () => {
    const list = openingFor(null, { host: '127.0.0.1', port: 9_000 });
    assert.deepEqual(
      [
        permitsAddress(list, '127.0.0.1', 9_000),
        permitsAddress(list, '127.0.0.1', 22),
        permitsAddress(list, '127.0.0.2', 9_000),
      ],
      [true, false, false],
    );
    const strict = openingFor(compileList(['api.example.com']), { host: '127.0.0.1', port: 9_000 });
    assert.equal(permitsName(strict, { host: '127.0.0.1', port: 9_000 }), false);
    assert.equal(permitsAddress(openingFor(null, { host: 'localhost', port: 1 }), '::1', 1), true);
    assert.equal(openingFor(null, { host: 'internal.test', port: 1 }), anyPublicHost);
    assert.equal(permitsName(onlyHost({ host: 'a.test', port: 1 }), { host: 'b.test', port: 1 }), false);
  });
});

describe('entries that are refused', () => {
  for (const text of [
    '',
    '*',
    'a.*.example.com',
    'http://a.test',
    'a.test/path',
    'a b',
    '10.0.0.1/8',
    '0x7f.0.0.1',
    '2130706433',
    'a.test:0',
    'a.test:99999',
    'user@a.test',
    '*.',
    '[::1',
    'a.test\\b',
  ])
    test(`'${text}'`, () => assert.equal(readEntry(text).ok, false));
});

describe('URLs in arguments', () => {
  const plain: readonly (readonly [string, string | null])[] = [
    ['https://a.test/x?y#z', 'a.test:443'],
    ['HTTP://A.test:81', 'a.test:81'],
    ['https://user@a.test/', null],
    ['https://user:word@a.test/', null],
    ['https://@a.test/', null],
    ['https://a.test\\@b.test/', null],
    ['https://b.test;.a.test/', null],
    ["https://b.test'.a.test/", null],
    ['https://b.test%3b.a.test/', null],
    ['https://a%2etest/', null],
    ['https://bücher.test/', 'xn--bcher-kva.test:443'],
    ['https://[2606:4700::1111]:8443/', '2606:4700::1111:8443'],
    ['https:a.test', null],
    ['https:///a.test', null],
    ['//a.test', null],
    ['ftp://a.test', null],
    ['file:///etc/passwd', null],
    ['javascript:alert(1)', null],
    ['https://a.\ttest/', null],
    [' https://a.test/', null],
    ['https://a.test/ b', null],
    ['not a url', null],
    ['https://a.test:99999', null],
    ['http://0x7f000001/', '127.0.0.1:80'],
  ];
  for (const [url, expected] of plain)
    test(`${JSON.stringify(url)} is ${expected ?? 'refused'}`, () => {
      const to = plainDestinationOf(url);
      assert.equal(to === null ? null : `${to.host}:${to.port}`, expected);
    });

  test('are found at their paths, in lists too; what is missing or null is nothing', () => {
    const paths = ['args.url', 'args.items.*.href', 'args.all', 'args.none', 'args.deep.none'].map(
      (text) => readArgumentPath(text) ?? [],
    );
    const args = {
      url: 'https://a.test',
      items: [{ href: 'https://b.test' }, { other: 1 }],
      all: ['https://c.test', null],
      none: null,
    };
    assert.deepEqual(
      urlsAt(args, paths).map((to) => to?.host),
      ['a.test', 'b.test', 'c.test'],
    );
  });

  test('are found in lists that the path does not name', () => {
    const paths = [readArgumentPath('args.item.href') ?? []];
    const hostsIn = (item: Json) => urlsAt({ item }, paths).map((to) => to?.host);
    assert.deepEqual(hostsIn([{ href: 'https://a.test' }, { href: ['https://b.test'] }]), ['a.test', 'b.test']);
    assert.deepEqual(hostsIn([[{ href: 'https://a.test' }], 7, null]), ['a.test']);
  });

  test('something else at a path is reported, and so are too many', () => {
    assert.deepEqual(urlsAt({ url: 7 }, [['url']]), [null]);
    assert.deepEqual(urlsAt({ url: { a: 1 } }, [['url']]), [null]);
    assert.ok(urlsAt({ url: Array.from({ length: 100 }, () => 'https://a.test') }, [['url']]).includes(null));
  });

  test('paths that are none', () => {
    for (const text of ['url', 'args', 'args.', 'args..a', 'result.url', 'args.a*', 'args.**.url'])
      assert.equal(readArgumentPath(text), null, text);
  });
});

test('a bare host is read as a URL would', () => {
  assert.deepEqual(
    ['A.test.', '::1', '[::1]', '0x7f.1', 'a/b', 'a:80', 'a@b', '%61.test', '1:2'].map((text) => readHost(text)),
    ['a.test', '::1', '::1', '127.0.0.1', null, null, null, null, null],
  );
});
