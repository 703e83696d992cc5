/**
 * Sends calls to a daemon over HTTP, by `fetch` alone. Returns whatever JSON came, or that none came; ignores the
 * status. The agent's key goes into one header and nowhere else.
 */
import { maxSeconds, mustBeAmount, mustBeOptions } from '../check-options.ts';
import { wasNeverSent } from './http-failure.ts';
import type { Answer, Transport, WireCall } from './transport.ts';

export interface HttpOptions {
  /** Where the daemon listens, such as `http://127.0.0.1:4711`. */
  readonly url: string;
  /** The API key, which also says which agent this is. */
  readonly key: string;
  /** Another `fetch`, for a proxy or a platform of its own. */
  readonly fetch?: typeof globalThis.fetch;
  /** An answer that takes this much longer than the call waits counts as lost: 30 by default. */
  readonly answerTimeoutSeconds?: number;
}

const optionNames = ['url', 'key', 'fetch', 'answerTimeoutSeconds'];

/** Below the minute after which many proxies cut a silent connection. */
const defaultWaitSeconds = 30;
const maxReplyBytes = 64 * 1_024 * 1_024;

export function httpTransport(options: HttpOptions): Transport {
  mustBeOptions('httpTransport', options, optionNames);
  mustBeAmount('httpTransport', 'answerTimeoutSeconds', options.answerTimeoutSeconds, maxSeconds);
  const base = baseOf(options.url);
  const authorization = `Bearer ${fitForHeader(options.key)}`;
  const ask = options.fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args));
  const { answerTimeoutSeconds = 30 } = options;
  const post = (path: string, body: object, waitSeconds: number, signal: AbortSignal | undefined) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json', authorization };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return exchange(ask, `${base}${path}`, init, answerTimeoutSeconds + waitSeconds, signal);
  };

  return {
    defaultWaitSeconds,
    send(call, signal) {
      const { headers, body } = written(call);
      const init = { method: 'POST', headers: { ...headers, authorization }, body };
      return exchange(ask, `${base}/v1/calls`, init, answerTimeoutSeconds + (call.wait_seconds ?? 0), signal);
    },
    look(callId, signal) {
      const init = { method: 'GET', headers: { accept: 'application/json', authorization } };
      return exchange(ask, `${base}/v1/calls/${encodeURIComponent(callId)}`, init, answerTimeoutSeconds, signal);
    },
    approval(approvalId, waitSeconds, signal) {
      const init = { method: 'GET', headers: { accept: 'application/json', authorization } };
      const wait = Math.max(0, Math.round(waitSeconds * 1_000) / 1_000);
      const url = `${base}/v1/approvals/${encodeURIComponent(approvalId)}${wait === 0 ? '' : `?wait=${wait}`}`;
      return exchange(ask, url, init, answerTimeoutSeconds + wait, signal);
    },
    complete(session, signal) {
      return post('/v1/complete', session === undefined ? {} : { session }, 0, signal);
    },
    reverse(token, signal) {
      return post('/v1/reversals', { token, wait_seconds: defaultWaitSeconds }, defaultWaitSeconds, signal);
    },
    rollBack(session, signal) {
      const path = `/v1/sessions/${encodeURIComponent(session)}/rollback`;
      return post(path, { wait_seconds: defaultWaitSeconds }, defaultWaitSeconds, signal);
    },
    cancel(target, signal) {
      const headers = { 'content-type': 'application/json', accept: 'application/json', authorization };
      const [path, body] =
        'call' in target
          ? [`calls/${encodeURIComponent(target.call)}`, null]
          : [`sessions/${encodeURIComponent(target.session)}`, target.turn === undefined ? {} : { turn: target.turn }];
      const init = { method: 'POST', headers, body: JSON.stringify(body ?? {}) };
      return exchange(ask, `${base}/v1/${path}/cancel`, init, answerTimeoutSeconds, signal);
    },
  };
}

/** Messages must not repeat the address: people put secrets even there. */
function baseOf(url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new TypeError("httpTransport: option 'url' must be an address that begins with http:// or https://");
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '')
    throw new TypeError("httpTransport: option 'url' must have no user, query or fragment: the key goes into 'key'");
  return parsed.href.replace(/\/+$/, '');
}

/** The platform's own error for a bad header would contain the key. */
function fitForHeader(key: unknown): string {
  if (typeof key === 'string' && isPrintable(key) && !key.includes(' ')) return key;
  throw new TypeError("httpTransport: option 'key' must be an API key: letters, digits and signs, without spaces");
}

const isPrintable = (text: string) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);

/** A key that no header can hold is sent in the body. */
function written({ key, ...call }: WireCall): { headers: Record<string, string>; body: string } {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return isPrintable(key)
    ? { headers: { ...headers, 'idempotency-key': key }, body: JSON.stringify(call) }
    : { headers, body: JSON.stringify({ ...call, key }) };
}

interface Init {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

async function exchange(
  ask: typeof globalThis.fetch,
  url: string,
  init: Init,
  timeoutSeconds: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const isAborted = () => signal?.aborted === true;
  if (isAborted()) return { kind: 'aborted', wasSent: false };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutSeconds * 1_000);
  const abort = () => stop.abort();
  signal?.addEventListener('abort', abort);
  try {
    // Redirects are not followed: they would change the request, or send it to another host.
    const response = await ask(url, { ...init, redirect: 'manual', signal: stop.signal });
    const text = await readText(response);
    const where = `status ${response.status}`;
    if (text === null) return { kind: 'lost', reason: `the answer (${where}) is larger than ${maxReplyBytes} bytes` };
    const body = parsed(text);
    return body === undefined
      ? { kind: 'lost', reason: `what came (${where}) is not JSON, or not all of it` }
      : { kind: 'answered', body };
  } catch (cause) {
    if (isAborted()) return { kind: 'aborted', wasSent: true };
    if (wasNeverSent(cause)) return { kind: 'not_sent', reason: 'the gateway could not be reached', cause };
    const reason = stop.signal.aborted ? `no answer within ${timeoutSeconds} seconds` : 'the connection was lost';
    return { kind: 'lost', reason, cause };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Null if it is too large to be a reply. */
async function readText(response: Response): Promise<string | null> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxReplyBytes) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
