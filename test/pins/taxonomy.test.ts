import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  codes,
  compensations,
  dispatchOutcomes,
  kinds,
  legalTransitions,
  resolutions,
  taxonomy,
} from '../../src/core/taxonomy.ts';

/** Public names, typed out. A change here is a change of the contract and needs a changelog entry. */
const pinned: Readonly<Record<keyof typeof taxonomy, readonly string[]>> = {
  errors: [
    'action_error',
    'action_in_flight',
    'action_timeout',
    'cancelled',
    'denied',
    'fenced',
    'internal_error',
    'invalid_transition',
    'session_error',
    'unknown_action',
    'validation_failed',
  ],
  classes: [
    'Cancellation',
    'ExtensionHost',
    'Governance',
    'Internal',
    'ProviderCapability',
    'ProviderTransient',
    'Session',
    'ToolTerminal',
    'ToolTransient',
    'Validation',
    'Workflow',
  ],
  codes: [
    'ActionInFlight',
    'BUDGET_EXCEEDED',
    'BUDGET_WARNING',
    'Busy',
    'COMPLETION_BLOCKED',
    'CREDENTIAL_UNAVAILABLE',
    'ConfigSchemaViolation',
    'ContextWindowTooSmall',
    'ContractVersionMismatch',
    'DAEMON_NOT_READY',
    'DependencyCycle',
    'DependencyMissing',
    'EGRESS_DENIED',
    'ExecutionFailed',
    'ExecutionTimeout',
    'Fenced',
    'Forbidden',
    'GuardError',
    'InputInvalid',
    'InputTooLarge',
    'InvalidTransition',
    'KeyReused',
    'LifecycleFailure',
    'MODEL_DENIED',
    'ManifestDrift',
    'MissingStreaming',
    'MissingToolCalling',
    'NetworkTimeout',
    'NotFound',
    'OutputMalformed',
    'POLICY_DEFER',
    'POLICY_DENY',
    'Provider5xx',
    'RATE_EXCEEDED',
    'RUNTIME_GAP',
    'RateLimited',
    'RefusalLimit',
    'ResourceBusy',
    'ResumeMismatch',
    'SessionCancelled',
    'SessionStopped',
    'ShapeInvalid',
    'StaleEvidence',
    'StaleSequence',
    'StoreUnavailable',
    'ToolCancelled',
    'TurnCancelled',
    'Unexpected',
    'UnknownAction',
    'UnknownSession',
  ],
  kinds: [
    '400_invalid',
    '401_unauthenticated',
    '403_forbidden',
    '404_not_found',
    '409_conflict',
    '412_precondition',
    '429',
    '5xx',
    'cancelled',
    'never_sent',
    'schema_validation',
    'threw',
    'timeout',
    'unknown',
  ],
  verdicts: [
    'auth_expired',
    'cancelled',
    'evidence_stale',
    'idempotency_conflict',
    'invalid_request',
    'policy_denied',
    'rate_limited',
    'schema_mismatch',
    'server_error_5xx',
    'transient_timeout',
  ],
  resolutions: [
    'authenticate',
    'budget_reset',
    'choose_action',
    'escalated',
    'fix_input',
    'manual_audit',
    'pending_approval',
    'pending_approvals',
    'reconcile',
    'replan',
    'retry_after',
    'rule_block',
  ],
  compensations: [
    'deprecate_tool_call',
    'escalate_to_human',
    'issue_reversal',
    'refresh_evidence',
    'retry_with_backoff',
  ],
  dispatchOutcomes: ['deprecated', 'escalated', 'exhausted', 'reversed', 'succeeded_after_compensation'],
  effectClasses: ['keyed', 'plain', 'probeable', 'pure'],
  effects: ['applied', 'none', 'unknown'],
  callStates: [
    'AWAITING_APPROVAL',
    'CANCELLED',
    'CLOSED_UNKNOWN',
    'DENIED',
    'DISPATCHED',
    'EXPIRED',
    'FAILED',
    'IN_DOUBT',
    'PREPARED',
    'REJECTED',
    'RETRY_WAIT',
    'SUCCEEDED',
  ],
};

