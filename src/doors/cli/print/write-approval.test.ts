/** What a decision about spending leads to, beside one about a call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalView } from '../../../core/approval/approval-view.ts';
import { consequence, pairsOf } from './write-approval.ts';

const view = (tool: string, args: ApprovalView['args'], state: ApprovalView['state'] = 'pending') =>
  ({
    tool,
    args,
    state,
    needed: 1,
    approvers: null,
    approved_by: [],
    decided: null,
    session: null,
    reason: null,
    on_approve: 'wait',
    expires_at: '2026-06-01T00:00:00Z',
    rule_ref: 'recourse.yaml:3',
    opened_at: '2026-05-18T00:00:00Z',
    agent: 'local',
    call_id: 'call_1',
  }) as unknown as ApprovalView;

const thenOf = (approval: ApprovalView) => pairsOf(approval, 0).find(([name]) => name === 'then')?.[1];

test('a decision about spending is not about an equal call', () => {
  const spending = (state: ApprovalView['state']) => view('budget daily', { beyond: '$20.00' }, state);
  assert.equal(thenOf(spending('pending')), 'once approved, any call may spend so much more until the window ends');
  for (const state of ['granted', 'denied', 'revoked'] as const) {
    assert.match(consequence(spending(state)), /until the window ends$/);
    assert.match(consequence(view('pay', {}, state)), /equal call/);
  }
  assert.equal(thenOf(view('pay', {})), "once approved, the agent's next equal call runs it");
});
