/** Under which policy was it decided? Its hash beside each decision, and its text once in the store. */
import type { JsonObject } from '../../core/values/json.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Blob } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

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
export function policyPapers(shell: Shell): { readonly body: JsonObject; readonly blobs: readonly Blob[] } {
  const policy = shell.policy();
  if (policy === null) return { body: {}, blobs: [] };
  const hash = policyHash(policy, shell);
  // Known once a commit has carried it; until then every commit does, and the same blob is kept once.
  const blobs = shell.live.knownBlobs.has(hash) ? [] : [{ hash, text: policy.canonical }];
  return { body: { policy: hash }, blobs };
}
