/** Every event that the configuration accepts is found on record and told, by a webhook and by mail; nothing else is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startMailReceiver } from './mail-receiver.ts';
import { aHook, aMailing, openNoticeHome, type Recorded } from '../../support/notice-home.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import type { DeniedCode } from '../../../src/core/taxonomy.ts';
import { type WebhookEvent, webhookEvents } from '../../../src/core/http/webhook-message.ts';

const human = (text: string) => ({ error: 'denied', human_message: text });
const denial = (code: DeniedCode): Recorded => ({
  kind: 'refused',
  body: { code, gate: 'policy', tool: 'stripe/refund', facts: {} },
  reply: { code, ...human(`denied by ${code}`) },
});

const records: Readonly<Record<WebhookEvent, readonly [Recorded, title: string, says: RegExp]>> = {
  POLICY_DENY: [denial('POLICY_DENY'), 'Denied by policy', /denied by POLICY_DENY/],
  POLICY_DEFER: [{}, 'Approval wanted', /a person was asked/],
  RATE_EXCEEDED: [denial('RATE_EXCEEDED'), 'Rate limit reached', /denied by RATE/],
  BUDGET_EXCEEDED: [denial('BUDGET_EXCEEDED'), 'Budget reached', /denied by BUDGET/],
  BUDGET_WARNING: [
    {
      kind: 'budget_warned',
      body: { budget_id: 'daily', human_message: 'budget 80% consumed', resolution: {}, agent: 'bot', tool: 'a/b' },
    },
    'Budget is running low',
    /budget 80% consumed/,
  ],
  DAEMON_NOT_READY: [denial('DAEMON_NOT_READY'), 'Gateway is not ready', /denied by DAEMON/],
  COMPLETION_BLOCKED: [denial('COMPLETION_BLOCKED'), 'Cannot complete yet', /denied by COMPLETION/],
  // Met only after it was sent.
  EGRESS_DENIED: [
    { kind: 'settled', body: { effect: 'none' }, reply: { error: 'action_error', code: 'EGRESS_DENIED' } },
    'Host not allowed',
    /wanted to reach a host/,
  ],
  MODEL_DENIED: [denial('MODEL_DENIED'), 'Model not allowed', /denied by MODEL/],
  CREDENTIAL_UNAVAILABLE: [denial('CREDENTIAL_UNAVAILABLE'), 'Credential not available', /denied by CREDENTIAL/],
  APPROVAL_EDITED: [
    { kind: 'approval_used', body: { approval: 'apr_1', notices: [{ code: 'APPROVAL_EDITED' }] } },
    'Approved call runs',
    /runs under its approval/,
  ],
  EARLIER_RESULT: [{ kind: 'adopted', body: { from: 'call_1' } }, 'Result of an earlier call', /took the result/],
  RUNTIME_GAP: [
    { kind: 'runtime_gap', body: { kind: 'unknown_method', subject: 'x/y' } },
    'Runtime gap',
    /method 'x\/y' is not known/,
  ],
  ticket_opened: [{ kind: 'ticket_opened', body: { ticket: 'tkt_none' } }, 'Ticket opened', /a person must settle/],
  ticket_taken: [{ kind: 'ticket_taken', body: { ticket: 'tkt_none' } }, 'Ticket taken', /took a ticket/],
  ticket_resolved: [{ kind: 'ticket_resolved', body: { ticket: 'tkt_none' } }, 'Ticket answered', /answered a ticket/],
  ticket_overdue: [{ kind: 'ticket_overdue', body: { ticket: 'tkt_none' } }, 'Ticket overdue', /in time/],
  ticket_expired: [{ kind: 'ticket_expired', body: { ticket: 'tkt_none' } }, 'Ticket expired', /nobody answered/],
  in_doubt: [{ kind: 'doubted', body: {} }, 'Call in doubt', /nobody can say/],
  breaker_opened: [
    { kind: 'breaker_opened', body: { upstream: 'pay', why: '5xx', retry_after_seconds: 30 } },
    'Upstream is down',
    /upstream 'pay' failed too often \(last: 5xx\); nothing is sent to it for 30 seconds/,
  ],
  breaker_closed: [{ kind: 'breaker_closed', body: { upstream: 'pay' } }, 'Upstream is back', /'pay' answers again/],
};

for (const event of webhookEvents)
  test(`[C8-notice-1] ${event} is told to those who asked for it, and to nobody else`, async (t) => {
    const home = await openNoticeHome(t);
    const [hook, others, server] = [await startReceiver(t), await startReceiver(t), await startMailReceiver(t)];
    const [recorded, title, says] = records[event];
    const rest = webhookEvents.filter((each) => each !== event && each !== 'POLICY_DEFER');
    await home.start([
      aHook({ url: hook.url, events: [event] }),
      aMailing({ server: server.url(), events: [event] }),
      aHook({ url: others.url, name: 'others', events: rest }),
    ]);
    await home.record(recorded);
    // Of a kind that only the others asked for, so that it is seen when they were told everything before it.
    const last = event === 'RUNTIME_GAP' ? 'in_doubt' : 'RUNTIME_GAP';
    await home.record(records[last][0]);
    await eventually('all were told', async () => hook.got.length + server.got.length + others.got.length === 3);
    assert.deepEqual(
      others.got.map(({ message }) => message.event),
      [last],
    );
    const { message } = hook.got[0] ?? assert.fail();
    assert.equal(message.event, event);
    assert.match(message.message, says);
    const { headers, text } = server.got[0] ?? assert.fail();
    assert.equal(headers.get('subject'), `[recourse] ${title}`);
    assert.match(text.replaceAll('\r\n', ' '), says);
  });

for (const [name, recorded] of [
  [
    'a result that only looks like a denial',
    { kind: 'settled', body: {}, reply: { result: { code: 'POLICY_DENY', error: 'x' } } },
  ],
  ['a failure of a tool', { kind: 'settled', body: {}, reply: { error: 'action_error', code: 'NotFound' } }],
  ['a refusal that is no denial', { kind: 'refused', body: { code: 'InputInvalid', about: 'POLICY_DENY' } }],
  ['an adoption, at the call that gave its result', { kind: 'adopted', body: { by: 'call_2' } }],
  ['a count of refusals', { kind: 'refusals_repeated', body: { count: 10 } }],
] as readonly (readonly [string, Recorded])[])
  test(`[C8-notice-1] ${name} is told to nobody`, async (t) => {
    const home = await openNoticeHome(t);
    const hook = await startReceiver(t);
    await home.start([aHook({ url: hook.url, events: webhookEvents })]);
    await home.record(recorded);
    await home.record(records.in_doubt[0]);
    await eventually('the next', async () => hook.got.length >= 1);
    assert.equal(hook.got[0]?.message.event, 'in_doubt');
  });
