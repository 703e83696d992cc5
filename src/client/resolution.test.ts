import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Resolution as WireResolution, resolutions } from '../core/taxonomy.ts';
import { resolutionOf, type Resolution } from './resolution.ts';

/** Every advice that a reply can give, as it is on the wire and as TypeScript says it. */
const pairs = {
  rule_block: [
    { type: 'rule_block', rule_id: 'a.yaml:1' },
    { type: 'rule_block', ruleId: 'a.yaml:1' },
  ],
  pending_approval: [
    { type: 'pending_approval', approval_id: 'apr-1' },
    { type: 'pending_approval', approvalId: 'apr-1' },
  ],
  pending_approvals: [
    { type: 'pending_approvals', approval_ids: ['apr-1', 'apr-2'] },
    { type: 'pending_approvals', approvalIds: ['apr-1', 'apr-2'] },
  ],
  retry_after: [
    { type: 'retry_after', retry_after_seconds: 43 },
    { type: 'retry_after', retryAfterSeconds: 43 },
  ],
  budget_reset: [
    { type: 'budget_reset', resets_at: '2026-05-18T00:00:00Z' },
    { type: 'budget_reset', resetsAt: '2026-05-18T00:00:00Z' },
  ],
  manual_audit: [{ type: 'manual_audit' }, { type: 'manual_audit' }],
  choose_action: [
    { type: 'choose_action', actions: ['a'] },
    { type: 'choose_action', actions: ['a'] },
  ],
  fix_input: [
    { type: 'fix_input', fields: ['a'] },
    { type: 'fix_input', fields: ['a'] },
  ],
  reconcile: [
    { type: 'reconcile', call_id: 'call_1' },
    { type: 'reconcile', callId: 'call_1' },
  ],
  escalated: [
    { type: 'escalated', ticket_id: 'tic_1', queue: 'ops' },
    { type: 'escalated', ticketId: 'tic_1', queue: 'ops' },
  ],
  replan: [
    { type: 'replan', reason: 'stale' },
    { type: 'replan', reason: 'stale' },
  ],
  authenticate: [
    { type: 'authenticate', interaction_id: 'int_1' },
    { type: 'authenticate', interactionId: 'int_1' },
  ],
} as const satisfies Record<WireResolution['type'], readonly [WireResolution, Resolution]>;

for (const [type, [wire, ours]] of Object.entries(pairs))
  test(`${type} has the names of TypeScript`, () => assert.deepEqual(resolutionOf(wire), ours));

test('the table has every resolution there is', () =>
  assert.deepEqual(Object.keys(pairs).sort(), Object.keys(resolutions).sort()));

test('what a newer gateway may add comes through', () =>
  assert.deepEqual(resolutionOf({ type: 'sing', how_many_songs: 3 } as never), { type: 'sing', howManySongs: 3 }));
