import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeText } from './redact.ts';

const secrets: readonly (readonly [string, string])[] = [
  ['Authorization: Bearer abcdefghijklmnop', 'abcdefghijklmnop'],
  ['the key sk-proj-aaaaaaaaaaaaaaaaaaaa was refused', 'aaaaaaaaaaaaaaaaaaaa'],
  ['connect postgres://admin:hunter2@db/x failed', 'hunter2'],
  ['{"password": "correct horse"}', 'correct'],
  ['api_key=abc123&x=1', 'abc123'],
  ['token: abcdef123456', 'abcdef'],
  ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI', 'wJalr'],
  ['Cookie: sid=0123456789', '0123456789'],
  ["secret='a b c'", 'b c'],
  ['api_key=sk-live-0123456789abcdef', 'key]'],
  ['token ghp_aaaaaaaaaaaaaaaaaaaaaaaa', 'ghp_aaaa'],
  ['AKIAABCDEFGHIJKLMNOP', 'AKIAABCDEFGHIJKLMNOP'],
  ['jwt eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', 'eyJzdWIi'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', 'MIIE'],
];

for (const [text, secret] of secrets) {
  test(`hides the secret in: ${text.slice(0, 30)}`, () =>
    assert.ok(!safeText(text, 2_000).includes(secret), safeText(text, 2_000)));
}

test('leaves ordinary words alone, verbatim', () => {
  const text = 'must read the file before editing it';
  assert.equal(safeText(text, 2_000), text);
});

test('is bounded, well formed, and quick on a hostile text', () => {
  assert.equal(safeText('x'.repeat(5_000), 100).length, 100);
  assert.equal(safeText('a\ud800b', 100), 'a\ufffdb');
  for (const unit of ['a:', 'password', '-----BEGIN ', 'eyJaaaaaaaa.', '://a:', 'Bearer '])
    safeText(unit.repeat(100_000), 2_000);
});
