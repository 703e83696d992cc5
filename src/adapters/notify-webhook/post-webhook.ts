/**
 * Sends one message once, and computes the delay before the next try. Only a 2xx status means that it was accepted.
 * Redirects are not followed, and little of the answer's body is read. Never rejects; its texts contain no address.
 */
import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Clock } from '../../ports/clock.ts';
import type { WebhookLimits } from './webhook-limits.ts';

export type Posted =
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly problem: string; readonly retryAfterMs: number | null };

export interface PostOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export function postWebhook(order: PostOrder): Promise<Posted> {
  const { body, timeoutMs, maxAnswerBytes, clock, signal } = order;
  const bytes = Buffer.from(body);
  return new Promise((resolve) => {
    const fail = (problem: string, retryAfterMs: number | null = null) =>
      resolve({ kind: 'failed', problem, retryAfterMs });
    const url = URL.parse(order.url);
    if (url === null || !/^https?:$/.test(url.protocol)) return fail('its address is none');
    if (signal.aborted) return fail(stopped);
    const headers = {
      ...order.headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(bytes.length),
      'User-Agent': 'recourse-webhook',
    };
    // A new connection each time: deliveries are rare, and an idle connection may be dead.
    const options = { method: 'POST', headers, agent: false } as const;
    const sent = (url.protocol === 'https:' ? overHttps : overHttp)(url, options, (answer) => {
      const status = answer.statusCode ?? 0;
      discard(answer, maxAnswerBytes);
      if (status >= 200 && status < 300) return resolve({ kind: 'taken' });
      const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
      fail(`status ${status}${redirect}`, readRetryAfter(answer.headers['retry-after'], clock.nowMs()));
    });
    const stopWith = (problem: string) => {
      fail(problem);
      sent.destroy();
    };
    const onStop = () => stopWith(stopped);
    // Also covers the answer's body: a receiver may never end it.
    const cancelTimeout = clock.background(timeoutMs, () => stopWith(`no answer within ${timeoutMs / 1_000} seconds`));
    signal.addEventListener('abort', onStop, { once: true });
    sent.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.name));
    sent.on('close', () => {
      cancelTimeout();
      signal.removeEventListener('abort', onStop);
      fail('the connection was closed without an answer');
    });
    sent.end(bytes);
  });
}

const stopped = 'the gateway closed';

function discard(answer: IncomingMessage, maxBytes: number): void {
  let size = 0;
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) answer.destroy();
  });
}

type DelayLimits = Pick<WebhookLimits, 'backoffInitialMs' | 'backoffMaxMs' | 'jitter' | 'maxRetryAfterMs'>;

/**
 * How long to wait before the next try. `tries`: how often it was tried so far, at least 1. `random`: at least 0 and
 * less than 1.
 */
export function retryDelay(tries: number, retryAfterMs: number | null, random: number, limits: DelayLimits): number {
  const doubled = limits.backoffInitialMs * 2 ** Math.min(tries - 1, 30);
  const backoff = Math.min(doubled, limits.backoffMaxMs) * (1 + limits.jitter * (2 * random - 1));
  // Never earlier than the receiver asks: the jitter applies to our own delay only.
  return Math.round(Math.max(backoff, Math.min(retryAfterMs ?? 0, limits.maxRetryAfterMs)));
}

/** Seconds or a date; null for everything else. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const atMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
