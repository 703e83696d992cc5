/** Rechecks policy and approval before a call is sent again. Null if it may be sent; else why not. */
import type { Request } from '../../core/call/call.ts';
import { recheck } from '../../core/call/recheck.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { StoredCall } from '../../ports/store.ts';
import { firstFacts } from '../call/first-facts.ts';
import type { Shell } from '../shell.ts';
import type { Work } from './work.ts';

export async function whyNotResend(call: StoredCall, { tool, args, step }: Work, shell: Shell): Promise<string | null> {
  const { id, tenant, agent, session, seq } = call;
  // Which model asked is not on record, and it passed when it did: a rule that reads it denies.
  const request = { tool: tool.name, args, session, model: null } as Request;
  const facts: Facts = {
    ...firstFacts({ tenant, agent }, shell),
    catalogue: new Map([[tool.name, tool]]),
    ...(session === null ? {} : { session: { found: true, id: session, state: 'open', reason: null, seq, step } }),
  };
  const first = recheck(request, facts);
  const answer = first.kind === 'need' ? recheck(request, facts, await shell.ports.store.approvalOfCall(id)) : first;
  return answer.kind === 'denied' ? answer.message : null;
}
