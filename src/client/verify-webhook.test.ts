import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { signWebhook } from '../adapters/notify/webhook/write-message.ts';
import { type ReceivedWebhook, verifyWebhook } from './verify-webhook.ts';

const secret = 'a secret of sixteen characters';
const body = JSON.stringify({ id: 'evt_1', tool: 'grüße' });
const seconds = 1_779_062_400;
const nowMs = seconds * 1_000;
const headers = signWebhook('evt_1', seconds, body, secret);
const signature = headers['Recourse-Signature'] ?? '';
const asked = (over: Partial<ReceivedWebhook> = {}): ReceivedWebhook => ({ headers, body, secret, nowMs, ...over });

test('the signature is the one that is documented', () => {
  const expected = createHmac('sha256', secret).update(`evt_1.${seconds}.${body}`).digest('hex');
  assert.equal(signature, `v1=${expected}`);
  assert.deepEqual(signWebhook('evt_1', seconds, body, null), {
    'Recourse-Id': 'evt_1',
    'Recourse-Timestamp': `${seconds}`,
  });
});

for (const [name, over] of [
  ['headers as fetch has them', { headers: new Headers(headers) }],
  [
    'headers in lower case',
    { headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value])) },
  ],
  ['a body of bytes', { body: new TextEncoder().encode(body) }],
  ['a body inside a larger buffer', { body: Buffer.from(`xx${body}`).subarray(2) }],
  ['the newer of two secrets', { secret: ['another one that is new', secret] }],
  [
    'a signature of a version to come beside it',
    { headers: { ...headers, 'Recourse-Signature': `v2=zz, ${signature}` } },
  ],
  ['a clock that is five minutes off', { nowMs: nowMs + 300_000 }],
  ['a tolerance of its own', { nowMs: nowMs - 900_000, toleranceSeconds: 900 }],
] as readonly (readonly [string, Partial<ReceivedWebhook>])[])
  test(`verified: ${name}`, async () => {
    assert.deepEqual(await verifyWebhook(asked(over)), { ok: true, id: 'evt_1', message: JSON.parse(body) });
  });

const withHeader = (name: string, value: string | undefined) => ({ headers: { ...headers, [name]: value } });

for (const [name, over, problem] of [
  ['another body', { body: `${body} ` }, 'wrong_signature'],
  ['another id', withHeader('Recourse-Id', 'evt_2'), 'wrong_signature'],
  ['another time', withHeader('Recourse-Timestamp', `${seconds + 1}`), 'wrong_signature'],
  ['another secret', { secret: 'another secret' }, 'wrong_signature'],
  ['a shorter signature', withHeader('Recourse-Signature', signature.slice(0, -2)), 'not_signed'],
  ['a signature of another version', withHeader('Recourse-Signature', signature.replace('v1', 'v0')), 'not_signed'],
  ['no signature', withHeader('Recourse-Signature', undefined), 'not_signed'],
  ['no id', withHeader('Recourse-Id', undefined), 'not_signed'],
  ['a time that is none', withHeader('Recourse-Timestamp', 'now'), 'not_signed'],
  ['an old one', { nowMs: nowMs + 301_000 }, 'too_old'],
  ['one of the future', { nowMs: nowMs - 301_000 }, 'too_old'],
  ['signed, but no JSON', { body: '{', headers: signWebhook('evt_1', seconds, '{', secret) }, 'not_json'],
] as readonly (readonly [string, Partial<ReceivedWebhook>, string])[])
  test(`not verified: ${name}`, async () => {
    assert.deepEqual(await verifyWebhook(asked(over)), { ok: false, problem });
  });

test('a secret that is empty is a mistake of the receiver, and verifies nothing', async () => {
  for (const empty of ['', [], ['']]) await assert.rejects(verifyWebhook(asked({ secret: empty })), /needs the secret/);
});
