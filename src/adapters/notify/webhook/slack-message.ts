/**
 * Formats a message for Slack: what happened, about whom, and a link to where a person decides. Arguments are left
 * out. Texts of others are escaped and cut to Slack's limits. Pure.
 */
import { quoteName, spellOut } from '../../../core/values/quote.ts';
import type { WebhookBatch, WebhookMessage } from '../../../core/http/webhook-message.ts';
import { titleOf } from '../follow/title-of.ts';

/** As Slack documents them; a message beyond any of them is refused as a whole. */
export const slackLimits = { header: 150, text: 3_000, field: 2_000, fields: 10, button: 75, url: 3_000 } as const;

/** Further events that are listed; the rest is counted. */
const maxOthers = 10;

export function slackMessage(message: WebhookMessage): Readonly<Record<string, unknown>> {
  const { tool, agent, approval, link, batch } = message;
  const more = batch === undefined ? '' : ` and ${batch.count - 1} more`;
  const title = `${escaped(titleWith(message), slackLimits.header - more.length)}${more}`;
  const reason = approval?.reason ?? message.message;
  const lines = [
    `*Tool* ${escaped(tool === null ? '–' : quoteName(tool), 300)}`,
    `*Agent* ${escaped(agent === null ? '–' : quoteName(agent), 300)}`,
    `*Reason* ${escaped(reason, 2_000)}`,
  ];
  const button = link === null || link.length > slackLimits.url ? [] : [buttonTo(link)];
  return {
    text: title,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title } },
      { type: 'section', text: marked(lines.join('\n')), fields: fieldsOf(message) },
      ...(batch === undefined ? [] : [{ type: 'section', text: marked(othersOf(batch)) }]),
      ...button,
    ],
  };
}

const titleWith = (message: Omit<WebhookMessage, 'batch'>): string =>
  `${titleOf(message)}: ${message.tool ?? message.upstream ?? message.agent ?? message.event}`;

function othersOf({ count, others }: WebhookBatch): string {
  const listed = others.slice(0, maxOthers).map((each) => `• ${escaped(titleWith(each), 200)}`);
  const rest = count - 1 - listed.length;
  return [...listed, ...(rest === 0 ? [] : [`• and ${rest} more`])].join('\n');
}

function fieldsOf({ approval, ticket, tenant, at, call_id, id }: WebhookMessage): readonly unknown[] {
  const fields: (readonly [string, string | null])[] = [
    ['Approval', approval?.approval_id ?? null],
    ['State', approval?.state ?? null],
    ['Approved by', approval === null ? null : `${approval.approved_by.length} of ${approval.needed}`],
    ['Decided by', decidedBy(approval?.decided ?? null)],
    ['Expires', approval?.expires_at ?? null],
    ['Rule', approval?.rule_ref ?? null],
    ...fieldsOfTicket(ticket),
    ['Tenant', tenant],
    ['Call', call_id],
    ['At', at],
    ['Id', id],
  ];
  return fields.flatMap(([name, value]) =>
    value === null ? [] : [marked(`*${name}*\n${escaped(value, slackLimits.field - 100)}`)],
  );
}

const fieldsOfTicket = (ticket: WebhookMessage['ticket']): (readonly [string, string | null])[] =>
  ticket === null
    ? []
    : [
        ['Ticket', ticket.ticket_id],
        ['Queue', ticket.queue],
      ];

function decidedBy(decided: NonNullable<WebhookMessage['approval']>['decided']): string | null {
  if (decided === null) return null;
  return decided.reason === null ? decided.by : `${decided.by}: ${decided.reason}`;
}

/** Verbatim: Slack must make no links and no mentions of what others wrote. */
const marked = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });

const buttonTo = (url: string) => ({
  type: 'actions',
  elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url, action_id: 'open' }],
});

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Cut before it is escaped, so that no escape is cut in two; counted as it is sent. */
function escaped(text: string, maxChars: number): string {
  const room = maxChars - 1;
  let out = '';
  for (const char of spellOut(text)) {
    const next = escapes[char] ?? char;
    if (out.length + next.length > room) return `${out}…`;
    out += next;
  }
  return out;
}
