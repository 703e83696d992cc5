/** Joins parts of the shell that must not import each other: calls of bodies, reversals, answered tickets. */
import { handleReversal, nestedCall } from '../../shell/call/handle-call.ts';
import { carryOut } from '../../shell/reversal/order.ts';
import type { Shell } from '../../shell/shell.ts';
import { continueTicket } from '../../shell/ticket/continue-ticket.ts';

export function joinLive(shell: Shell): void {
  shell.live.tickets.goOn = (id) => continueTicket(id, shell);
  shell.live.callReversal = (request, redeems, requester) => handleReversal(request, redeems, requester, shell);
  shell.live.carryOut = (call) => carryOut(call, shell);
  shell.live.callTool = (request, who, bodyOf, ceiling) => nestedCall(request, who, bodyOf, ceiling, shell);
}
