/** Do the rules still stand under which an approval was asked for? Only reads; what follows from a no is for whoever asks. */
import type { Approval } from '../core/approval.ts';
import { rulesOf } from './fetch-approval.ts';
import { policyOf, type Shell } from './shell.ts';
import { toolOf } from './tool-of.ts';

export async function isBoundNow({ agent, callId, rules }: Approval, shell: Shell): Promise<boolean> {
  const policy = policyOf(agent, shell)?.agent ?? null;
  if (policy === null) return false;
  const call = await shell.ports.store.call(callId);
  const tool = call === null ? undefined : (await toolOf(call, shell)).tool;
  // Another process may have the tool; the gate knows when the call is asked for there.
  return tool === undefined || rules === rulesOf(policy.canonicalFor(tool.policyName), shell);
}
