/** Opens a session for calls that belong together, for a door that answers in the words of the wire. */
import { offered } from '../../core/call/answer.ts';
import type { Principal } from '../../core/call/call.ts';
import type { Reach } from '../../core/policy/policy.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { openSession } from './fetch-session.ts';
import { sayFault } from '../call/record-refusal.ts';
import { nextActions, type Shell } from '../shell.ts';

export async function openPlain(who: Principal, ceiling: Reach | null, shell: Shell) {
  const opened = await openSession(who, false, shell, ceiling);
  if ('fault' in opened) return sayFault('open_session', null, opened.fault, shell) satisfies ErrorReply;
  const { id, seq } = opened;
  const next = nextActions(shell, { ...who, session: id });
  return { session: id as string, seq, status: 'open' as const, ...offered(next) };
}
