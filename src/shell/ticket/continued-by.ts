/** Finds the call that goes on for one that failed and whose ticket was answered. */
import type { StoredCall } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

/** The call that goes on for a failed one; null if none does. What is due is tried first. */
export async function continuedBy({ id }: StoredCall, shell: Shell): Promise<StoredCall | null> {
  const { store } = shell.ports;
  const answered = (await store.ticketsOf(id)).filter(({ work }) => work !== 'none');
  for (const ticket of answered) if (ticket.work === 'due') await shell.live.tickets.goOn(ticket.id);
  for (const ticket of answered) {
    const next = (await store.ticket(ticket.id))?.continuation ?? null;
    const call = next === null || next === id ? null : await store.call(next);
    // A call that was refused for it ran as little as the first.
    if (call !== null && call.state !== 'DENIED') return call;
  }
  return null;
}
