/**
 * Fetches the secrets that a call needs, and gives attempts their handles. Knows only ids and lifetimes: what is behind
 * a handle is revealed at the wire.
 */
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { credentialsFor } from '../../core/gates/credential.ts';
import type { CredentialFact } from '../../core/gates/facts.ts';
import type { CredentialNow } from '../../core/recovery/plan.ts';
import type { CredentialAnswer, CredentialHandle } from '../../ports/credentials.ts';
import type { Shell } from '../shell.ts';

/** All at once; each has a time limit of its own. */
export async function fetchCredentials(
  tool: ToolEntry | undefined,
  agent: string,
  { ports: { credentials } }: Shell,
): Promise<readonly CredentialFact[]> {
  if (credentials === undefined) return [];
  const names = credentialsFor(tool, agent);
  return Promise.all(names.map(async (name) => ({ name, ...(await credentials.fetch(name)) })));
}

/** For somebody who only looks: nobody is asked, and what was never fetched is expected to be there. */
export function lookAtCredentials(
  tool: ToolEntry | undefined,
  agent: string,
  { ports: { credentials } }: Shell,
): readonly CredentialFact[] {
  if (credentials === undefined) return [];
  const providers = new Map(credentials.states().map(({ name, provider }) => [name, provider]));
  return credentialsFor(tool, agent).map((name) => {
    const unseen = { ok: true, provider: providers.get(name) ?? '', id: null, expiresAtMs: null } as const;
    return { name, ...(credentials.known(name) ?? unseen) };
  });
}

export function handlesFor(
  tool: ToolEntry,
  agent: string,
  { ports: { credentials } }: Shell,
): readonly CredentialHandle[] {
  if (credentials === undefined || tool.credentials === undefined) return [];
  return credentialsFor(tool, agent).map((name) => credentials.handle(name));
}

/** Asks for other secrets than those that the upstream has refused. A child keeps those it was started with. */
export async function refreshCredentials(
  used: readonly CredentialHandle[],
  { ports: { credentials } }: Shell,
): Promise<CredentialNow> {
  const refused = used.flatMap(({ name, inject, usedId }) => {
    const id = usedId();
    return id === null || inject.into === 'env' ? [] : [{ name, id }];
  });
  if (credentials === undefined || refused.length === 0) return null;
  const answers = await Promise.all(
    refused.map(async ({ name, id }) => outcomeOf(await credentials.refresh(name, id), id)),
  );
  return answers.find((each) => each === 'unavailable') ?? answers.find((each) => each === 'new') ?? 'same';
}

function outcomeOf(answer: CredentialAnswer, refusedId: string): 'new' | 'same' | 'unavailable' {
  if (!answer.ok) return 'unavailable';
  return answer.id === refusedId ? 'same' : 'new';
}
