/**
 * A body calls another tool: through every gate, like anybody, and no further than the session that the body runs in may reach.
 * Never rejects.
 */
import type { Principal } from '../../core/call/call.ts';
import type { Reach } from '../../core/policy/policy.ts';
import type { Reply } from '../../core/call/reply.ts';
import { openSession } from '../session/fetch-session.ts';
import { handleCall } from './handle-call.ts';
import { sayFault } from './record-refusal.ts';
import type { BodyOf, NestedRequest, Shell } from '../shell.ts';

/** `ceiling`: of the body's session, for a call that names none; null for as far as policy lets it. */
export async function nestedCall(
  request: NestedRequest,
  who: Principal,
  bodyOf: BodyOf,
  ceiling: Reach | null,
  shell: Shell,
): Promise<Reply> {
  if (ceiling === null) return handleCall(request, who, { bodyOf }, shell);
  // INVARIANT: the agent's standing session has no ceiling, so it is not the place for this.
  const opened = await openSession(who, false, shell, ceiling);
  if ('fault' in opened) return sayFault(request.tool, null, opened.fault, shell);
  return handleCall({ ...request, session: opened.id }, who, { bodyOf }, shell);
}
