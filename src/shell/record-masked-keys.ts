/** Tells an operator, and puts on record, that a tool gave a live key of this gateway, which was masked. Ids only. */
import { canonicalText } from '../core/canonical.ts';
import type { Attempt } from '../ports/upstream.ts';
import { commit } from './commit.ts';
import type { Shell } from './shell.ts';
import { bare } from './transition.ts';

export async function recordMaskedKeys(attempt: Attempt, keyIds: readonly string[], shell: Shell): Promise<void> {
  const { callId, session, tenant, agent, tool } = attempt;
  shell.ports.notify({ kind: 'key_masked', callId, agent, tool, keyIds });
  const body = canonicalText({ tenant, agent, tool, attempt: attempt.attempt, key_ids: keyIds });
  await commit({ ...bare(shell), records: [{ kind: 'key_masked', call: callId, session, body, payloads: [] }] }, shell);
}
