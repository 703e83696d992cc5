/**
 * The user of a client was asked about an approval, and the client comes back: by that the asking is used up, on record, whatever
 * they said. INVARIANT: once, in all processes and after every restart. Must not decide anything.
 */
import { type ApprovalId, stateAt } from '../../core/approval/approval.ts';
import type { Principal } from '../../core/call/call.ts';
import { commit } from '../upkeep/commit.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';

/** False if somebody has said something since this version, was faster, or it cannot be written down. */
export async function spendAsking(
  id: string,
  { tenant, agent }: Principal,
  version: number,
  shell: Shell,
): Promise<boolean> {
  const { store, clock } = shell.ports;
  const found = await store.approval(id as ApprovalId);
  if (found === null || found.tenant !== tenant || found.agent !== agent || found.version !== version) return false;
  if (stateAt(found, clock.nowMs()) !== 'pending') return false;
  const spent = { approval: { ...found, version: version + 1 }, expect: version, maxPending: null };
  return (await commit({ ...bare(shell), approvals: [spent] }, shell)).kind === 'committed';
}
