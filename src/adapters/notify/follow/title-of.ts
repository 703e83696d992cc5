/** A few words that say what happened, for the head of a message. Ours alone: nothing that others wrote. Pure. */
import { codesOfGovernance } from '../../../core/taxonomy/codes-of-governance.ts';
import type { WebhookKind, WebhookMessage } from '../../../core/http/webhook-message.ts';

const titles: Readonly<Record<Exclude<WebhookKind, 'refused' | 'settled'>, string>> = {
  approval_opened: 'Approval wanted',
  approval_approved: 'Approved',
  approval_denied: 'Denied',
  approval_revoked: 'Revoked',
  approval_used: 'Approved call runs',
  approval_expired: 'Approval expired',
  approval_voided: 'Approval void',
  budget_warned: 'Budget is running low',
  runtime_gap: 'Runtime gap',
  attached: 'Result of an earlier call',
  adopted: 'Result of an earlier call',
  ticket_opened: 'Ticket opened',
  ticket_taken: 'Ticket taken',
  ticket_resolved: 'Ticket answered',
  ticket_overdue: 'Ticket overdue',
  ticket_expired: 'Ticket expired',
  doubted: 'Call in doubt',
  breaker_opened: 'Upstream is down',
  breaker_closed: 'Upstream is back',
};

export function titleOf({ kind, event }: Pick<WebhookMessage, 'kind' | 'event'>): string {
  if (kind !== 'refused' && kind !== 'settled') return titles[kind];
  return isCode(event) ? codesOfGovernance[event].title : event;
}

const isCode = (event: string): event is keyof typeof codesOfGovernance => Object.hasOwn(codesOfGovernance, event);
