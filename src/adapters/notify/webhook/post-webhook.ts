/**
 * Sends one message once. Only a 2xx status means that it was accepted.
 * Redirects are not followed, and little of the answer's body is read. Never rejects; its texts contain no address.
 */
import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Clock } from '../../../ports/clock.ts';
import type { Delivered } from '../../../ports/notice.ts';

export interface PostOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export function postWebhook(order: PostOrder): Promise<Delivered> {
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

/** Seconds or a date; null for everything else. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const atMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
