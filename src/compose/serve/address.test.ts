import assert from 'node:assert/strict';
import test from 'node:test';
import { allowedHosts, isLoopback, readAddress } from './address.ts';

test('host:port is read, and nothing else', () => {
  assert.deepEqual(readAddress('127.0.0.1:7411'), { host: '127.0.0.1', port: 7_411 });
  assert.deepEqual(readAddress('[::1]:0'), { host: '::1', port: 0 });
  assert.deepEqual(readAddress('gateway.internal:80'), { host: 'gateway.internal', port: 80 });
  for (const odd of ['', '7411', ':80', 'a:b', 'a:99999', '[zz]:1', '::1:80', 'a:1/x', 'a b:1'])
    assert.equal(readAddress(odd), null, odd);
});

test('only what stays on this machine is loopback', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost', 'LOCALHOST']) assert.ok(isLoopback(host), host);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example', 'example.org'])
    assert.ok(!isLoopback(host), host);
});

test('on loopback only local names are ours; beyond, those of this machine too, and never any name', () => {
  assert.deepEqual(allowedHosts('127.0.0.1'), ['localhost', '127.0.0.1', '[::1]']);
  const beyond = allowedHosts('0.0.0.0');
  assert.ok(beyond.includes('localhost') && !beyond.includes('*'));
});
