/**
 * Verifies that a webhook message is from the gateway, unchanged and recent. Compares in constant time. For receivers
 * on any platform.
 */
import type { WebhookMessage } from '../core/http/webhook-message.ts';

export interface ReceivedWebhook {
  /** Of the request, in whatever form the server has them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came, byte for byte: not what a framework has parsed and written again. */
  readonly body: string | Uint8Array;
  /** The hook's secret; several while one takes the place of another. */
  readonly secret: string | readonly string[];
  /** How old, or how far ahead, its timestamp may be. 300 if not given. */
  readonly toleranceSeconds?: number;
  /** For tests. */
  readonly nowMs?: number;
}

export type VerifiedWebhook =
  | { readonly ok: true; readonly id: string; readonly message: WebhookMessage }
  | { readonly ok: false; readonly problem: 'not_signed' | 'too_old' | 'wrong_signature' | 'not_json' };

const defaultToleranceSeconds = 300;
const maxSignatures = 8;
const algorithm = { name: 'HMAC', hash: 'SHA-256' } as const;

/** Never rejects for anything that a stranger can send. */
export async function verifyWebhook(received: ReceivedWebhook): Promise<VerifiedWebhook> {
  const { toleranceSeconds = defaultToleranceSeconds, nowMs = Date.now() } = received;
  const id = headerOf(received, 'recourse-id');
  const timestamp = headerOf(received, 'recourse-timestamp');
  const signatures = signaturesIn(headerOf(received, 'recourse-signature'));
  if (id === null || timestamp === null || !/^\d{1,12}$/.test(timestamp) || signatures.length === 0)
    return { ok: false, problem: 'not_signed' };
  const body = typeof received.body === 'string' ? new TextEncoder().encode(received.body) : received.body;
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  if (!(await isSigned(signed, signatures, secretsOf(received.secret))))
    return { ok: false, problem: 'wrong_signature' };
  // Asked last: only of a message that is ours does it matter how old it is.
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > toleranceSeconds) return { ok: false, problem: 'too_old' };
  try {
    return { ok: true, id, message: JSON.parse(new TextDecoder().decode(body)) as WebhookMessage };
  } catch {
    return { ok: false, problem: 'not_json' };
  }
}

function headerOf({ headers }: ReceivedWebhook, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : null;
}

/** `v1=<hex>`; others, of versions to come, may stand beside it. */
function signaturesIn(header: string | null): readonly Uint8Array<ArrayBuffer>[] {
  const parts = (header ?? '').split(',', maxSignatures).map((part) => part.trim());
  return parts.flatMap((part) => {
    const hex = /^v1=([0-9a-f]{64})$/i.exec(part)?.[1];
    return hex === undefined ? [] : [Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))];
  });
}

function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each === ''))
    throw new TypeError('verifyWebhook needs the secret of the hook: a text that is not empty');
  return secrets;
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  secrets: readonly string[],
): Promise<boolean> {
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify']);
    for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
  }
  return false;
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
