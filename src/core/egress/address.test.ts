import assert from 'node:assert/strict';
import net from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type AddressClass, classOf, isInRange, parseAddress, parseRange } from './address.ts';

const classes: readonly (readonly [string, AddressClass])[] = [
  ['93.184.215.14', 'public'],
  ['2606:4700::1111', 'public'],
  ['10.1.2.3', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.1', 'public'],
  ['192.168.0.1', 'private'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['::1', 'loopback'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['::', 'unspecified'],
  ['169.254.1.1', 'link_local'],
  ['fe80::1%eth0', 'link_local'],
  ['169.254.169.254', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['fd00:c1::a9fe:a9fe', 'metadata'],
  ['fd00:42::42', 'metadata'],
  ['fe80::a9fe:a9fe', 'metadata'],
  ['169.254.42.42', 'metadata'],
  ['169.254.0.23', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['100.64.0.1', 'shared'],
  ['224.0.0.1', 'multicast'],
  ['ff02::1', 'multicast'],
  ['255.255.255.255', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['fc00::1', 'private'],
  ['fdff::1', 'private'],
  ['fec0::1', 'private'],
  // One address in other clothes.
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:169.254.169.254', 'metadata'],
  ['::ffff:93.184.215.14', 'public'],
  ['::127.0.0.1', 'reserved'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['64:ff9b::a9fe:a9fe', 'metadata'],
  ['64:ff9b::5db8:d70e', 'public'],
  ['64:ff9b:1::1', 'reserved'],
  ['2002:7f00:1::', 'reserved'],
  ['2001:0:7f00:1::', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['4000::1', 'reserved'],
];

describe('the class of an address', () => {
  for (const [text, expected] of classes)
    test(`${text} is ${expected}`, () => {
      const address = parseAddress(text);
      assert.ok(address !== null);
      assert.equal(classOf(address), expected);
    });
});

describe('what is no address', () => {
  for (const text of [
    '',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '0x7f.0.0.1',
    '2130706433',
    'a.b',
    ':::',
    '1::2::3',
    '::g',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '::1.2.3',
    '12345::',
  ])
    test(`'${text}'`, () => assert.equal(parseAddress(text), null));
});

test('every address that Node writes is read, and is in the ranges that Node says', () => {
  const list = new net.BlockList();
  list.addSubnet('10.32.0.0', 11, 'ipv4');
  list.addSubnet('2001:db8:8000::', 33, 'ipv6');
  const ranges = ['10.32.0.0/11', '2001:db8:8000::/33'].map((text) => parseRange(text));
  const near = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((text) => text.replace(/^\d+/, '10')),
  );
  fc.assert(
    fc.property(near, (text) => {
      const family = net.isIPv4(text) ? 'ipv4' : 'ipv6';
      const address = parseAddress(text);
      assert.ok(address !== null, text);
      const isIn = ranges.some((range) => range !== null && isInRange(range, address));
      assert.equal(isIn, list.check(text, family), text);
    }),
  );
});

test('a range that begins inside its network is refused', () => {
  assert.equal(parseRange('10.0.0.1/8'), null);
  assert.equal(parseRange('10.0.0.0/33'), null);
  assert.equal(parseRange('10.0.0.0/8/8'), null);
  assert.ok(parseRange('0.0.0.0/0') !== null);
});
