/** Writes and signs the body of a message: JSON for programs, Slack's blocks for people. Pure. */
import { createHmac } from 'node:crypto';
import { unreachable } from '../../core/values/unreachable.ts';
import type { WebhookMessage } from '../../core/http/webhook-message.ts';
import { slackMessage } from './slack-message.ts';
import type { Webhook } from './webhook.ts';

export function writeMessage(
  told: Omit<WebhookMessage, 'link'>,
  { format, link }: Pick<Webhook, 'format' | 'link'>,
  maxBytes: number,
): string {
  const message: WebhookMessage = { ...told, link: linkTo(link, told.approval?.approval_id ?? null) };
  switch (format) {
    case 'json':
      return within(message, maxBytes);
    case 'slack':
      return JSON.stringify(slackMessage(message));
    default:
      return unreachable(format);
  }
}

const place = '{approval_id}';

/** A link that names an approval leads nowhere without one. */
function linkTo(link: string | null, id: string | null): string | null {
  if (link === null || !link.includes(place)) return link;
  return id === null ? null : link.replaceAll(place, encodeURIComponent(id));
}

/** Arguments may be megabytes; everything else is short. */
function within(message: WebhookMessage, maxBytes: number): string {
  const whole = JSON.stringify(message);
  if (message.approval === null || Buffer.byteLength(whole) <= maxBytes) return whole;
  const { edited_args: _edited, ...approval } = message.approval;
  return JSON.stringify({ ...message, approval: { ...approval, args: null }, args_omitted: true });
}

/** Headers by which a receiver knows that a message is from here. Without a secret there is no signature. */
export function signWebhook(
  id: string,
  timestampSeconds: number,
  body: string,
  secret: string | null,
): Readonly<Record<string, string>> {
  const timestamp = String(timestampSeconds);
  const headers = { 'Recourse-Id': id, 'Recourse-Timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('hex');
  return { ...headers, 'Recourse-Signature': `v1=${signature}` };
}
