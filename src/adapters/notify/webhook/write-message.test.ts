import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aView } from '../../../../test/support/notice-home.ts';
import type { WebhookMessage } from '../../../core/http/webhook-message.ts';
import { writeMessage } from './write-message.ts';

const told = (approval: WebhookMessage['approval']): Omit<WebhookMessage, 'link'> => ({
  id: 'evt_0000000a_1.2',
  event: 'POLICY_DEFER',
  kind: 'approval_opened',
  at: '2026-05-18T00:00:00Z',
  tenant: 'default',
  agent: 'bot',
  tool: 'stripe/refund',
  call_id: 'call_1',
  session: null,
  message: 'a person was asked to approve a call',
  approval,
  ticket: null,
});

const written = (approval: WebhookMessage['approval'], link: string | null, maxBytes = 4_096) =>
  JSON.parse(writeMessage(told(approval), { format: 'json', link }, maxBytes)) as WebhookMessage;

test('the link names the approval, safely, and leads nowhere without one', () => {
  const odd = aView({ approval_id: 'a/b?c' });
  for (const [approval, link, expected] of [
    [odd, 'https://c/{approval_id}?of={approval_id}', 'https://c/a%2Fb%3Fc?of=a%2Fb%3Fc'],
    [odd, 'https://c/all', 'https://c/all'],
    [odd, null, null],
    [null, 'https://c/{approval_id}', null],
    [null, 'https://c/all', 'https://c/all'],
  ] as const)
    assert.equal(written(approval, link).link, expected);
});

test('what fits is whole; what does not goes without arguments, and says so', () => {
  const small = aView({ edited_args: { amount: 5 } });
  assert.deepEqual(written(small, null), { ...told(small), link: null });
  const large = aView({ args: { text: 'ä'.repeat(2_048) }, edited_args: { text: 'x'.repeat(9_000) } });
  const { approval, args_omitted: omitted, ...rest } = written(large, null);
  const { approval: _told, ...others } = told(null);
  assert.deepEqual(rest, { ...others, link: null });
  assert.deepEqual(approval, { ...aView(), args: null });
  assert.equal(omitted, true);
});

test('of a batch everything is listed or counted, however little room there is', () => {
  const view = aView({ args: { text: 'x'.repeat(3_000) } });
  const others = Array.from({ length: 9 }, () => told(view));
  const batch = { count: 15, others, omitted: { POLICY_DENY: 5 } } as const;
  for (const maxBytes of [1_000_000, 40_000, 8_000, 3_000, 1]) {
    const text = writeMessage(told(view), { format: 'json', link: null }, maxBytes, batch);
    const message = JSON.parse(text) as WebhookMessage;
    const { count = 0, others: listed = [], omitted = {} } = message.batch ?? {};
    const counted = Object.values(omitted).reduce((sum, each) => sum + each, 0);
    assert.equal(1 + listed.length + counted, count, `${maxBytes}`);
    if (maxBytes > 1) assert.ok(Buffer.byteLength(text) <= maxBytes, `${Buffer.byteLength(text)} of ${maxBytes}`);
  }
});
