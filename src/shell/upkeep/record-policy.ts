/** Puts the policy on record: its hash beside each decision, its text once, and by whose word another one came into force. */
import { canonicalText } from '../../core/values/canonical.ts';
import { operatorTenant } from '../../core/call/identity.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { voidUnbound } from '../approval/bound-now.ts';
import { commit } from './commit.ts';
import type { Blob } from '../../ports/store.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';

const hashes = new WeakMap<Policy, string>();

export function policyHash(policy: Policy, shell: Shell): string {
  const known = hashes.get(policy) ?? shell.ports.sha256(policy.canonical);
  hashes.set(policy, known);
  return known;
}

/** Blobs that are known to be in the store. Whatever is forgotten is written once more, and kept once. */
const maxKnownBlobs = 4_096;

/** After the commit that carried them. */
export function rememberBlobs(blobs: readonly Pick<Blob, 'hash'>[], { live: { knownBlobs } }: Shell): void {
  if (knownBlobs.size + blobs.length > maxKnownBlobs) knownBlobs.clear();
  for (const { hash } of blobs) knownBlobs.add(hash);
}

/** Nothing where no policy is configured. */
export function policyOnRecord(
  policy: Policy | null,
  shell: Shell,
): { readonly body: JsonObject; readonly blobs: readonly Blob[] } {
  if (policy === null) return { body: {}, blobs: [] };
  const hash = policyHash(policy, shell);
  // Known once a commit has carried it; until then every commit does, and the same blob is kept once.
  const blobs = shell.live.knownBlobs.has(hash) ? [] : [{ hash, text: policy.canonical }];
  return { body: { policy: hash }, blobs };
}

export interface AppliedPolicy {
  /** Null where no agents are declared, and only errors of workflows are forced. */
  readonly next: Policy | null;
  readonly last: Policy | null;
  readonly by: string;
  /** What `recourse check` calls an error of it, in spite of which it is in force. */
  readonly forced?: readonly string[];
}

const maxProblems = 50;

/** False if it could not be recorded: then it must not be in force. */
export async function recordPolicy({ next, last, by, forced = [] }: AppliedPolicy, shell: Shell): Promise<boolean> {
  // INVARIANT: an approval that one policy voided is void before the next one counts. What was opened since, by calls that were
  // judged under the policy before, is void by the present one.
  if (
    !(await voidUnbound(
      [last, next].filter((each) => each !== null),
      'leave',
      shell,
    ))
  )
    return false;
  const [hash, previous] = [next, last].map((each) => (each === null ? null : policyHash(each, shell)));
  const body = canonicalText({
    tenant: operatorTenant,
    policy: hash ?? null,
    previous: previous ?? null,
    by,
    mode: next?.written.mode ?? null,
    ...(forced.length === 0 ? {} : { forced: true, problems: forced.slice(0, maxProblems) }),
  });
  const result = await commit(
    {
      ...bare(shell),
      blobs: next === null || hash === null || hash === undefined ? [] : [{ hash, text: next.canonical }],
      records: [{ kind: 'policy_applied', call: null, session: null, body, payloads: [] }],
    },
    shell,
  );
  return result.kind === 'committed';
}
