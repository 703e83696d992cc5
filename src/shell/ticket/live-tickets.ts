/** What this process holds in memory about tickets, and the rules of tickets in force. Nothing depends on it but speed. */
import type { ApprovalId } from '../../core/approval/approval.ts';
import type { TicketId } from '../../core/recovery/ticket.ts';
import { defaultTicketRules, type TicketRules } from '../../core/ticket/terms.ts';

export interface LiveTickets {
  /** Answered tickets whose call this process lets go on, and when one is tried again. */
  readonly continuing: Map<TicketId, Promise<void>>;
  readonly pauses: Map<TicketId, ContinuePause>;
  /** Outcomes of tickets that are being put on record as told. */
  readonly telling: Map<TicketId, Promise<unknown>>;
  /** Sign-ins for which this process has opened a ticket. */
  readonly asked: Set<string>;
  /** Lets the call of an answered ticket go on now. Set by the composition root; without it the sweeper does it. */
  goOn: (id: TicketId) => Promise<void>;
  /** How many wait in this process for a ticket to be answered. */
  waiters: number;
}

/** A ticket whose call could not go on yet. */
export interface ContinuePause {
  readonly untilMs: number;
  readonly tries: number;
  /** The approval that it waits for; null if it is something else. */
  readonly approval: ApprovalId | null;
}

export const createLiveTickets = (): LiveTickets => ({
  continuing: new Map(),
  pauses: new Map(),
  telling: new Map(),
  asked: new Set(),
  goOn: () => Promise.resolve(),
  waiters: 0,
});

export const ticketRulesOf = ({ ticketRules }: { readonly ticketRules?: () => TicketRules }): TicketRules =>
  ticketRules?.() ?? defaultTicketRules;
