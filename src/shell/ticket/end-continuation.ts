/** Ends what an answered ticket was to let go on: it was refused, came too late, or is not wanted any more. */
import type { CallId } from '../../core/call/call.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import type { CommitResult, StoredCall } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { ticketTransition } from './change-ticket.ts';

/** Nothing runs for it any more. `by`: the call that was refused; null if none came of it. */
export function endContinuation(
  ticket: Ticket,
  first: StoredCall,
  by: CallId | null,
  why: string,
  shell: Shell,
): Promise<CommitResult> {
  shell.live.tickets.pauses.delete(ticket.id);
  const write = { kind: 'work', id: ticket.id, from: 'due', to: 'told', continuation: by } as const;
  const body = { became: 'refused', continuation: by, why };
  const said = { kind: 'ticket_continued', body, payloads: [] } as const;
  return commit(ticketTransition(ticket, first, write, said, shell), shell);
}
