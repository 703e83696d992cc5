/** What people do beside calls, for code in the same process: approvals, tickets, budgets and reversals. */
import type { Principal } from '../../core/call/call.ts';
import { createApprovals } from '../../shell/approval/approvals.ts';
import { createBudgets } from '../../shell/budget/budget-service.ts';
import { createReversals } from '../../shell/reversal/reversal-service.ts';
import type { Shell } from '../../shell/shell.ts';
import { createTickets } from '../../shell/ticket/ticket-service.ts';
import { createApprovalDoor } from './approval-door.ts';
import { createBudgetDoor } from './budget-door.ts';
import { createReversalDoor } from './reversal-door.ts';
import { createTicketDoor } from './ticket-door.ts';

export const createOperatorDoor = (shell: Shell, self: Principal) => ({
  ...createApprovalDoor(createApprovals(shell), shell, self),
  ...createTicketDoor(createTickets(shell), shell, self),
  ...createBudgetDoor(createBudgets(shell), shell, self),
  ...createReversalDoor(createReversals(shell), shell, self),
});
