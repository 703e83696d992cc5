/** The command `tickets watch`: a line for each ticket that opens, changes or closes, until Ctrl-C. */
import { maxPage } from '../../../core/http/http-routes.ts';
import type { TicketView } from '../../../core/recovery/ticket-view.ts';
import type { RunApprovals as RunTickets } from '../commands/approvals.ts';
import { reportFailure } from '../daemon.ts';
import { exitCodes } from '../exit-codes.ts';
import { readTickets } from '../print/write-ticket.ts';
import { harmless, pollUntilStopped } from '../terminal.ts';

export const watchTickets: RunTickets = async ({ said, json }, daemon, { timer }, terminal) => {
  const poll = pollUntilStopped(terminal, timer);
  const query = new URLSearchParams({
    limit: String(maxPage),
    ...(said.queue === undefined ? {} : { queue: said.queue }),
  });
  /** How each ticket stood when it was printed last; those of the newest page alone. */
  let told: ReadonlyMap<string, string> | null = null;
  try {
    do {
      const answer = await daemon.ask({ method: 'GET', path: `/v1/tickets?${query}` });
      const found = answer.kind === 'answered' ? readTickets(answer.body) : null;
      if (found === null) {
        // A gateway that restarts is waited for; one that refuses at once is reported.
        if (told === null || answer.kind === 'answered') return reportFailure(answer, daemon, terminal);
        continue;
      }
      const now = new Map(found.map((ticket) => [ticket.ticket_id, standOf(ticket)]));
      for (const ticket of found.toReversed()) {
        const before = told?.get(ticket.ticket_id);
        const isNews = told === null ? ticket.state === 'open' : before !== standOf(ticket);
        if (isNews) terminal.print(json ? `${JSON.stringify(ticket)}\n` : `${lineOf(ticket)}\n`);
      }
      told = now;
    } while (await poll.wait());
    return exitCodes.done.code;
  } finally {
    poll.stopListening();
  }
};

const standOf = ({ state, assignee, overdue, answer }: TicketView): string =>
  state === 'closed'
    ? `closed: ${answer ?? '-'}`
    : `open${assignee === null ? '' : `, ${assignee}`}${overdue ? ', overdue' : ''}`;

const lineOf = (ticket: TicketView): string =>
  harmless(`${ticket.ticket_id}  ${standOf(ticket)}  ${ticket.queue}  ${ticket.agent}  ${ticket.tool}  ${ticket.says}`);
