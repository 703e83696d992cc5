/** What the MCP door needs of tickets, from whichever gateway is open. */
import { nameOf } from '../../core/approval/approval.ts';
import type { DoorTickets } from '../../doors/mcp/parts.ts';
import { policyOf, type Shell } from '../../shell/shell.ts';
import { createTickets } from '../../shell/ticket/ticket-service.ts';

export const ticketsOf = (shell: () => Shell): DoorTickets => ({
  // Listed where agents are declared: elsewhere every tool that is listed is one of a server.
  isServed: ({ agent }) => (policyOf(agent, shell())?.agent ?? null) !== null,
  wait: (...asked) => createTickets(shell()).wait(...asked),
  askedOfClient: (...asked) => createTickets(shell()).askedOfClient(...asked),
  async answerAsClient(id, { tenant, agent }, answer) {
    const by = { tenant, name: nameOf({ kind: 'client', tenant, agent }), maySettle: false, clientOf: agent };
    return (await createTickets(shell()).resolve(id, by, answer)).ok;
  },
  get waitMs() {
    return shell().limits.approvalWaitMs;
  },
  get maxWaitMs() {
    return shell().limits.maxApprovalWaitMs;
  },
});
