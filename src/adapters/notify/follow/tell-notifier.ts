/**
 * Tells a notifier that an extension adds, within a time limit. It may throw, give anything or never end: that is a
 * failed try, and nothing else waits for it.
 */
import { isObject } from '../../../core/values/json.ts';
import type { Delivered, DeliverNotice, Notice } from '../../../ports/notice.ts';
import type { Message } from './describe-occurrence.ts';
import { linkTo } from './link-to.ts';
import type { NoticeParts, NotifierUse } from './subscriber.ts';
import { titleOf } from './title-of.ts';

export function noticeOf({ id, batch, told }: Message, { name, link }: NotifierUse): Notice {
  const asTold = (each: Message['told'][number]) => ({
    ...each,
    title: titleOf(each),
    link: linkTo(link, each.approval?.approval_id ?? null),
  });
  const [first, ...others] = told;
  const { count, omitted, lastMs } = batch;
  return { id, subscriber: name, told: [asTold(first), ...others.map(asTold)], count, omitted, lastMs };
}

export async function tellNotifier(
  deliver: DeliverNotice,
  notice: Notice,
  { clock, limits: { notifierTimeoutMs: timeoutMs } }: Pick<NoticeParts, 'clock' | 'limits'>,
  signal: AbortSignal,
): Promise<Delivered> {
  if (signal.aborted) return failed(stopped);
  const ended = Promise.withResolvers<Delivered>();
  const stop = new AbortController();
  const end = (problem: string) => {
    ended.resolve(failed(problem));
    stop.abort();
  };
  const onStop = () => end(stopped);
  const cancel = clock.background(timeoutMs, () => end(`not taken within ${timeoutMs / 1_000} seconds`));
  signal.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([asked(deliver, notice, stop.signal), ended.promise]);
  } finally {
    cancel();
    signal.removeEventListener('abort', onStop);
  }
}

async function asked(deliver: DeliverNotice, notice: Notice, signal: AbortSignal): Promise<Delivered> {
  try {
    const said: unknown = await deliver(notice, signal);
    return isDelivered(said) ? said : failed('its notifier did not say how it ended');
  } catch {
    // Ignored: whoever wraps the notifier of an extension has said what it threw.
    return failed('its notifier threw');
  }
}

const stopped = 'the gateway closed';
const failed = (problem: string): Delivered => ({ kind: 'failed', problem, retryAfterMs: null });

function isDelivered(said: unknown): said is Delivered {
  if (!isObject(said)) return false;
  const { kind, problem, retryAfterMs, butNot } = said;
  if (kind === 'taken') return butNot === undefined || typeof butNot === 'string';
  if (typeof problem !== 'string') return false;
  return kind === 'refused' || (kind === 'failed' && (retryAfterMs === null || typeof retryAfterMs === 'number'));
}
