/** Which calls stand against an answer that lets a call go on: equal ones that its agent made meanwhile. */
import type { CallId } from '../../core/call/call.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import type { EqualCall, StoredCall } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

/** Ids are ordered by the clocks of processes, which may differ; and an equal call may have begun before this one. */
const slackMs = 3_600_000;

/** INVARIANT: what its agent did meanwhile is not done once more. A read may be repeated: undefined. */
export function equalCallsSince(
  { call: after, session }: Ticket,
  call: StoredCall | null,
  { ports }: Shell,
): EqualCall | undefined {
  if (call === null || session === null || call.effectClass === 'pure') return undefined;
  const from = ports.ids.ordered('call_', Math.max(0, call.createdAtMs - slackMs)) as CallId;
  return { session, fingerprint: call.fingerprint, after, from };
}
