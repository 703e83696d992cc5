/** Commits a change of a ticket with its record. The caller decides; this file only writes. */
import type { Payload, RecordDraft, RecordKind } from '../../core/journal/record.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { StoredCall, TicketWrite, Transition } from '../../ports/store.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { readTicket, storyAfter } from './read-ticket.ts';
import { type TicketDone, unrecorded } from './ticket-problems.ts';

/** What the record says beside the ticket, its queue and its reason. */
export interface TicketNote {
  readonly kind: RecordKind;
  readonly body: JsonObject;
  readonly payloads: readonly Payload[];
}

export function recordOf(
  { id, reason, queue, call: callId }: Ticket,
  call: StoredCall | null,
  { kind, body, payloads }: TicketNote,
): RecordDraft {
  const whole = { ticket: id, reason, queue, ...body };
  // The call may be gone from the store: then its session is not known.
  return call === null
    ? { kind, call: callId, session: null, body: canonicalText(whole), payloads }
    : note(kind, call, whole, payloads);
}

export function ticketTransition(
  ticket: Ticket,
  call: StoredCall | null,
  write: TicketWrite,
  said: TicketNote,
  shell: Shell,
): Transition {
  return {
    ...bare(shell),
    tickets: [write],
    session: call === null ? null : numbered(call),
    records: [recordOf(ticket, call, said)],
  };
}

/** `moved`: somebody else changed it first. */
export async function changing(
  before: Ticket,
  after: Ticket,
  said: TicketNote,
  shell: Shell,
): Promise<TicketDone | 'moved'> {
  const read = await readTicket(before, shell);
  const write = { kind: 'change', ticket: after, expect: before.version } as const;
  const result = await commit(ticketTransition(before, read.call, write, said, shell), shell);
  switch (result.kind) {
    case 'committed':
      return { ok: true, ticket: storyAfter(read, after) };
    case 'unavailable':
      return unrecorded(result.fault);
    case 'conflict':
      return 'moved';
    default:
      return unreachable(result);
  }
}
