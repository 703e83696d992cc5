/**
 * Asks a person to let more be spent than a budget has, in one window. The approval is bound to tenant, budget, window
 * and amount instead of a call; the commit that refuses a call, or warns about it, opens it.
 */
import { type Approval, type Spending } from '../../core/approval/approval.ts';
import { amountText } from '../../core/budget/amount.ts';
import type { SpendingAsk } from '../../core/budget/judge-budgets.ts';
import type { Call } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { type CommitParts, mergeParts, note } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { shownHash } from './approval-service.ts';
import { shownSpending } from './spending.ts';

export const spendingParts = (asks: readonly SpendingAsk[], call: Call, shell: Shell): CommitParts =>
  asks.length === 0 ? {} : mergeParts(asks.map((ask) => openSpending(ask, call, shell)));

/** The same as a commit of its own, for a call that is refused. */
export function spendingTransition(asks: readonly SpendingAsk[], call: Call, shell: Shell) {
  const { approvals = [], accounts = [], notes = [] } = spendingParts(asks, call, shell);
  return { approvals, accounts, records: notes };
}

function openSpending(ask: SpendingAsk, call: Call, shell: Shell): CommitParts {
  const approval = newApproval(ask, call, shell);
  const { tenant } = call;
  // Beside every session: the call may not be on record yet.
  const opened = note(
    'approval_opened',
    { id: call.id, session: null },
    {
      approval: approval.id,
      budget: ask.budget.written.name,
      account: ask.account,
      raise_micros: ask.budget.written.raise.micros,
      unit: ask.budget.written.max.unit,
      refs: approval.refs,
      shown: approval.shown,
      roles: approval.terms.roles,
      needed: approval.terms.needed,
      expires_at_ms: approval.expiresAtMs,
    },
  );
  return {
    // There is one for each window of a budget: what limits those of calls does not count here.
    approvals: [{ approval, expect: null, maxPending: Number.MAX_SAFE_INTEGER }],
    // INVARIANT: an account has one at a time, whoever asks.
    accounts: [{ kind: 'ask', tenant, account: ask.account, approval: approval.id, expect: ask.replaces?.id ?? null }],
    notes: [opened],
  };
}

function newApproval({ id, budget, account, endsAtMs }: SpendingAsk, call: Call, shell: Shell): Approval {
  const { written } = budget;
  const openedAtMs = shell.ports.clock.nowMs();
  const expiresAtMs = Math.min(openedAtMs + written.terms.expiresMs, endsAtMs ?? Number.MAX_SAFE_INTEGER);
  const spending: Spending = {
    budget: written.name,
    account,
    unit: written.max.unit,
    maxMicros: written.max.micros,
    raiseMicros: written.raise.micros,
    endsAtMs,
  };
  const draft: Approval = {
    id,
    version: 1,
    tenant: call.tenant,
    agent: call.agent,
    // It blocks no session: the work that asks for it may be done without it.
    session: null,
    tool: `budget ${written.name}`,
    subject: shell.ports.sha256(canonicalText({ tenant: call.tenant, spending: { ...spending }, id })),
    rules: shell.ports.sha256(canonicalText({ ...spending })),
    evidence: null,
    callId: call.id,
    state: 'pending',
    refs: [written.ref],
    reason: `spend ${amountText(spending.raiseMicros, spending.unit)} beyond the ${written.name} budget`,
    terms: { ...written.terms, onApprove: 'wait', clientMayApprove: false },
    shown: '',
    model: null,
    votes: [],
    edit: null,
    decided: null,
    openedAtMs,
    expiresAtMs,
    spending,
  };
  return { ...draft, shown: shownHash(draft, canonicalText(shownSpending(spending)), shell) };
}
