/** Every limit of the core and the shell, with its default. Adapters define their own. */
export interface Limits {
  /** Canonical arguments larger than this are InputTooLarge. */
  readonly maxInputBytes: number;
  /** A result larger than this is OutputMalformed. */
  readonly maxResultBytes: number;
  /** Arguments and results nested deeper than this are refused. */
  readonly maxDepth: number;
  /** Names and handles longer than this (tool, key, turn, session) are refused. */
  readonly maxNameChars: number;
  /** How many wrong fields one reply lists. */
  readonly maxFieldErrors: number;
  /** Characters of an error message that reach an agent. */
  readonly maxMessageChars: number;
  /** Calls under way at once; the next one is refused as Busy. */
  readonly maxInFlight: number;
  /** Steps of one workflow session that wait for their turn, and for how long; then they are `action_in_flight`. */
  readonly maxQueuedSteps: number;
  readonly stepQueueMs: number;
  /** A workflow session that nobody used for this long is closed, unless a step runs or a timer waits. */
  readonly sessionTtlMs: number;
  /** Workflow sessions that are kept; beyond, the longest unused ones make way. */
  readonly maxSessions: number;
  /** Entries of a history that one answer holds. */
  readonly maxHistoryEntries: number;
  /** A tool without a timeout of its own. */
  readonly defaultTimeoutMs: number;
  /** From arrival to the last attempt, for a call that sets no deadline. */
  readonly defaultDeadlineMs: number;
  readonly maxDeadlineMs: number;
  /** A dispatched attempt that was not sent within this window is not sent at all. */
  readonly sendWindowMs: number;
  /** Added to timeout and send window before another incarnation may take a call over. */
  readonly leaseMarginMs: number;
  /** Decisions made again because the store had moved on, before the call is refused as Busy. */
  readonly maxRedecisions: number;
  /** Facts fetched for one call before the gateway gives up on it. */
  readonly maxFactFetches: number;
  /** One fact must arrive within this time. */
  readonly factTimeoutMs: number;
  readonly keyRetentionMs: number;
  readonly attachWindowMs: number;
  /** Identical refusals within this time are counted, not listed. */
  readonly coalesceWindowMs: number;
  readonly maxCoalesced: number;
  /** Approvals of one agent that may be pending at once. */
  readonly maxPendingApprovals: number;
  /** The longest and the default wait for an approval. Many clients give up after a minute. */
  readonly maxApprovalWaitMs: number;
  readonly approvalWaitMs: number;
  /** Comments of one ticket, and characters of one. */
  readonly maxTicketComments: number;
  readonly maxCommentChars: number;
  /** How long an answered ticket is tried to go on, and the longest pause between two tries. */
  readonly continueWithinMs: number;
  readonly maxContinuePauseMs: number;
  /** Approvals and tickets that an inbox reads, of each kind. */
  readonly maxInbox: number;
  /** How often the evidence of calls of one session is read again after an upstream called it stale. */
  readonly maxEvidenceRefreshes: number;
  /** The longest pause that an upstream may ask for; beyond it the failure is told. */
  readonly maxRetryAfterMs: number;
  /** When a call in doubt is first checked by its declared read, the longest pause between two checks, and how many. */
  readonly firstProbeMs: number;
  readonly maxProbePauseMs: number;
  readonly maxProbes: number;
  /** Outside workflows a failure whose retries are exhausted ends its turn; 0: it does not. */
  readonly exhaustedEndsTurn: number;
  /** Waits between tries of a commit that the store could not take. */
  readonly storeRetryMs: readonly number[];
  /** Calls of one session that a rollback looks at; and how long it waits for one that cannot be undone right now. */
  readonly maxRollbackCalls: number;
  readonly rollbackPatienceMs: number;
  /** How often the sweeper looks for due calls, and how many it takes at once. */
  readonly sweepEveryMs: number;
  readonly sweepBatch: number;
  /** Late outcomes kept in memory while the store is away. */
  readonly maxUnrecorded: number;
  /** Connections to `recourse up`: in all, from one address without a key, of one holder of keys. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxConnectionsPerAgent: number;
  /** The body of a request may pause for this long. */
  readonly bodyStallMs: number;
  /** MCP sessions of revision 2025-11-25 at `recourse up`: in all, and of one agent. */
  readonly maxMcpSessions: number;
  readonly maxMcpSessionsPerAgent: number;
}

const second = 1_000;
const minute = 60 * second;

export const defaultLimits: Limits = {
  maxInputBytes: 1 << 20,
  maxResultBytes: 4 << 20,
  maxDepth: 64,
  maxNameChars: 256,
  maxFieldErrors: 20,
  maxMessageChars: 2_000,
  maxInFlight: 4_096,
  maxQueuedSteps: 1_024,
  stepQueueMs: 30 * second,
  sessionTtlMs: 7 * 24 * 60 * minute,
  maxSessions: 10_000,
  maxHistoryEntries: 200,
  defaultTimeoutMs: 30 * second,
  defaultDeadlineMs: 15 * minute,
  maxDeadlineMs: 24 * 60 * minute,
  sendWindowMs: 2 * second,
  leaseMarginMs: 5 * second,
  maxRedecisions: 8,
  maxFactFetches: 32,
  factTimeoutMs: 10 * second,
  keyRetentionMs: 7 * 24 * 60 * minute,
  attachWindowMs: 10 * minute,
  coalesceWindowMs: minute,
  maxCoalesced: 1_024,
  maxPendingApprovals: 100,
  maxApprovalWaitMs: 10 * minute,
  approvalWaitMs: 50 * second,
  maxTicketComments: 100,
  maxCommentChars: 2_000,
  continueWithinMs: 24 * 60 * minute,
  maxContinuePauseMs: minute,
  maxInbox: 1_000,
  maxEvidenceRefreshes: 20,
  maxRetryAfterMs: 15 * minute,
  firstProbeMs: second,
  maxProbePauseMs: 5 * minute,
  maxProbes: 12,
  exhaustedEndsTurn: 1,
  storeRetryMs: [2 * second, 4 * second, 6 * second],
  maxRollbackCalls: 10_000,
  rollbackPatienceMs: minute,
  sweepEveryMs: second,
  sweepBatch: 256,
  maxUnrecorded: 1_024,
  maxConnections: 2_000,
  maxConnectionsPerAddress: 500,
  maxConnectionsPerAgent: 500,
  bodyStallMs: 10 * second,
  maxMcpSessions: 1_000,
  maxMcpSessionsPerAgent: 100,
};
