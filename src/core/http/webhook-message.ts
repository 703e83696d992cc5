/** The events that people are told about, and the messages that webhooks receive. Data only; adapters/notify sends. */
import type { ApprovalView } from '../approval/approval-view.ts';
import type { RecordKind } from '../journal/record.ts';
import type { TicketView } from '../recovery/ticket-view.ts';
import type { GovernanceCode } from '../taxonomy.ts';
import { codesOfGovernance } from '../taxonomy/codes-of-governance.ts';

/** What is no code of a denial or a notice. */
const otherEvents = [
  'ticket_opened',
  'ticket_taken',
  'ticket_resolved',
  'ticket_overdue',
  'ticket_expired',
  'in_doubt',
  'breaker_opened',
  'breaker_closed',
] as const;

export type WebhookEvent = GovernanceCode | (typeof otherEvents)[number];

/** Everything that somebody can ask to be told about. */
export const webhookEvents: readonly WebhookEvent[] = [
  ...(Object.keys(codesOfGovernance) as GovernanceCode[]),
  ...otherEvents,
];

/** The kinds of records that are told, each under the event that is asked for; `its_code`: the code of its reply. */
export const toldKinds = {
  approval_opened: 'POLICY_DEFER',
  approval_approved: 'POLICY_DEFER',
  approval_denied: 'POLICY_DEFER',
  approval_revoked: 'POLICY_DEFER',
  /** APPROVAL_EDITED too, if the arguments were changed. */
  approval_used: 'POLICY_DEFER',
  approval_expired: 'POLICY_DEFER',
  approval_voided: 'POLICY_DEFER',
  refused: 'its_code',
  /** Only if the call ended by a code of governance: it was denied after it was sent, or before it was sent again. */
  settled: 'its_code',
  budget_warned: 'BUDGET_WARNING',
  runtime_gap: 'RUNTIME_GAP',
  attached: 'EARLIER_RESULT',
  adopted: 'EARLIER_RESULT',
  ticket_opened: 'ticket_opened',
  ticket_taken: 'ticket_taken',
  ticket_resolved: 'ticket_resolved',
  ticket_overdue: 'ticket_overdue',
  ticket_expired: 'ticket_expired',
  doubted: 'in_doubt',
  breaker_opened: 'breaker_opened',
  breaker_closed: 'breaker_closed',
} as const satisfies Readonly<Partial<Record<RecordKind, WebhookEvent | 'its_code'>>>;

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
  /** Whose breaker it is. Absent if it is about none. */
  readonly upstream?: string;
  /** The arguments are too large for a message: `args` is null, ask for the approval. Absent otherwise. */
  readonly args_omitted?: true;
  /** Where a person finds it. */
  readonly link: string | null;
  /** The message tells more than one event; this one is the first. Absent otherwise. */
  readonly batch?: WebhookBatch;
}

/** Further events of one message, for those who asked for `batch` or `limit`. */
export interface WebhookBatch {
  /** All of them, with the first. */
  readonly count: number;
  /** In order, each with an id of its own. */
  readonly others: readonly Omit<WebhookMessage, 'batch'>[];
  /** How many are counted only, by event. */
  readonly omitted: Readonly<Partial<Record<WebhookEvent, number>>>;
}
