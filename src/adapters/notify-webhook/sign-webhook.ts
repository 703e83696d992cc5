/** How does a receiver know that a message is from here? By headers that only whoever has the secret can make. Pure. */
import { createHmac } from 'node:crypto';

/** Without a secret there is no signature. */
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
