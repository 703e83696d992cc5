/** How a store writes and reads tickets. */
import type { CallId } from '../core/call/call.ts';
import type { Ticket, TicketId, TicketReason } from '../core/recovery/ticket.ts';

export type TicketWrite =
  /** Changes nothing if a ticket with this id exists: a call has at most one for a reason. */
  | { readonly kind: 'open'; readonly ticket: Ticket }
  /** A conflict on `ticket` unless it is open. */
  | { readonly kind: 'close'; readonly id: TicketId; readonly by: string; readonly atMs: number }
  /** The call was settled without anybody: its ticket is closed if it is open. */
  | {
      readonly kind: 'moot';
      readonly call: CallId;
      readonly reason: TicketReason;
      readonly by: string;
      readonly atMs: number;
    };

export interface TicketFilter {
  readonly tenant: string;
  readonly state?: Ticket['state'];
  readonly queue?: string;
  /** Only those older than this one: newest first, page by page. */
  readonly before?: string;
  readonly limit: number;
}

/** Point reads, which never wait for a commit. */
export interface TicketReader {
  ticket(id: TicketId): Promise<Ticket | null>;
  ticketsOf(call: CallId): Promise<readonly Ticket[]>;
  /** The last opened first. */
  listTickets(filter: TicketFilter): Promise<readonly Ticket[]>;
  openTickets(tenant: string): Promise<number>;
}
