/**
 * Waits with the caller for the end of a call: until it ends, for as long as they want to wait, or until they are gone.
 * A requester who leaves is put on record, so that an equal write can take their place.
 */
import { pending } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { Position } from '../../core/journal/record.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { isPending, isRefusal, type Reply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import type { AgentClient, Elicited } from '../../ports/upstream.ts';
import { pause } from '../upkeep/commit.ts';
import { giveUp, handOver, requesterLeft } from './hand-over.ts';
import { onAbort, type Requester } from './requester.ts';
import { envelopeOf } from '../ending/ending.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Answer, Running, Shell } from '../shell.ts';

export type { AgentClient, Elicited, Requester };

const retryAfterSeconds = 1;
const pollEveryMs = 100;

/** `attached`: the call was another's, and its requester's place was taken. */
export async function awaitOutcome(
  running: Running,
  waitMs: number | null,
  requester: Requester,
  shell: Shell,
  attached = false,
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

  const { call } = running;
  if (end === 'waited' || end === 'left') {
    if (end === 'left') await giveUp(call, requester, shell);
    // Whoever was told the id of the call finds its reply under that, on record.
    else if (requester.joined === undefined && !attached) handOver(call, positionOf(running), requester, shell);
    return pending(envelopeOf(call, shell), retryAfterSeconds);
  }
  if (cancelledByClient) await giveUp(call, requester, shell);
  else if (requester.joined === undefined) await pass(call, end, requester, attached, shell);
  return end.reply;
}

const positionOf = ({ outcome }: Running): Promise<Position | null> =>
  outcome.then(
    ({ position }) => position,
    () => null,
  );

/**
 * INVARIANT: whoever took the place of a requester gets what that call did, told as a success or not, and never a
 * failure that did nothing or may have: then they decide again.
 */
export const answersForAnother = (reply: Reply): boolean => !isRefusal(reply) || reply.effect === 'applied';

async function pass(
  call: Call,
  { reply, position }: { readonly reply: Reply; readonly position: Position | null },
  requester: Requester,
  attached: boolean,
  shell: Shell,
): Promise<void> {
  if (attached && isPending(reply)) return;
  if (!attached || answersForAnother(reply)) return handOver(call, position, requester, shell);
  if (isRefusal(reply) && reply.effect === 'unknown') return requesterLeft(call, shell);
  if (position !== null) shell.ports.store.answered(position);
}

/** The call runs in another process, or waits for its next attempt: look at the record until it has a reply. */
export async function awaitElsewhere(
  call: StoredCall,
  waitMs: number,
  requester: Requester,
  shell: Shell,
  attached = false,
): Promise<Reply> {
  const { clock, store } = shell.ports;
  const until = clock.monotonicMs() + waitMs;
  for (;;) {
    const found = await store.call(call.id);
    if (found !== null && !isUnderWay(found.state)) {
      const reply = await storedReply(found, shell);
      if (attached) await pass(found, { reply, position: found.replyAt }, requester, attached, shell);
      return reply;
    }
    if (requester.left?.aborted || requester.cancelled?.aborted) {
      await giveUp(call, requester, shell);
      return pending(envelopeOf(call, shell), retryAfterSeconds);
    }
    const leftMs = until - clock.monotonicMs();
    if (leftMs <= 0 || requester.joined?.aborted) {
      // Who took a place and waits no longer leaves it to the next.
      if (attached) await giveUp(call, requester, shell);
      return pending(envelopeOf(call, shell), retryAfterSeconds);
    }
    await pause(clock, Math.min(leftMs, pollEveryMs));
  }
}
