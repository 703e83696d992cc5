/** The messages that webhooks receive. Data only; adapters/notify-webhook sends them. */
import type { ApprovalView } from '../approval/approval-view.ts';
import type { TicketView } from '../recovery/ticket-view.ts';

/** The codes that webhooks can subscribe to, and the opening of a ticket, which is no denial. */
export const webhookEvents = ['POLICY_DEFER', 'COMPLETION_BLOCKED', 'RUNTIME_GAP', 'ticket_opened'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** The kinds of records that are told, each under the code that a hook asks for. */
export const toldKinds = {
  approval_opened: 'POLICY_DEFER',
  approval_approved: 'POLICY_DEFER',
  approval_denied: 'POLICY_DEFER',
  approval_revoked: 'POLICY_DEFER',
  approval_used: 'POLICY_DEFER',
  approval_expired: 'POLICY_DEFER',
  approval_voided: 'POLICY_DEFER',
  /** Of the refusals only those with this code. */
  refused: 'COMPLETION_BLOCKED',
  runtime_gap: 'RUNTIME_GAP',
  ticket_opened: 'ticket_opened',
} as const satisfies Readonly<Record<string, WebhookEvent>>;

export type WebhookKind = keyof typeof toldKinds;

export interface WebhookMessage {
  /** Constant across redeliveries, so that receivers can drop duplicates. */
  readonly id: string;
  readonly event: WebhookEvent;
  readonly kind: WebhookKind;
  /** When it happened, not when it was sent. */
  readonly at: string;
  /** Null if it is nobody's in particular. */
  readonly tenant: string | null;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly call_id: string | null;
  readonly session: string | null;
  /** A sentence for a person. */
  readonly message: string;
  /** As it is when it is sent; null if it is about none. */
  readonly approval: ApprovalView | null;
  /** As it is when it is sent; null if it is about none. Without the call: ask for the ticket. */
  readonly ticket: TicketView | null;
  /** The arguments are too large for a message: `args` is null, ask for the approval. Absent otherwise. */
  readonly args_omitted?: true;
  /** Where a person finds it. */
  readonly link: string | null;
}