describe('the taxonomy is public and frozen', () => {
  for (const [list, names] of Object.entries(pinned)) {
    test(list, () => assert.deepEqual(Object.keys(taxonomy[list as keyof typeof taxonomy]).toSorted(), names));
  }

  test('the class of each code', () => {
    const byClass = Object.groupBy(Object.entries(codes), ([, entry]) => entry.class);
    const found = Object.entries(byClass).map(([name, entries]) => [name, entries.map(([code]) => code)]);
    assert.deepEqual(Object.fromEntries(found), {
      Validation: ['ShapeInvalid', 'ContractVersionMismatch', 'ConfigSchemaViolation'],
      ProviderTransient: ['NetworkTimeout', 'Provider5xx', 'RateLimited'],
      ProviderCapability: ['MissingStreaming', 'MissingToolCalling', 'ContextWindowTooSmall'],
      ToolTransient: ['ExecutionTimeout', 'ResourceBusy'],
      ToolTerminal: [
        'InputInvalid',
        'OutputMalformed',
        'Forbidden',
        'NotFound',
        'ExecutionFailed',
        'KeyReused',
        'InputTooLarge',
        'StaleEvidence',
      ],
      Session: ['ManifestDrift', 'StoreUnavailable', 'ResumeMismatch', 'UnknownSession'],
      Cancellation: ['SessionCancelled', 'TurnCancelled', 'ToolCancelled'],
      ExtensionHost: ['LifecycleFailure', 'DependencyCycle', 'DependencyMissing'],
      Workflow: [
        'InvalidTransition',
        'GuardError',
        'UnknownAction',
        'Fenced',
        'ActionInFlight',
        'StaleSequence',
        'RefusalLimit',
        'SessionStopped',
        'Busy',
      ],
      Governance: [
        'POLICY_DENY',
        'POLICY_DEFER',
        'RATE_EXCEEDED',
        'BUDGET_EXCEEDED',
        'BUDGET_WARNING',
        'DAEMON_NOT_READY',
        'COMPLETION_BLOCKED',
        'EGRESS_DENIED',
        'MODEL_DENIED',
        'CREDENTIAL_UNAVAILABLE',
        'RUNTIME_GAP',
      ],
      Internal: ['Unexpected'],
    });
  });

  test('the subjects of each kind', () => {
    const withSubjects = Object.entries(kinds).filter(([, entry]) => entry.subjects.length > 0);
    assert.deepEqual(Object.fromEntries(withSubjects.map(([kind, entry]) => [kind, entry.subjects])), {
      '409_conflict': ['in_flight', 'completed', 'mismatch'],
      '412_precondition': ['evidence'],
      schema_validation: ['request', 'response'],
    });
  });

  test('the fields of resolutions, compensations and outcomes', () => {
    const fieldsOf = (list: Readonly<Record<string, { readonly fields: object }>>): object =>
      Object.fromEntries(Object.entries(list).map(([name, entry]) => [name, Object.keys(entry.fields)]));
    assert.deepEqual(fieldsOf(resolutions), {
      rule_block: ['rule_id'],
      pending_approval: ['approval_id'],
      pending_approvals: ['approval_ids'],
      retry_after: ['retry_after_seconds'],
      budget_reset: ['resets_at'],
      manual_audit: [],
      choose_action: ['actions'],
      fix_input: ['fields'],
      reconcile: ['call_id'],
      escalated: ['ticket_id', 'queue'],
      replan: ['reason'],
      authenticate: ['interaction_id'],
    });
    assert.deepEqual(fieldsOf(compensations), {
      retry_with_backoff: ['max_attempts', 'backoff_ms'],
      refresh_evidence: ['then'],
      escalate_to_human: ['queue'],
      issue_reversal: ['reason'],
      deprecate_tool_call: ['reason', 'replan'],
    });
    assert.deepEqual(fieldsOf(dispatchOutcomes), {
      succeeded_after_compensation: ['result'],
      deprecated: ['reason', 'replan'],
      escalated: ['queue', 'ticket_id'],
      reversed: ['reason'],
      exhausted: ['final_error', 'first_error', 'attempts'],
    });
  });

  test('the moves between the states of a call', () => {
    assert.deepEqual(legalTransitions, {
      '(none)': ['DENIED', 'AWAITING_APPROVAL', 'PREPARED'],
      AWAITING_APPROVAL: ['PREPARED', 'DENIED', 'REJECTED', 'EXPIRED', 'CANCELLED'],
      PREPARED: ['DISPATCHED', 'CANCELLED', 'EXPIRED'],
      DISPATCHED: ['SUCCEEDED', 'FAILED', 'RETRY_WAIT', 'IN_DOUBT'],
      RETRY_WAIT: ['DISPATCHED', 'FAILED', 'IN_DOUBT', 'CANCELLED'],
      IN_DOUBT: ['SUCCEEDED', 'FAILED', 'RETRY_WAIT', 'CLOSED_UNKNOWN'],
      DENIED: [],
      REJECTED: [],
      EXPIRED: [],
      CANCELLED: [],
      SUCCEEDED: [],
      FAILED: [],
      CLOSED_UNKNOWN: [],
    });
  });
});
