/** Tickets of a memory store: what stands against a write, what it leaves, and what is read of them. */
import { type Ticket, ticketIdOf, type TicketWork } from '../../../src/core/recovery/ticket.ts';
import { unreachable } from '../../../src/core/values/unreachable.ts';
import type { CommitResult, StoredCall, TicketFilter, TicketWrite } from '../../../src/ports/store.ts';
import type { MemoryState } from '../memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;

/** Applies the writes to a copy: what it holds afterwards counts only if none of them was refused. */
export function ticketConflict(
  writes: readonly TicketWrite[],
  staged: Map<string, Ticket>,
  state: MemoryState,
): Conflict | null {
  for (const write of writes) {
    const refused = apply(write, staged, state);
    if (refused !== null) return refused;
  }
  return null;
}

function apply(write: TicketWrite, staged: Map<string, Ticket>, state: MemoryState): Conflict | null {
  switch (write.kind) {
    case 'open':
      staged.set(write.ticket.id, opened(staged.get(write.ticket.id), write.ticket));
      return null;
    case 'change':
      return change(write, staged, state);
    case 'work': {
      const found = staged.get(write.id) ?? null;
      if (found?.work !== write.from) return { kind: 'conflict', on: 'ticket', found };
      const { to: work, continuation } = write;
      staged.set(found.id, { ...found, work, continuation, version: found.version + 1 });
      return null;
    }
    case 'moot': {
      const found = staged.get(ticketIdOf(write.call, write.reason));
      if (found?.state !== 'open') return null;
      const { by: closedBy, atMs: closedAtMs } = write;
      staged.set(found.id, {
        ...found,
        state: 'closed',
        closedAtMs,
        closedBy,
        end: 'settled',
        version: found.version + 1,
      });
      return null;
    }
    default:
      return unreachable(write);
  }
}

/** What was asked of a person before may have to be asked again. */
function opened(before: Ticket | undefined, ticket: Ticket): Ticket {
  if (before?.state === 'open') return before;
  if (before === undefined) return ticket;
  // Whose it is and where it waits never changes.
  const { tenant, agent, session, tool, queue, openedAtMs } = before;
  return { ...ticket, tenant, agent, session, tool, queue, openedAtMs, version: before.version + 1 };
}

function change(
  { ticket, expect, unlessEqual }: Extract<TicketWrite, { kind: 'change' }>,
  staged: Map<string, Ticket>,
  state: MemoryState,
): Conflict | null {
  const found = staged.get(ticket.id) ?? null;
  if (found?.version !== expect) return { kind: 'conflict', on: 'ticket', found };
  if (!isLegal(found, ticket)) return { kind: 'conflict', on: 'illegal', problem: 'no such change of a ticket' };
  const equal = unlessEqual === undefined ? undefined : equalCall(unlessEqual, state);
  if (equal !== undefined) return { kind: 'conflict', on: 'place', found: equal };
  staged.set(ticket.id, ticket);
  return null;
}

const mayHaveHappened: ReadonlySet<string> = new Set([
  'PREPARED',
  'DISPATCHED',
  'RETRY_WAIT',
  'SUCCEEDED',
  'IN_DOUBT',
  'CLOSED_UNKNOWN',
]);

function equalCall(
  { session, fingerprint, after, from }: { session: string; fingerprint: string; after: string; from: string },
  { calls }: MemoryState,
): StoredCall | undefined {
  const moved = (id: string): number => calls.get(id)?.movedAt ?? -1;
  return [...calls.values()]
    .map(({ call }) => call)
    .find(
      (call) =>
        call.id > from &&
        call.id !== after &&
        moved(call.id) > moved(after) &&
        call.session === session &&
        call.fingerprint === fingerprint &&
        mayHaveHappened.has(call.state),
    );
}

/** What never changes, what a closed ticket keeps, and the only way that its work goes. */
function isLegal(before: Ticket, after: Ticket): boolean {
  const fixed: readonly (keyof Ticket)[] = [
    'tenant',
    'agent',
    'session',
    'call',
    'tool',
    'queue',
    'reason',
    'openedAtMs',
  ];
  if (after.version !== before.version + 1 || fixed.some((name) => before[name] !== after[name])) return false;
  if (after.state === 'open') return before.state === 'open' && isUntouched(after);
  if (after.closedAtMs === null || after.closedBy === null || after.end === null) return false;
  if (before.state === 'open') return true;
  const next: Readonly<Record<TicketWork, readonly TicketWork[]>> = {
    none: ['none'],
    due: ['due', 'untold', 'told'],
    untold: ['untold', 'told'],
    told: ['told'],
  };
  return after.end === before.end && next[before.work].includes(after.work);
}

const isUntouched = (ticket: Ticket): boolean =>
  ticket.state === 'open' &&
  ticket.closedAtMs === null &&
  ticket.closedBy === null &&
  ticket.end === null &&
  ticket.work === 'none' &&
  ticket.continuation === null;

