/** Puts on record that another policy is in force, by whose word, before the first call is decided by it. */
import { canonicalText } from '../core/canonical.ts';
import { operatorTenant } from '../core/identity.ts';
import type { Policy } from '../core/policy/policy.ts';
import { commit } from './commit.ts';
import { policyHash } from './policy-papers.ts';
import type { Shell } from './shell.ts';
import { bare } from './transition.ts';

/** False if it could not be recorded: then it must not be in force. */
export async function recordPolicy(next: Policy, last: Policy | null, by: string, shell: Shell): Promise<boolean> {
  const hash = policyHash(next, shell);
  const previous = last === null ? null : policyHash(last, shell);
  const body = canonicalText({ tenant: operatorTenant, policy: hash, previous, by, mode: next.written.mode });
  const result = await commit(
    {
      ...bare(shell),
      blobs: [{ hash, text: next.canonical }],
      records: [{ kind: 'policy_applied', call: null, session: null, body, payloads: [] }],
    },
    shell,
  );
  return result.kind === 'committed';
}
