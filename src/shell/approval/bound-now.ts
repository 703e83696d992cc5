/**
 * Do the rules still stand under which an approval was asked for? A changed rule about its tool voids it for good: it does not
 * come back with the rule. Whoever puts another policy in force, or starts with one, calls `voidUnbound` first.
 */
import type { Approval } from '../../core/approval/approval.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { StoredCall } from '../../ports/store.ts';
import { lapse } from './end-approval.ts';
import { rulesOf } from './fetch-approval.ts';
import { policyOf, type Shell } from '../shell.ts';
import { toolOf } from '../call/tool-of.ts';

export async function isBoundNow(approval: Approval, shell: Shell): Promise<boolean> {
  const agent = policyOf(approval.agent, shell)?.agent ?? null;
  if (agent === null) return false;
  const call = await shell.ports.store.call(approval.callId);
  const name = call === null ? null : await policyNameOf(call, shell);
  // Another process may have the tool; the gate knows when the call is asked for there.
  return name === null || approval.rules === rulesOf(agent.canonicalFor(name), shell);
}

/** Agents that none of the policies declares: another process may serve them, or nobody does. */
export type Undeclared = 'leave' | 'void';

/** Voids every waiting approval that one of these policies does not bind as it was asked for. False if the store did not take it. */
export async function voidUnbound(policies: readonly Policy[], undeclared: Undeclared, shell: Shell): Promise<boolean> {
  const { store } = shell.ports;
  const { sweepBatch } = shell.limits;
  for (let after = ''; ;) {
    const page = await store.unfinished(after, sweepBatch);
    const waiting = page.filter(({ state }) => state === 'AWAITING_APPROVAL');
    const done = await Promise.all(waiting.map((call) => voidIfUnbound(call, policies, undeclared, shell)));
    if (done.includes(false)) return false;
    const last = page.at(-1);
    if (last === undefined || page.length < sweepBatch) return true;
    after = last.id;
  }
}

async function voidIfUnbound(
  call: StoredCall,
  policies: readonly Policy[],
  undeclared: Undeclared,
  shell: Shell,
): Promise<boolean> {
  const isDeclared = policies.some(({ agents }) => agents.has(call.agent));
  if (!isDeclared && undeclared === 'leave') return true;
  const approval = await shell.ports.store.approvalOfCall(call.id);
  if (approval === null) return true;
  const name = await policyNameOf(call, shell);
  const isBoundBy = ({ agents }: Policy): boolean => {
    const agent = agents.get(call.agent);
    return agent !== undefined && (name === null || approval.rules === rulesOf(agent.canonicalFor(name), shell));
  };
  if (isDeclared && policies.every(isBoundBy)) return true;
  return (await lapse(approval, shell, 'the rules about its tool have changed')) !== 'store_unavailable';
}

/** The name by which rules know what a call calls; null for an action of a workflow that this process does not have. */
async function policyNameOf(call: StoredCall, shell: Shell): Promise<string | null> {
  const { tool } = await toolOf(call, shell);
  if (tool !== undefined) return tool.policyName;
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  return session === null || session.workflow === null ? call.tool : null;
}
