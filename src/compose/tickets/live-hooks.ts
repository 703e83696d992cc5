/** Joins parts of the shell that must not import each other: a body calls a tool, an answered ticket goes on. */
import { nestedCall } from '../../shell/call/handle-call.ts';
import type { Shell } from '../../shell/shell.ts';
import { continueTicket } from '../../shell/ticket/continue-ticket.ts';

export function joinLive(shell: Shell): void {
  shell.live.tickets.goOn = (id) => continueTicket(id, shell);
  shell.live.callTool = (request, who, bodyOf, ceiling) => nestedCall(request, who, bodyOf, ceiling, shell);
}
