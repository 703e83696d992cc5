/** The commands `tickets ls`, `show` and `close`. The gateway decides who may close. */
import { maxPage } from '../../../core/http/http-routes.ts';
import type { TicketStory } from '../../../core/recovery/ticket-view.ts';
import { type Daemon, type DaemonAnswer, reportFailure } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writePairs, writeTable } from '../print/table.ts';
import { columnsAt, pairsOf, readStory, readTickets } from '../print/write-ticket.ts';
import { harmless, type Terminal } from '../terminal.ts';
import type { RunApprovals as RunTickets } from '../commands/approvals.ts';

export const pathOf = (id: string, act = ''): string => `/v1/tickets/${encodeURIComponent(id)}${act}`;

export const listTickets: RunTickets = async ({ said, flags, json, limit }, daemon, { nowMs }, terminal) => {
  if (limit > maxPage) {
    terminal.tell(`recourse: --limit is a whole number from 1 to ${maxPage}. Try: recourse tickets ls --help\n`);
    return exitCodes.usage.code;
  }
  const state = flags.has('all') ? undefined : 'open';
  const wish = Object.entries({ queue: said.queue, state, before: said.before, limit: String(limit) });
  const query = new URLSearchParams(wish.filter((pair): pair is [string, string] => pair[1] !== undefined));
  const answer = await daemon.ask({ method: 'GET', path: `/v1/tickets?${query}` });
  const found = answer.kind === 'answered' ? readTickets(answer.body) : null;
  if (found === null) return reportFailure(answer, daemon, terminal);
  if (json) {
    for (const each of found) terminal.print(`${JSON.stringify(each)}\n`);
    return exitCodes.done.code;
  }
  if (found.length > 0) terminal.print(writeTable(columnsAt(nowMs()), found, terminal.paint));
  const last = found.at(-1);
  if (last === undefined) terminal.tell(`no ${state === undefined ? '' : 'open '}ticket matches.\n`);
  else if (found.length === limit)
    terminal.tell(
      terminal.paintTold('dim', `\n${found.length} shown; older ones: --before ${harmless(last.ticket_id)}\n`),
    );
  return exitCodes.done.code;
};

export const showTicket: RunTickets = async ({ argument, json }, daemon, { nowMs }, terminal) => {
  const answer = await daemon.ask({ method: 'GET', path: pathOf(argument) });
  const found = storyIn(answer);
  if (found === null) return reportFailure(answer, daemon, terminal);
  if (json) terminal.print(`${JSON.stringify(found)}\n`);
  else terminal.print(writeShown(found, nowMs(), terminal));
  return exitCodes.done.code;
};

export const closeTicket: RunTickets = async ({ argument, said, json }, daemon, _parts, terminal) => {
  const body = said.note === undefined ? {} : { note: said.note };
  const answer = await daemon.ask({ method: 'POST', path: pathOf(argument, '/close'), body });
  const closed = storyIn(answer);
  if (closed === null) return reportNotClosed(answer, argument, daemon, terminal);
  if (json) terminal.print(`${JSON.stringify(closed)}\n`);
  else
    terminal.print(
      `${harmless(closed.ticket_id)} is closed by ${harmless(closed.closed_by ?? '')}. ${restOf(closed)}\n`,
    );
  return exitCodes.done.code;
};

export const storyIn = (answer: DaemonAnswer): TicketStory | null =>
  answer.kind === 'answered' && answer.status === 200 ? readStory(answer.body) : null;

/** A request whose answer was lost may have closed it: that is said, and how to find out. */
export function reportNotClosed(answer: DaemonAnswer, id: string, daemon: Daemon, terminal: Terminal): ExitCode {
  const code = reportFailure(answer, daemon, terminal);
  if (answer.kind === 'lost')
    terminal.tell(`recourse: it may be closed all the same. Try: recourse tickets show ${harmless(id)}\n`);
  return code;
}

const restOf = ({ call, call_id: id }: TicketStory): string =>
  call?.state === 'IN_DOUBT'
    ? `Its call is still in doubt: recourse calls settle ${harmless(id)}`
    : 'Nothing runs, and the call stays as it is.';

function writeShown(ticket: TicketStory, nowMs: number, { paint }: Terminal): string {
  const head = `${paint('cyan', harmless(ticket.ticket_id))}  ${paint('bold', harmless(ticket.tool))}`;
  return `${head}\n${writePairs(pairsOf(ticket, nowMs), paint)}`;
}
