/**
 * The journal's kinds, the ladder and the limits are public: records are read for years, limits are configured by name.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateNames } from '../../src/core/gates/gate.ts';
import { anchorEvery, formatVersion } from '../../src/core/journal/encode.ts';
import { recordKinds } from '../../src/core/journal/record.ts';
import { defaultLimits } from '../../src/core/limits.ts';

test('the kinds of journal records', () => {
  assert.deepEqual(Object.keys(recordKinds), [
    'epoch_open',
    'epoch_close',
    'anchor',
    'session_opened',
    'session_cancelled',
    'session_forked',
    'session_resumed',
    'session_reset',
    'session_migrated',
    'session_stopped',
    'session_closed',
    'timer_fired',
    'adopted',
    'turn_cancelled',
    'refused',
    'held',
    'approval_opened',
    'approval_awaited',
    'approval_approved',
    'approval_denied',
    'approval_revoked',
    'approval_used',
    'approval_expired',
    'approval_voided',
    'ticket_opened',
    'ticket_closed',
    'session_completed',
    'task_opened',
    'task_reported',
    'runtime_gap',
    'refusals_repeated',
    'prepared',
    'dispatched',
    'settled',
    'retry_planned',
    'doubted',
    'cancelled',
    'expired',
    'orphaned',
    'client_asked',
    'suppressed_error',
    'requester_left',
    'attached',
    'erased',
    'key_masked',
    'reply_altered',
    'policy_applied',
    'clock_held',
  ]);
  assert.deepEqual([formatVersion, anchorEvery], [1, 1_000]);
});

test('the gates, in the order of the contract', () => {
  assert.deepEqual(gateNames, [
    'ready',
    'session',
    'known',
    'reachable',
    'input',
    'fence',
    'policy',
    'model',
    'egress',
    'rate',
    'budget',
    'approval',
    'evidence',
    'credential',
  ]);
});

test('the names of the limits', () => {
  assert.deepEqual(Object.keys(defaultLimits).sort(), [
    'approvalWaitMs',
    'attachWindowMs',
    'bodyStallMs',
    'coalesceWindowMs',
    'defaultDeadlineMs',
    'defaultTimeoutMs',
    'factTimeoutMs',
    'keyRetentionMs',
    'leaseMarginMs',
    'maxApprovalWaitMs',
    'maxCoalesced',
    'maxConnections',
    'maxConnectionsPerAddress',
    'maxConnectionsPerAgent',
    'maxDeadlineMs',
    'maxDepth',
    'maxFactFetches',
    'maxFieldErrors',
    'maxHistoryEntries',
    'maxInFlight',
    'maxInputBytes',
    'maxMcpSessions',
    'maxMcpSessionsPerAgent',
    'maxMessageChars',
    'maxNameChars',
    'maxPendingApprovals',
    'maxQueuedSteps',
    'maxRedecisions',
    'maxResultBytes',
    'maxSessions',
    'maxUnrecorded',
    'sendWindowMs',
    'sessionTtlMs',
    'stepQueueMs',
    'storeRetryMs',
    'sweepBatch',
    'sweepEveryMs',
  ]);
});
