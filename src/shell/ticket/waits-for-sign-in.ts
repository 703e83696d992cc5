/** Whether a call cannot be made because nobody has signed in. */
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { credentialsFor } from '../../core/gates/credential.ts';
import type { Shell } from '../shell.ts';

/** The credential of the tool for which a sign-in waits; null if none does. */
export function waitsForSignIn(
  tool: Pick<ToolEntry, 'credentials'> | undefined,
  agent: string,
  { ports: { credentials } }: Shell,
): string | null {
  if (credentials === undefined) return null;
  return credentialsFor(tool, agent).find((name) => credentials.signIn(name) !== null) ?? null;
}
