/** Gives the MCP door the approvals of the gateway behind it, and what a client's state is bound to. Must not decide any. */
import { type ApprovalId, stateAt } from '../../core/approval/approval.ts';
import type { AgentPolicy } from '../../core/policy/policy.ts';
import type { DoorApprovals } from '../../doors/mcp/parts.ts';
import { createApprovals } from '../../shell/approval/approvals.ts';
import { policyOf, type Shell } from '../../shell/shell.ts';
import { spendAsking } from '../../shell/call/spend-asking.ts';
import type { Seal } from '../state/seal.ts';

export function approvalsOf(shell: () => Shell, seal: Seal): DoorApprovals {
  const service = () => createApprovals(shell());
  const nowMs = () => shell().ports.clock.nowMs();
  return {
    isServed: ({ agent }) => mayBeDeferred(policyOf(agent, shell())?.agent ?? null),
    read: (...asked) => service().read(...asked),
    wait: (...asked) => service().wait(...asked),
    approve: (...said) => service().approve(...said),
    deny: (...said) => service().deny(...said),
    mayClientDecide: (...asked) => service().mayClientDecide(...asked),
    async binding(id, { tenant, agent }) {
      const { store, sha256 } = shell().ports;
      const found = await store.approval(id as ApprovalId);
      const policy = policyOf(agent, shell())?.agent ?? null;
      if (found === null || policy === null || found.tenant !== tenant || found.agent !== agent) return null;
      if (stateAt(found, nowMs()) !== 'pending') return null;
      const { version, expiresAtMs, session } = found;
      return { version, rules: sha256(policy.canonical), expiresAtMs, session };
    },
    spend: (id, who, version) => spendAsking(id, who, version, shell()),
    seal,
    get waitMs() {
      return shell().limits.approvalWaitMs;
    },
    get maxWaitMs() {
      return shell().limits.maxApprovalWaitMs;
    },
    nowMs,
  };
}

function mayBeDeferred(policy: AgentPolicy | null): boolean {
  if (policy === null) return false;
  const { rules, default: last } = policy.written;
  return last?.effect === 'defer' || rules.some(({ effect }) => effect === 'defer');
}
