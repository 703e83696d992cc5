/**
 * Reads a reply of a gateway from a body; the status is ignored. Unknown members are allowed. What callers rely on
 * (effect, advice, ids) must be there, or it is no reply.
 */
import type { ErrorReply, PendingReply, Reply, SuccessReply } from '../../core/call/reply.ts';

type Fields = Readonly<Record<string, unknown>>;

export function readReply(body: unknown): Reply | null {
  if (!isFields(body)) return null;
  if ('error' in body) return readError(body);
  if (typeof body['call_id'] !== 'string') return null;
  if (body['pending'] === true)
    return isSeconds(body['retry_after_seconds']) ? (body as unknown as PendingReply) : null;
  const isSuccess = typeof body['action'] === 'string' && 'result' in body && isTexts(body['valid_next_actions']);
  return isSuccess ? (body as unknown as SuccessReply) : null;
}

export const isSuccess = (reply: Reply): reply is SuccessReply => 'action' in reply && !('error' in reply);
export const isPending = (reply: Reply): reply is PendingReply => 'pending' in reply && !('error' in reply);

/** What RFC 9457 puts beside the members of a reply. */
const problemMembers = ['type', 'title', 'status', 'detail', 'instance'];
const effects: readonly unknown[] = ['none', 'applied', 'unknown'];

function readError(body: Fields): ErrorReply | null {
  const texts = ['error', 'class', 'code', 'message', 'call_id'];
  const isOne =
    texts.every((name) => typeof body[name] === 'string') &&
    effects.includes(body['effect']) &&
    isFields(body['resolution']) &&
    typeof body['resolution']['type'] === 'string' &&
    isTexts(body['valid_next_actions']);
  if (!isOne || (body['error'] === 'denied' && typeof body['human_message'] !== 'string')) return null;
  const own = Object.entries(body).filter(([name]) => !problemMembers.includes(name));
  return Object.fromEntries(own) as unknown as ErrorReply;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Whether it can be waited for: a time that is no time is none. */
export const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** Only a denial that names a time: nothing ran, and the gateway expects to be asked again then. */
export function secondsToWait(reply: Reply): number | null {
  if (!('error' in reply) || reply.error !== 'denied' || reply.resolution.type !== 'retry_after') return null;
  const { retry_after_seconds: seconds } = reply.resolution;
  return isSeconds(seconds) ? seconds : null;
}
