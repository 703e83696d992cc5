/**
 * Waits for a ticket to be answered and for the call that goes on for it, and says how it stands: for people, and for
 * the agent whose ticket it is. Reads only.
 */
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { type TicketOutcome, viewOfTicket } from '../../core/recovery/ticket-view.ts';
import type { StoredCall } from '../../ports/store.ts';
import { onAbort } from '../call/requester.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Scope, Shell } from '../shell.ts';
import { pause } from '../upkeep/commit.ts';
import { findTicket, time } from './read-ticket.ts';

/** How often a waiter looks for what another process recorded. */
const pollEveryMs = 250;
/** Limit of waiters in this process, since each of them polls. Above it, a wait returns at once. */
const maxWaiters = 1_024;

export async function awaitTicket(
  id: string,
  { tenant, agent }: Scope,
  waitMs: number,
  signal: AbortSignal | undefined,
  shell: Shell,
): Promise<TicketOutcome | null> {
  const { clock } = shell.ports;
  const { tickets } = shell.live;
  const mayWait = tickets.waiters < maxWaiters;
  const until = clock.monotonicMs() + (mayWait ? Math.min(Math.max(0, waitMs), shell.limits.maxApprovalWaitMs) : 0);
  tickets.waiters += 1;
  try {
    for (;;) {
      const found = await findTicket(id, tenant, shell);
      if (found === null || (agent !== null && found.agent !== agent)) return null;
      const next = await callFor(found, shell);
      const leftMs = until - clock.monotonicMs();
      const isOver = leftMs <= 0 || signal?.aborted === true || !shell.live.readiness.ready;
      if (isOver || isSettled(found, next)) return outcomeOf(found, next, shell);
      await pauseFor(Math.min(leftMs, pollEveryMs), signal, shell);
    }
  } finally {
    tickets.waiters -= 1;
  }
}

async function pauseFor(ms: number, signal: AbortSignal | undefined, { ports }: Shell): Promise<void> {
  const gone = Promise.withResolvers<void>();
  const stopListening = onAbort(signal, gone.resolve);
  await Promise.race([gone.promise, pause(ports.clock, ms)]);
  stopListening();
}

/** The call whose reply tells how it ended: the one that goes on, or the one that the ticket is about. */
function callFor({ continuation, call }: Ticket, { ports }: Shell): Promise<StoredCall | null> {
  return ports.store.call(continuation ?? call);
}

function isSettled({ state, work }: Ticket, next: StoredCall | null): boolean {
  if (state === 'open' || work === 'due') return false;
  return work === 'none' || next === null || !isUnderWay(next.state);
}

async function outcomeOf(ticket: Ticket, next: StoredCall | null, shell: Shell): Promise<TicketOutcome> {
  // What was said with the ticket itself is known: only a call that was settled or went on has news.
  const hasNews = ticket.state === 'closed' && next !== null && !isUnderWay(next.state);
  const reply = hasNews ? await storedReply(next, shell) : null;
  return { ...viewOfTicket(ticket, time), next: nextOf(ticket, reply), reply };
}

function nextOf({ state, end, work, tool, continuation }: Ticket, reply: Reply | null): string {
  if (state === 'open') return 'Nobody has answered yet: do something else meanwhile, and ask again later.';
  if (work === 'due') return `It was answered, and ${tool} goes on as soon as it may: ask again in a moment.`;
  if (work !== 'none' && continuation !== null) {
    if (reply === null) return `It was answered, and ${tool} is under way: ask again in a moment.`;
    return 'error' in reply
      ? `It was answered, and the call that went on did not succeed: read \`reply\`.`
      : `It was answered, and ${tool} was done: \`reply\` has the result. Do not call it again for that.`;
  }
  switch (end) {
    case 'it_happened':
      return `The call did happen: \`reply\` has what is known. Do not call ${tool} again for that.`;
    case 'it_did_not':
      return `The call did not happen: call ${tool} again if it is still needed.`;
    case 'never_known':
      return 'Nobody will ever know whether it happened: do not count on it, and do not repeat it by yourself.';
    case 'settled':
      return 'Its call was settled without this ticket: read `reply`.';
    case 'expired':
      return 'Nobody answered in time: do without it, or ask a person.';
    default:
      return 'A person gave it up: do without it.';
  }
}
