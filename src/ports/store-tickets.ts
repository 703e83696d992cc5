/** How a store writes and reads tickets. */
import type { CallId, SessionId } from '../core/call/call.ts';
import type { Ticket, TicketId, TicketReason, TicketWork } from '../core/recovery/ticket.ts';

export type TicketWrite =
  /** A call has at most one ticket for a reason: one that is open stays as it is, one that was closed opens again. */
  | { readonly kind: 'open'; readonly ticket: Ticket }
  /**
   * A conflict on `ticket` unless it has the version `expect`. With `unlessEqual` also a conflict on `place` if
   * another call with this fingerprint is in the session, has moved since and may have taken effect: nothing is done
   * twice.
   */
  | {
      readonly kind: 'change';
      readonly ticket: Ticket;
      readonly expect: number;
      readonly unlessEqual?: EqualCall;
    }
  /** Moves what is left to run. A conflict on `ticket` unless it stands at `from`. `continuation`: the call that runs. */
  | {
      readonly kind: 'work';
      readonly id: TicketId;
      readonly from: TicketWork;
      readonly to: TicketWork;
      readonly continuation: CallId | null;
    }
  /** The call was settled without anybody: its ticket is closed if it is open. */
  | {
      readonly kind: 'moot';
      readonly call: CallId;
      readonly reason: TicketReason;
      readonly by: string;
      readonly atMs: number;
    };

/** Calls equal to one that has a ticket, of which any that may have taken effect is in the way. */
export interface EqualCall {
  readonly session: SessionId;
  readonly fingerprint: string;
  /** Only those count that moved after this call did last, by the order of the journal: clocks may differ. */
  readonly after: CallId;
  /** Where the search begins. */
  readonly from: CallId;
}

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
  /** Open tickets that are overdue and were not told to be, or have expired; the longest so first. */
  dueTickets(nowMs: number, limit: number): Promise<readonly Ticket[]>;
  /** Answered tickets whose call is to go on; `after` is the last id seen. */
  ticketsToRun(after: string, limit: number): Promise<readonly Ticket[]>;
  /** Open tickets for which a person must sign in, the oldest first. */
  ticketsToSignIn(limit: number): Promise<readonly Ticket[]>;
  /** Open tickets that keep an operation from running in this session, the oldest first. */
  ticketFences(session: SessionId): Promise<readonly Ticket[]>;
  /** The newest answered ticket about an equal call of the session, whose outcome its agent does not have yet. */
  continuing(session: SessionId, fingerprint: string): Promise<Ticket | null>;
}
