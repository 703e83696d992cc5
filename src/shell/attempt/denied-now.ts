/** Does the policy of this moment still permit a call that is to be sent again? Null if it does; else what it says. */
import type { Principal, Request } from '../../core/call/call.ts';
import type { Facts } from '../../core/gates/facts.ts';
import { policy } from '../../core/gates/policy.ts';
import type { StoredCall } from '../../ports/store.ts';
import { firstFacts } from '../call/first-facts.ts';
import type { Shell } from '../shell.ts';
import type { Work } from './work.ts';

export async function deniedNow(call: StoredCall, { tool, args, step }: Work, shell: Shell): Promise<string | null> {
  const who: Principal = { tenant: call.tenant, agent: call.agent };
  const first = firstFacts(who, shell);
  if (first.policy === undefined || first.policy.mode === 'audit') return null;
  const request = { tool: tool.name, args, session: call.session, model: null } as Request;
  const facts: Facts = {
    ...first,
    catalogue: new Map([[tool.name, tool]]),
    ...(call.session === null
      ? {}
      : { session: { found: true, id: call.session, state: 'open', reason: null, seq: call.seq, step } }),
  };
  // Which model asked is not on record, and it passed when it did: a rule that reads it denies.
  const answer = policy.check(request, facts, []);
  if (answer.kind === 'refuse') return answer.refusal.message;
  const approval = await shell.ports.store.approvalOfCall(call.id);
  // INVARIANT: what was approved may go on, and what was taken back may not, whatever else permits it.
  if (approval?.state === 'revoked') return `the approval of ${tool.policyName} was revoked`;
  const asks = answer.kind === 'pass' && answer.obligation !== undefined;
  return asks && approval?.state !== 'used' ? `${tool.policyName} is not approved` : null;
}
