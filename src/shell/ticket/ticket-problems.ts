/** Why something about a ticket could not be done, and the results of what people do with tickets. */
import type { Ticket } from '../../core/recovery/ticket.ts';
import type { TicketStory } from '../../core/recovery/ticket-view.ts';
import { safeText } from '../../core/values/redact.ts';
import type { StoreFault } from '../../ports/store.ts';
import { mayBeApplied } from '../upkeep/commit.ts';
import { time } from './read-ticket.ts';

export const ticketProblems = {
  not_found: 404,
  /** The agent of the ticket, or somebody of its name. */
  own_request: 403,
  /** The queue is answered by others, or the answer takes an admin. */
  not_an_answerer: 403,
  not_open: 409,
  /** Somebody else works on it. */
  taken: 409,
  /** As the call stands now this is no answer; that includes one that comes too late. */
  not_possible: 409,
  /** An execution may still come. */
  in_quarantine: 409,
  bad_answer: 422,
  too_many_comments: 422,
  /** The commit was not acknowledged and may have happened. */
  outcome_unknown: 503,
  store_unavailable: 503,
} as const;

export type TicketProblem = keyof typeof ticketProblems;

export type TicketDone =
  | { readonly ok: true; readonly ticket: TicketStory }
  | { readonly ok: false; readonly problem: TicketProblem; readonly message: string };

/** The person who does it; their name goes on record. */
export interface TicketPerson {
  readonly tenant: string;
  readonly name: string;
  /** Whether they may say what became of a call in doubt. */
  readonly maySettle: boolean;
  /** The agent whose client it is, for a user of that; absent for people with a key. */
  readonly clientOf?: string;
}

export const problem = (code: TicketProblem, message: string): TicketDone => ({ ok: false, problem: code, message });

export const unknownTicket = (id: string): TicketDone =>
  problem('not_found', `there is no ticket '${safeText(id, 64)}'; list them first`);

export const notOpen = ({ closedBy, closedAtMs, end }: Ticket): TicketDone =>
  problem(
    'not_open',
    `it was closed by ${closedBy ?? 'somebody'} at ${time(closedAtMs ?? 0)}${end === null ? '' : ` (${end})`}`,
  );

export const unrecorded = (fault: StoreFault): TicketDone =>
  mayBeApplied(fault)
    ? problem('outcome_unknown', 'the store did not say whether it is recorded; look at it again')
    : problem('store_unavailable', 'the store cannot record it; ask again');

export const changesTooOften: TicketDone = problem('store_unavailable', 'it changes too often; ask again');
