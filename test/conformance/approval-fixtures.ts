/** What do approvals look like in the tests of stores? What a test does not say is ordinary. */
import {
  type Approval,
  type ApprovalId,
  type ApprovalState,
  approvalStates,
  defaultTerms,
} from '../../src/core/approval/approval.ts';
import type { CallId } from '../../src/core/call/call.ts';
import type { ApprovalWrite, Store, Transition } from '../../src/ports/store.ts';
import { aTransition, mustCommit, nextId, startMs } from './store-fixtures.ts';

export const states = Object.keys(approvalStates) as ApprovalState[];

export function anApproval(over: Partial<Approval> = {}): Approval {
  return {
    id: nextId('apr') as ApprovalId,
    version: 1,
    tenant: 'acme',
    agent: 'clerk',
    session: null,
    tool: 'refund',
    subject: nextId('subject'),
    rules: 'rules',
    evidence: null,
    callId: nextId('call') as CallId,
    state: 'pending',
    refs: ['clerk.policy:3', 'clerk.policy:9'],
    reason: 'large refunds',
    terms: defaultTerms,
    shown: 'shown',
    model: null,
    votes: [],
    edit: null,
    decided: null,
    openedAtMs: startMs,
    expiresAtMs: startMs + 1_000,
    ...over,
  };
}

/** The next version, with what changes. */
export function becoming(approval: Approval, over: Partial<Approval>): ApprovalWrite {
  const { version } = approval;
  return { approval: { ...approval, ...over, version: version + 1 }, expect: version, maxPending: null };
}

export const approving = (approvals: readonly ApprovalWrite[]): Transition => aTransition({ approvals });

export const openingOf = (approval: Approval, maxPending = 100): Transition =>
  approving([{ approval, expect: null, maxPending }]);

export async function mustOpenApproval(
  store: Store,
  over: Partial<Approval> = {},
  maxPending = 100,
): Promise<Approval> {
  const approval = anApproval(over);
  await mustCommit(store, openingOf(approval, maxPending));
  return approval;
}
