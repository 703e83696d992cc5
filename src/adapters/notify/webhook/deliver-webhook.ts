/** Makes the message of a batch, signs it and posts it once. */
import type { Message } from '../follow/describe-occurrence.ts';
import type { Delivered } from '../../../ports/notice.ts';
import type { NoticeParts } from '../follow/subscriber.ts';
import { postWebhook } from './post-webhook.ts';
import type { Webhook } from './webhook.ts';
import { signWebhook, writeMessage } from './write-message.ts';

export function deliverWebhook(
  webhook: Webhook,
  { id, batch: { count, omitted }, told: [first, ...others] }: Message,
  { clock, limits }: Pick<NoticeParts, 'clock' | 'limits'>,
  signal: AbortSignal,
): Promise<Delivered> {
  const body = writeMessage({ ...first, id }, webhook, limits.maxBodyBytes, { count, others, omitted });
  const headers = signWebhook(id, Math.floor(clock.nowMs() / 1_000), body, webhook.secret);
  const { timeoutMs, maxAnswerBytes } = limits;
  return postWebhook({ url: webhook.url, headers, body, timeoutMs, maxAnswerBytes, clock, signal });
}
