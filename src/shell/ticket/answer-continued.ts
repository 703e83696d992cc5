/**
 * Gives an agent that asks for the same again the outcome of the call that went on for its ticket, once. INVARIANT: no
 * equal write of the agent runs beside it.
 */
import { replayed } from '../../core/call/answer.ts';
import type { Call, SessionId } from '../../core/call/call.ts';
import { attachedReply } from '../../core/call/notices.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import type { StoredCall } from '../../ports/store.ts';
import { again, type Asked, replyWith, type Stop } from '../call/asked.ts';
import { awaitElsewhere, awaitOutcome } from '../call/await-outcome.ts';
import { refuseEarly } from '../call/refuse.ts';
import { isGone, type Requester } from '../call/requester.ts';
import { storedReply } from '../ending/stored-reply.ts';
import { bare } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';

/** Null if no ticket about an equal call has an outcome to tell. */
export async function answerContinued(asked: Asked, session: SessionId, shell: Shell): Promise<Stop | null> {
  const { request, call, only, continues } = asked;
  // A caller with a key of its own means another call; what the gateway runs by itself has its own way.
  if (request.key !== null || only !== undefined || continues !== undefined) return null;
  const ticket = await shell.ports.store.continuing(session, call.fingerprint);
  if (ticket === null) return null;
  const telling = shell.live.tickets.telling.get(ticket.id);
  if (telling !== undefined) {
    await telling;
    return again(asked);
  }
  if (ticket.work === 'due') return goOn(ticket, asked, shell);
  const next = ticket.continuation === null ? null : await shell.ports.store.call(ticket.continuation);
  if (next === null) return null;
  const reply = await outcomeOf(next, call, asked, shell);
  await tell(ticket, reply, asked.requester, shell);
  return replyWith('pending' in reply ? reply : attachedReply(reply));
}

/** It has not begun: it is tried now, and whoever asks hears how it stands. */
async function goOn(ticket: Ticket, asked: Asked, shell: Shell): Promise<Stop> {
  await shell.live.tickets.goOn(ticket.id);
  const now = await shell.ports.store.ticket(ticket.id);
  return now?.work === 'due' ? replyWith(await refuseEarly(waits(ticket), asked, shell)) : again(asked);
}

const waits = ({ id, call, tool }: Ticket): Refusal => ({
  error: 'action_in_flight',
  class: 'Workflow',
  code: 'ActionInFlight',
  message: `'${tool}' goes on for ticket ${id} as soon as it may; wait for that instead of sending it again.`,
  resolution: { type: 'retry_after', retry_after_seconds: 1 },
  in_flight_call_id: call,
});

/** As for a call of their own: they wait for as long as they said, or until its deadline. */
async function outcomeOf(next: StoredCall, call: Call, { request, requester }: Asked, shell: Shell): Promise<Reply> {
  if (!isUnderWay(next.state)) return replayed(await storedReply(next, shell));
  const waitMs = request.waitMs ?? Math.max(0, call.deadlineAtMs - shell.ports.clock.nowMs());
  const waiting: Requester = { joined: requester.cancelled ?? requester.left };
  const running = shell.live.running.get(next.id);
  if (running !== undefined) return replayed(await awaitOutcome(running, waitMs, waiting, shell));
  return replayed(await awaitElsewhere(next, waitMs, waiting, shell));
}

/** Once the reply was handed over whole; whoever left before that, and asks again, gets it once more. */
async function tell({ id, continuation }: Ticket, reply: Reply, requester: Requester, shell: Shell): Promise<void> {
  if ('pending' in reply || isGone(requester)) return;
  const put = () =>
    commit({ ...bare(shell), tickets: [{ kind: 'work', id, from: 'untold', to: 'told', continuation }] }, shell);
  const { telling } = shell.live.tickets;
  const { written } = requester;
  const told =
    written === undefined ? put() : written.then((whole) => (whole && !isGone(requester) ? put() : undefined));
  const done = told.finally(() => telling.delete(id));
  telling.set(id, done);
  if (written === undefined) await done;
}
