/** Writes and signs the body of a message: JSON for programs, Slack's blocks for people. Pure. */
import { createHmac } from 'node:crypto';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { WebhookBatch, WebhookMessage } from '../../../core/http/webhook-message.ts';
import type { Described } from '../follow/describe-occurrence.ts';
import { linkTo } from '../follow/link-to.ts';
import { slackMessage } from './slack-message.ts';
import type { Webhook } from './webhook.ts';

/** Further events of the message, as they are described. */
export interface Others {
  /** All of them, with the first. */
  readonly count: number;
  readonly others: readonly Described[];
  readonly omitted: WebhookBatch['omitted'];
}

export function writeMessage(
  told: Described,
  { format, link }: Pick<Webhook, 'format' | 'link'>,
  maxBytes: number,
  { count, others, omitted }: Others = { count: 1, others: [], omitted: {} },
): string {
  const linked = (each: Described) => ({ ...each, link: linkTo(link, each.approval?.approval_id ?? null) });
  const first: WebhookMessage = linked(told);
  const message = count === 1 ? first : { ...first, batch: { count, others: others.map(linked), omitted } };
  switch (format) {
    case 'json':
      return within(message, maxBytes);
    case 'slack':
      return JSON.stringify(slackMessage(message));
    default:
      return unreachable(format);
  }
}

/** Arguments may be megabytes; everything else is short. What still does not fit is counted. */
function within(message: WebhookMessage, maxBytes: number): string {
  const fits = (text: string) => Buffer.byteLength(text) <= maxBytes;
  const whole = JSON.stringify(message);
  if (fits(whole)) return whole;
  let short = withoutArgs(message);
  if (short.batch !== undefined)
    short = { ...short, batch: { ...short.batch, others: short.batch.others.map(withoutArgs) } };
  let text = JSON.stringify(short);
  while (short.batch !== undefined && short.batch.others.length > 0 && !fits(text)) {
    short = { ...short, batch: halved(short.batch) };
    text = JSON.stringify(short);
  }
  return text;
}

function withoutArgs<Each extends Omit<WebhookMessage, 'batch'>>(message: Each): Each {
  if (message.approval === null) return message;
  const { edited_args: _edited, ...approval } = message.approval;
  return { ...message, approval: { ...approval, args: null }, args_omitted: true };
}

/** INVARIANT: what is not listed is counted. */
function halved({ count, others, omitted }: WebhookBatch): WebhookBatch {
  const kept = Math.floor(others.length / 2);
  const counts = { ...omitted };
  for (const { event } of others.slice(kept)) counts[event] = (counts[event] ?? 0) + 1;
  return { count, others: others.slice(0, kept), omitted: counts };
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
