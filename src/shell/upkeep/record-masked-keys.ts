/** Tells an operator, and puts on record, that a tool gave a live key of this gateway, which was masked. Ids only. */
import { canonicalText } from '../../core/values/canonical.ts';
import type { Attempt } from '../../ports/upstream.ts';
import { commit } from './commit.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';

/** Ids of keys, never their secrets. */
export interface MaskedKeys {
  /** Of keys that work, and no more than a person reads. */
  readonly keyIds: readonly string[];
  /** How many more were masked. Of those that nobody asked about it is not known whether there are such keys. */
  readonly more: number;
}

export async function recordMaskedKeys(attempt: Attempt, keys: MaskedKeys, shell: Shell): Promise<void> {
  const { keyIds, more } = keys;
  const { callId, session, tenant, agent, tool } = attempt;
  shell.ports.notify({ kind: 'key_masked', callId, agent, tool, keyIds, more });
  const body = canonicalText({ tenant, agent, tool, attempt: attempt.attempt, key_ids: keyIds, more });
  await commit({ ...bare(shell), records: [{ kind: 'key_masked', call: callId, session, body, payloads: [] }] }, shell);
}
