/**
 * Gate 14: whether the secrets that the tool needs can be had. They are fetched only for a tool that has a credential
 * declared; the gate sees their ids and lifetimes, never a secret.
 */
import type { CredentialUse, ToolEntry } from '../call/catalogue.ts';
import type { Refusal } from '../call/refusal.ts';
import type { JsonObject } from '../values/json.ts';
import type { CredentialFact } from './facts.ts';
import { type Gate, pass } from './gate.ts';

export const credential: Gate = {
  name: 'credential',
  check(request, { catalogue, principal, credentials }) {
    if (credentialsFor(catalogue.get(request.tool), principal.agent).length === 0) return pass;
    if (credentials === undefined) return { kind: 'need', fact: 'credentials' };
    const failing = credentials.find((each) => !each.ok);
    return failing === undefined ? pass : { kind: 'refuse', refusal: unavailable(failing) };
  },
  saw: (_, { credentials }) =>
    credentials === undefined ? {} : { credentials: credentials.map((each) => credentialOnRecord(each)) },
};

/** The credentials of a call, in the order of the file. Of several for the same place the first counts. */
export function credentialsFor(entry: Pick<ToolEntry, 'credentials'> | undefined, agent: string): readonly string[] {
  const places = new Set<string>();
  return (entry?.credentials ?? [])
    .filter(({ agents }) => agents === null || agents.includes(agent))
    .filter(({ place }: CredentialUse) => !places.has(place) && places.add(place))
    .map(({ name }) => name);
}

/** INVARIANT: a record says which secret was used by its id, and by nothing else. */
export function credentialOnRecord(fact: CredentialFact): JsonObject {
  const { name, provider } = fact;
  if (fact.ok) return { name, provider, id: fact.id, expires_at_ms: fact.expiresAtMs };
  return { name, provider, reason: fact.reason, retry_after_seconds: fact.retryAfterSeconds };
}

export function unavailable({
  provider,
  reason,
  retryAfterSeconds,
  signIn,
}: Omit<Extract<CredentialFact, { ok: false }>, 'name' | 'ok'>): Refusal & { readonly error: 'denied' } {
  const sentence = `${provider} provider returned: ${reason}`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'CREDENTIAL_UNAVAILABLE',
    message: sentence,
    human_message: sentence,
    provider,
    resolution:
      signIn === undefined
        ? { type: 'retry_after', retry_after_seconds: retryAfterSeconds }
        : { type: 'authenticate', interaction_id: signIn.interactionId },
  };
}
