/**
 * Remembers in which sessions a ticket may fence something, or may have a call that goes on. Every call asks, and almost
 * never is there one: the owner sees every commit, so it answers without reading the file. A yes may be wrong; a no
 * never is.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CommitResult, TicketWrite, Transition } from '../../../ports/store.ts';

/** Beyond this many every lookup reads the file. */
const maxSessions = 10_000;

export interface TicketIndex {
  committed(transition: Transition, result: CommitResult): void;
  mayFence(session: string): boolean;
  mayGoOn(session: string): boolean;
}

/** Null once there are too many. */
type Known = Set<string> | null;

export function createTicketIndex(database: DatabaseSync): TicketIndex {
  const load = (column: string, index: string, where: string): Known => {
    const text = `SELECT DISTINCT ${column} AS session FROM tickets INDEXED BY ${index} WHERE ${where} LIMIT ?`;
    const found = database.prepare(text).all(maxSessions + 1) as { session: string | null }[];
    const sessions = found.flatMap(({ session }) => (session === null ? [] : [session]));
    return found.length > maxSessions ? null : new Set(sessions);
  };
  let fencing = load('fence_session', 'tickets_fence', "state = 'open' AND fence_session IS NOT NULL");
  let goingOn = load('session', 'tickets_untold', "work IN ('due', 'untold')");
  const note = (write: TicketWrite): void => {
    // What `work` and `moot` change was known before.
    if (write.kind !== 'open' && write.kind !== 'change') return;
    const { fence, work, session } = write.ticket;
    if (fence !== null) fencing = adding(fencing, fence.session);
    if (session !== null && (work === 'due' || work === 'untold')) goingOn = adding(goingOn, session);
  };
  return {
    /** INVARIANT: a session is known here before the commit of its ticket is acknowledged. */
    committed({ tickets }, { kind }): void {
      if (kind === 'committed') for (const write of tickets) note(write);
    },
    mayFence: (session) => fencing === null || fencing.has(session),
    mayGoOn: (session) => goingOn === null || goingOn.has(session),
  };
}

function adding(known: Known, session: string): Known {
  known?.add(session);
  return known !== null && known.size > maxSessions ? null : known;
}