/** The ids of tickets whose answers were erased. A change like any other: the version moves with it. */
export function eraseAnswers(call: string, state: MemoryState): readonly string[] {
  const erased = [...state.tickets.values()].filter((ticket) => ticket.call === call && ticket.answerText !== null);
  for (const ticket of erased)
    state.tickets.set(ticket.id, { ...ticket, answerText: null, version: ticket.version + 1 });
  return erased.map(({ id }) => id).sort();
}

/** What goes on for a ticket stands in the place of an equal call of its agent. */
export const continuedEqual = (
  { session, fingerprint, id }: { session: string | null; fingerprint: string; id: string },
  state: MemoryState,
): StoredCall | undefined =>
  [...state.tickets.values()]
    .filter((ticket) => ticket.session === session && (ticket.work === 'due' || ticket.work === 'untold'))
    .map((ticket) => state.calls.get(ticket.call)?.call)
    .find((call) => call !== undefined && call.fingerprint === fingerprint && call.id !== id);

/** Why the writes cannot be right, or null. */
export function ticketIllegality(writes: readonly TicketWrite[]): string | null {
  if (writes.length > 16) return 'a transition writes at most 16 tickets';
  return writes.every(isWrite) ? null : 'a write of a ticket contradicts itself';
}

function isWrite(write: TicketWrite): boolean {
  if (write.kind === 'moot') return Number.isSafeInteger(write.atMs);
  if (write.kind === 'work') return write.from !== write.to;
  const { id, call, reason, openedAtMs, closedAtMs, dueAtMs, expiresAtMs, overdueAtMs, version } = write.ticket;
  const times = [openedAtMs, closedAtMs, dueAtMs, expiresAtMs, overdueAtMs];
  if (id !== ticketIdOf(call, reason) || !times.every((time) => time === null || Number.isSafeInteger(time)))
    return false;
  return write.kind === 'change' || (version === 1 && isUntouched(write.ticket));
}

function lookAtMs({ state, dueAtMs, expiresAtMs, overdueAtMs }: Ticket): number | null {
  const times = [overdueAtMs === null ? dueAtMs : null, expiresAtMs].filter((time) => time !== null);
  return state === 'open' && times.length > 0 ? Math.min(...times) : null;
}

export function ticketReads(state: MemoryState) {
  const where = (wanted: (ticket: Ticket) => boolean): Ticket[] => [...state.tickets.values()].filter(wanted);
  const isOlder = (a: Ticket, b: Ticket) =>
    a.openedAtMs < b.openedAtMs || (a.openedAtMs === b.openedAtMs && a.id < b.id);
  return {
    ticket: (id: string) => state.tickets.get(id) ?? null,
    ticketsOf: (call: string): readonly Ticket[] =>
      where((ticket) => ticket.call === call).sort((a, b) => (a.id < b.id ? -1 : 1)),
    openTickets: (tenant: string) => where((ticket) => ticket.tenant === tenant && ticket.state === 'open').length,
    dueTickets(nowMs: number, limit: number): readonly Ticket[] {
      const due = (ticket: Ticket) => lookAtMs(ticket) ?? Infinity;
      return where((ticket) => due(ticket) <= nowMs)
        .sort((a, b) => due(a) - due(b) || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },
    ticketsToRun: (after: string, limit: number): readonly Ticket[] =>
      where(({ work, id }) => work === 'due' && id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    ticketsToSignIn: (limit: number): readonly Ticket[] =>
      where(({ state: now, credential }) => now === 'open' && credential !== null)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
    ticketFences: (session: string): readonly Ticket[] =>
      where((ticket) => ticket.state === 'open' && ticket.fence?.session === session).sort((a, b) =>
        a.id < b.id ? -1 : 1,
      ),
    continuing: (session: string, fingerprint: string): Ticket | null =>
      where(
        (ticket) =>
          ticket.session === session &&
          (ticket.work === 'due' || ticket.work === 'untold') &&
          state.calls.get(ticket.call)?.call.fingerprint === fingerprint,
      )
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .at(-1) ?? null,
    listTickets({ tenant, state: wanted, queue, before, limit }: TicketFilter): readonly Ticket[] {
      const from =
        before === undefined ? undefined : (where(({ id, tenant: of }) => id === before && of === tenant)[0] ?? null);
      const fits = (ticket: Ticket) =>
        ticket.tenant === tenant &&
        (wanted === undefined || ticket.state === wanted) &&
        (queue === undefined || ticket.queue === queue) &&
        (from === undefined || (from !== null && isOlder(ticket, from)));
      return where(fits)
        .sort((a, b) => (isOlder(a, b) ? 1 : -1))
        .slice(0, limit);
    },
  };
}
