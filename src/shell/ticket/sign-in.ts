/** Tickets for which a person must sign in: they end by themselves once that was done, and their calls go on. */
import { changed, type Ticket } from '../../core/recovery/ticket.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { ticketTransition } from './change-ticket.ts';
import { equalCallsSince } from './equal-calls.ts';

export async function endSignedIn(shell: Shell): Promise<void> {
  const { store, credentials } = shell.ports;
  if (credentials === undefined) return;
  for (const ticket of await store.ticketsToSignIn(shell.limits.sweepBatch)) {
    const { credential } = ticket;
    // Another process may have the credential.
    const isOurs = credential !== null && credentials.states().some(({ name }) => name === credential);
    if (isOurs && (await credentials.hasSignedIn(credential))) await end(ticket, shell);
  }
}

/** INVARIANT: against the version that was read: a person's answer stands, and of several processes one does it. */
async function end(ticket: Ticket, shell: Shell): Promise<void> {
  const call = await shell.ports.store.call(ticket.call);
  const closedAtMs = shell.ports.clock.nowMs();
  const closed = { state: 'closed', closedAtMs, closedBy: 'recourse', end: 'authenticate' } as const;
  const unlessEqual = equalCallsSince(ticket, call, shell);
  const body = { by: 'recourse', answer: 'authenticate', credential: ticket.credential };
  const said = { kind: 'ticket_resolved', body, payloads: [] } as const;
  const goesOn = {
    kind: 'change',
    ticket: changed(ticket, { ...closed, work: 'due' }),
    expect: ticket.version,
  } as const;
  const whole = unlessEqual === undefined ? goesOn : { ...goesOn, unlessEqual };
  const result = await commit(ticketTransition(ticket, call, whole, said, shell), shell);
  if (result.kind === 'committed') return void shell.live.tickets.goOn(ticket.id);
  // Its agent did the same meanwhile: nothing is left to run.
  if (result.kind !== 'conflict' || result.on !== 'place') return;
  const done = { kind: 'change', ticket: changed(ticket, closed), expect: ticket.version } as const;
  await commit(ticketTransition(ticket, call, done, said, shell), shell);
}
