/**
 * Sends one message, once. Only 2xx says that it was taken; redirects are not followed, and of an answer's body no more is read
 * than is needed to end it in good order. Never rejects, and names no address in what it says.
 */
import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Clock } from '../../ports/clock.ts';
import { readRetryAfter } from './retry-delay.ts';

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
    // A connection for each: deliveries are rare, and one that rested may be dead.
    const options = { method: 'POST', headers, agent: false } as const;
    const sent = (url.protocol === 'https:' ? overHttps : overHttp)(url, options, (answer) => {
      const status = answer.statusCode ?? 0;
      readAway(answer, maxAnswerBytes);
      if (status >= 200 && status < 300) return resolve({ kind: 'taken' });
      const moved = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
      fail(`status ${status}${moved}`, readRetryAfter(answer.headers['retry-after'], clock.nowMs()));
    });
    const hangUp = (problem: string) => {
      fail(problem);
      sent.destroy();
    };
    const onStop = () => hangUp(stopped);
    // It holds for the answer's body, too: a receiver that never ends is left.
    const cancelTimeout = clock.background(timeoutMs, () => hangUp(`no answer within ${timeoutMs / 1_000} seconds`));
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

function readAway(answer: IncomingMessage, maxBytes: number): void {
  let size = 0;
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) answer.destroy();
  });
}
