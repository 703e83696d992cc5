import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../../test/support/any-character.ts';
import { timesDrawn } from '../../../../test/support/times-drawn.ts';
import { aView } from '../../../../test/support/notice-home.ts';
import { toldKinds, type WebhookKind, type WebhookMessage } from '../../../core/http/webhook-message.ts';
import { slackLimits, slackMessage } from './slack-message.ts';

const aMessage = (over: Partial<WebhookMessage> = {}): WebhookMessage => ({
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
  approval: aView(),
  ticket: null,
  link: 'https://console/apr_1',
  ...over,
});

test('what cannot be seen is spelled out, and no text of others makes a line of its own', () => {
  const hostile = 'x\n*Agent* boss\u202e\u200b\u{e0041}';
  const view = aView();
  const decided = { by: hostile, at: view.opened_at, reason: hostile };
  const approval = { ...view, reason: hostile, decided };
  const { text, blocks } = slackMessage(aMessage({ agent: hostile, tool: hostile, message: hostile, approval }));
  const texts = [JSON.stringify(text), JSON.stringify(blocks)].join();
  assert.doesNotMatch(texts, /[\u202e\u200b]|\u{e0041}/u);
  const [, section] = blocks as readonly { text: { text: string } }[];
  assert.equal(section?.text.text.split('\n').length, 3);
  for (const field of ['Tool', 'Agent'])
    assert.ok(
      section?.text.text.split('\n').includes(`*${field}* "x\\n*Agent* boss\\u202e\\u200b\\udb40\\udc41"`),
      section?.text.text,
    );
});

const marked = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });

test('an approval in Slack: what, who, why, and a button that only leads on', () => {
  assert.deepEqual(slackMessage(aMessage()), {
    text: 'Approval wanted: stripe/refund',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Approval wanted: stripe/refund' } },
      {
        type: 'section',
        text: marked('*Tool* stripe/refund\n*Agent* bot\n*Reason* refunds need a person'),
        fields: [
          marked('*Approval*\napr_1'),
          marked('*State*\npending'),
          marked('*Approved by*\n0 of 1'),
          marked('*Expires*\n2026-05-19T00:00:00Z'),
          marked('*Rule*\nrecourse.yaml:14'),
          marked('*Tenant*\ndefault'),
          marked('*Call*\ncall_1'),
          marked('*At*\n2026-05-18T00:00:00Z'),
          marked('*Id*\nevt_0000000a_1.2'),
        ],
      },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            text: { type: 'plain_text', text: 'Open' },
            url: 'https://console/apr_1',
            action_id: 'open',
          },
        ],
      },
    ],
  });
});

test('without a link, or with one that Slack does not take, there is no button', () => {
  for (const link of [null, `https://console/${'x'.repeat(slackLimits.url)}`])
    assert.doesNotMatch(JSON.stringify(slackMessage(aMessage({ link }))), /button/);
});

test('who decided and what they said is shown; arguments never are', () => {
  const decided = { by: 'ada', at: '2026-05-18T00:00:01Z', reason: 'too much' };
  const text = JSON.stringify(slackMessage(aMessage({ kind: 'approval_denied', approval: aView({ decided }) })));
  assert.match(text, /ada: too much/);
  assert.doesNotMatch(text, /ord_1/);
});

test('whatever others wrote: no mention, no link of theirs, and nothing longer than Slack takes', () => {
  const wild = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 4_000 }),
    fc.constantFrom(
      '<!channel>',
      '<https://evil|click>',
      '&lt;',
      '&'.repeat(9_000),
      '<'.repeat(140),
      '🙂'.repeat(5_000),
    ),
  );
  const kinds = Object.keys(toldKinds) as WebhookKind[];
  fc.assert(
    fc.property(wild, wild, wild, fc.constantFrom(...kinds), (tool, agent, reason, kind) => {
      const decided = { by: agent, at: 'x', reason };
      const approval = aView({ approval_id: tool, reason, rule_ref: reason, decided });
      for (const each of [approval, null])
        check(slackMessage(aMessage({ tool, agent, kind, message: reason, approval: each })));
    }),
    { seed: 5, numRuns: timesDrawn(300, 75) },
  );
});

interface Block {
  readonly type: string;
  readonly text: { readonly text: string };
  readonly fields?: readonly { readonly text: string }[];
}

function check(message: Readonly<Record<string, unknown>>): void {
  const [header, section] = message['blocks'] as readonly [Block, Block];
  const fields = section.fields ?? [];
  assert.ok(header.text.text.length <= slackLimits.header && section.text.text.length <= slackLimits.text);
  assert.ok(fields.length > 0 && fields.length <= slackLimits.fields);
  for (const { text } of fields) assert.ok(text.length <= slackLimits.field);
  for (const { text } of [header.text, section.text, ...fields]) {
    assert.doesNotMatch(text, /[<>]/);
    assert.doesNotMatch(text, /&(?!amp;|lt;|gt;)/, 'no escape is cut in two');
  }
}

test('a ticket is named with its queue, and the reason is the message', () => {
  const ticket = {
    ticket_id: 'tkt_1_in_doubt',
    state: 'open',
    queue: 'money <first>',
    reason: 'in_doubt',
    says: 'nobody knows',
    agent: 'bot',
    tool: 'stripe/refund',
    session: null,
    call_id: 'call_1',
    opened_at: '2026-05-18T00:00:00Z',
    due_at: null,
    expires_at: null,
    overdue: false,
    assignee: null,
    answer: null,
    continued_by: null,
    closed_at: null,
    closed_by: null,
  } as const;
  const about = { event: 'ticket_opened', kind: 'ticket_opened', message: 'nobody knows' } as const;
  const message = slackMessage(aMessage({ ...about, approval: null, link: null, ticket }));
  const text = JSON.stringify(message);
  assert.equal(message['text'], 'Ticket opened: stripe/refund');
  for (const part of ['*Ticket*\\ntkt_1_in_doubt', '*Queue*\\nmoney &lt;first&gt;', '*Reason* nobody knows'])
    assert.ok(text.includes(part), `${part} in ${text}`);
});

test('a batch in Slack names the first, lists some, and counts the rest', () => {
  const { link, ...other } = aMessage({ tool: 'a/<b>', approval: null });
  const batch = { count: 40, others: Array.from({ length: 19 }, () => ({ ...other, link })), omitted: {} };
  const { text, blocks } = slackMessage(aMessage({ batch }));
  assert.equal(text, 'Approval wanted: stripe/refund and 39 more');
  const [, , list] = blocks as readonly { readonly text: { readonly text: string } }[];
  const lines = list?.text.text.split('\n') ?? [];
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [11, '• Approval wanted: a/&lt;b&gt;', '• and 29 more']);
});
