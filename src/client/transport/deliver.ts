/**
 * Delivers one call: sends again with the same key when an answer was lost, polls while the call is pending. Returns
 * a reply, or throws a CallError that says what is known of the effect. Does not interpret the reply.
 */
import type { ErrorReply, PendingReply, Reply, SuccessReply } from '../../core/call/reply.ts';
import { CallError, type CallFacts, type ClientFault } from '../call-error.ts';
import { readProblem } from './read-problem.ts';
import { isPending, readReply, secondsToWait } from './read-reply.ts';
import type { Answer, Pause, Transport, WireCall } from './transport.ts';

export interface Delivery {
  readonly call: WireCall;
  readonly transport: Transport;
  readonly wait: Pause;
  readonly maxResends: number;
  readonly maxPollSeconds: number;
  readonly signal: AbortSignal | undefined;
}

export interface Delivered {
  readonly reply: SuccessReply | ErrorReply;
  /** Whether an answer to an attempt of this call was lost on the way. */
  readonly lost: boolean;
}

/** Pauses before the second attempt, the third, and all later ones. */
const resendSeconds = [0.2, 1, 3] as const;

/** Limits on polling, whatever times a gateway names. */
const maxPolls = 10_000;
const shortestPollSeconds = 0.1;
const longestPollSeconds = 60;

export async function deliver(delivery: Delivery, lostBefore: boolean): Promise<Delivered> {
  const { transport, wait, maxResends, signal } = delivery;
  const call = withWait(delivery);
  let lost = lostBefore;
  for (let resends = 0; ; resends++) {
    if (signal?.aborted === true) throw stopped(delivery, lost);
    const answer = await transport.send(call, signal);
    if (answer.kind === 'aborted') throw stopped(delivery, lost || answer.wasSent);
    if (answer.kind === 'answered') return { reply: await settled(delivery, replyIn(answer, delivery, lost)), lost };
    // INVARIANT: the effect is `none` only if no attempt of this call can have arrived.
    lost ||= answer.kind === 'lost';
    if (!lost || resends >= maxResends) throw unanswered(delivery, answer, lost);
    await wait(resendSeconds[Math.min(resends, resendSeconds.length - 1)] ?? 1, signal);
  }
}

/**
 * Sets how long the gateway waits: not too long, since the connection may be lost, and not zero, since a repeated
 * request must wait.
 */
function withWait({ call, transport }: Delivery): WireCall {
  const seconds = call.wait_seconds ?? transport.defaultWaitSeconds;
  return seconds === undefined ? call : { ...call, wait_seconds: seconds };
}

async function settled(delivery: Delivery, first: Reply): Promise<SuccessReply | ErrorReply> {
  if (!isPending(first)) return first;
  const { transport, wait, maxResends, maxPollSeconds, signal } = delivery;
  let seconds = first.retry_after_seconds;
  let waited = 0;
  let lostInARow = 0;
  for (let polls = 0; polls < maxPolls; polls++) {
    seconds = Math.min(Math.max(seconds, shortestPollSeconds), longestPollSeconds);
    if (waited + seconds > maxPollSeconds) break;
    waited += seconds;
    await wait(seconds, signal);
    const answer = signal?.aborted === true ? stoppedAnswer : await transport.look(first.call_id, signal);
    if (answer.kind === 'aborted') throw stopped(delivery, true, first);
    if (answer.kind !== 'answered') {
      if (++lostInARow > maxResends) throw unanswered(delivery, answer, true, first);
      continue;
    }
    lostInARow = 0;
    const reply = replyIn(answer, delivery, true, first);
    // INVARIANT: only a reply with the call's own id is about the call; another one is about the poll.
    if (reply.call_id === first.call_id && !isPending(reply)) return reply;
    const again = isPending(reply) ? reply.retry_after_seconds : secondsToWait(reply);
    if (again === null)
      throw fault('no_reply', 'the gateway does not say what became of it', delivery, {
        maybeSent: true,
        pending: first,
      });
    seconds = again;
  }
  throw stillPending(delivery, first);
}

const stoppedAnswer = { kind: 'aborted', wasSent: true } as const;

/**
 * An answer that is no reply is not retried: an unknown key, a wrong address or a proxy would answer the same again.
 */
function replyIn(
  { body }: Answer & { kind: 'answered' },
  delivery: Delivery,
  maybeSent: boolean,
  pending?: PendingReply,
): Reply {
  const reply = readReply(body);
  if (reply !== null) return reply;
  const { code, words } = readProblem(body);
  const hint = words === '' ? '' : ` (${words})`;
  if (code === null)
    throw fault('no_reply', `what came is not a reply of a gateway${hint}`, delivery, { maybeSent: true, pending });
  throw fault('turned_away', `the gateway did not let the request in${hint}`, delivery, { maybeSent, pending, code });
}

function unanswered(
  delivery: Delivery,
  answer: Answer & { kind: 'lost' | 'not_sent' },
  lost: boolean,
  pending?: PendingReply,
): CallError {
  return fault(lost ? 'no_reply' : 'not_sent', answer.reason, delivery, {
    maybeSent: lost,
    pending,
    cause: answer.cause,
  });
}

function stopped(delivery: Delivery, maybeSent: boolean, pending?: PendingReply): CallError {
  return fault('aborted', 'its signal was aborted', delivery, { maybeSent, pending, cause: delivery.signal?.reason });
}

function stillPending(delivery: Delivery, pending: PendingReply): CallError {
  const reason = `it is still pending after ${delivery.maxPollSeconds} seconds; ask for ${pending.call_id} later`;
  return fault('still_pending', reason, delivery, { maybeSent: true, pending });
}

interface FaultFacts extends Pick<CallFacts, 'cause' | 'code'> {
  readonly maybeSent: boolean;
  readonly pending?: PendingReply | undefined;
}

function fault(error: ClientFault, reason: string, { call }: Delivery, facts: FaultFacts): CallError {
  const { maybeSent, pending, ...more } = facts;
  const known = pending === undefined ? {} : { callId: pending.call_id, session: pending.session };
  const advice = pending === undefined ? {} : { resolution: { type: 'reconcile', callId: pending.call_id } as const };
  const effect = maybeSent ? 'unknown' : 'none';
  const message = `the call of '${call.tool}' has no outcome: ${reason}; effect ${effect}`;
  return new CallError({ error, message, effect, tool: call.tool, key: call.key, ...known, ...advice, ...more });
}
