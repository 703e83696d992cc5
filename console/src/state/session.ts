/** Who is signed in, and what they may do. Buttons ask `mayDo`; the API refuses by itself as well. */
import { signal } from '@preact/signals';
import type { KeyRole, Permission } from '../../../src/core/call/identity.ts';
import { type Answer, ask, get, post } from './api.ts';
import { takeCode } from './route.ts';
import { stopLive } from './live.ts';
import { onSignedOut } from './signed-out.ts';

export interface Who {
  readonly tenant: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly may: readonly Permission[];
  readonly version: string;
  readonly expires_at: string | null;
}

export type SessionState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'starting'; readonly says: string }
  | { readonly kind: 'signed_out'; readonly says: string | null }
  | { readonly kind: 'signed_in'; readonly who: Who };

export const session = signal<SessionState>({ kind: 'asking' });

const at = '/v1/console/session';
const askAgainMs = 1_000;

export async function startSession(): Promise<void> {
  onSignedOut((why) => {
    if (session.value.kind !== 'signed_in') return;
    stopLive();
    session.value = { kind: 'signed_out', says: why };
  });
  const code = takeCode();
  await settle(code === null ? () => get<Who>(at) : () => post<Who>(at, { code }), code !== null);
}

export const signInWithKey = (key: string): Promise<void> => settle(() => post<Who>(at, { key: key.trim() }), true);

async function settle(request: () => Promise<Answer<Who>>, tellsWhy: boolean): Promise<void> {
  const answer = await request();
  if (answer.ok) {
    // An agent may use the API with its key; the console is for people.
    session.value = answer.value.may.includes('look')
      ? { kind: 'signed_in', who: answer.value }
      : { kind: 'signed_out', says: null };
    return;
  }
  const { status, code, detail } = answer.problem;
  if (code === 'DAEMON_NOT_READY' || (status === 503 && code !== 'KeysUnavailable') || status === 0) {
    session.value = { kind: 'starting', says: detail };
    setTimeout(() => void settle(request, tellsWhy), askAgainMs);
    return;
  }
  session.value = { kind: 'signed_out', says: tellsWhy ? detail : null };
}

export async function signOut(): Promise<void> {
  await ask('POST', `${at}/end`, {});
  stopLive();
  session.value = { kind: 'signed_out', says: 'You have signed out.' };
}

export function mayDo(permission: Permission): boolean {
  const now = session.value;
  return now.kind === 'signed_in' && now.who.may.includes(permission);
}
