/**
 * Waits with the caller for the end of a call: until there is one, as long as they want to wait, or until they
 * are gone. A requester who leaves is put on record, so that an equal write can take their place.
 */
import { pending } from '../core/answer.ts';
import type { Call } from '../core/call.ts';
import { isUnderWay } from '../core/lifecycle.ts';
import type { Reply } from '../core/reply.ts';
import type { StoredCall } from '../ports/store.ts';
import type { AgentClient, Elicited } from '../ports/upstream.ts';
import { commit, keepForLater, pause } from './commit.ts';
import { envelopeOf, storedReply } from './settle.ts';
import type { Answer, BodyOf, Running, Shell } from './shell.ts';
import { leaving } from './transition.ts';

/** Who waits for the reply. A door passes what it can know; neither signal is needed. */
export interface Requester {
  /** The client cancels: the call is stopped, and the client counts as gone. */
  readonly cancelled?: AbortSignal | undefined;
  /** The client is gone, and the call goes on. */
  readonly left?: AbortSignal | undefined;
  /** Somebody who only joined a call of another requester goes away: their wait ends, and nothing else. */
  readonly joined?: AbortSignal | undefined;
  /** Whom a body can ask while it runs. */
  readonly client?: AgentClient | undefined;
  /** Hears that the attempt is on its way, if nobody else is served meanwhile: there is time to get ready for the answer. */
  readonly sent?: (() => void) | undefined;
  /** Hears which session a step goes to that names none, before it is taken. */
  readonly entered?: ((session: string) => void) | undefined;
  /** It is a body that asks. */
  readonly bodyOf?: BodyOf | undefined;
}

export type { AgentClient, Elicited };

export const isGone = ({ cancelled, left, joined }: Requester): boolean =>
  [cancelled, left, joined].some((signal) => signal?.aborted === true);

const retryAfterSeconds = 1;
const pollEveryMs = 100;

export async function awaitOutcome(
  running: Running,
  waitMs: number | null,
  requester: Requester,
  shell: Shell,
): Promise<Reply> {
  const takeBacks: (() => void)[] = [];
  let cancelledByClient = false;
  const leaving = new Promise<'waited' | 'left'>((resolve) => {
    if (waitMs !== null) takeBacks.push(shell.ports.clock.schedule(waitMs, () => resolve('waited')));
    takeBacks.push(onAbort(requester.left, () => resolve('left')));
    takeBacks.push(onAbort(requester.joined, () => resolve('waited')));
  });
  const stop = () => {
    cancelledByClient = true;
    running.cancel('ToolCancelled');
  };
  takeBacks.push(onAbort(requester.cancelled, stop));
  const end: Answer | 'waited' | 'left' = await Promise.race([running.outcome, leaving]);
  for (const takeBack of takeBacks) takeBack();

  if (end === 'waited' || end === 'left') {
    if (end === 'left') await requesterLeft(running.call, shell);
    // The reply is on record for whoever asks for it by its id.
    void running.outcome.then(
      (answer) => delivered(answer, shell),
      () => undefined,
    );
    return pending(envelopeOf(running.call, shell), retryAfterSeconds);
  }
  if (cancelledByClient) await requesterLeft(running.call, shell);
  delivered(end, shell);
  return end.reply;
}

/** The call runs in another process, or waits for its next attempt: look at the record until it has a reply. */
export async function awaitElsewhere(
  call: StoredCall,
  waitMs: number,
  requester: Requester,
  shell: Shell,
): Promise<Reply> {
  const { clock, store } = shell.ports;
  const until = clock.monotonicMs() + waitMs;
  for (;;) {
    const found = await store.call(call.id);
    if (found !== null && !isUnderWay(found.state)) return storedReply(found, shell);
    if (requester.left?.aborted || requester.cancelled?.aborted) {
      await requesterLeft(call, shell);
      return pending(envelopeOf(call, shell), retryAfterSeconds);
    }
    const leftMs = until - clock.monotonicMs();
    if (leftMs <= 0 || requester.joined?.aborted) return pending(envelopeOf(call, shell), retryAfterSeconds);
    await pause(clock, Math.min(leftMs, pollEveryMs));
  }
}

/** The requester has the reply, or is on record as gone: after a restart nobody looks for them. */
function delivered(answer: Answer, shell: Shell): void {
  if (answer.position !== null) shell.ports.store.answered(answer.position);
}

export async function requesterLeft(call: Call, shell: Shell): Promise<void> {
  const transition = leaving(call, shell);
  const result = await commit(transition, shell);
  // An equal write of the same caller must find the place free, so the sweeper goes on trying.
  if (result.kind === 'unavailable') keepForLater(transition, shell);
}

export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}
