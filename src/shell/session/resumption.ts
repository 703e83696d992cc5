/**
 * Does this process go on with a workflow session that others wrote to before it? Then the journal says so, in the very commit of
 * what it does first, and before it. What only ends a session, or an earlier step of it, goes on with nothing.
 */
import type { SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Transition } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

/** Sessions that this process knows it has written to. One that is forgotten is said to be resumed once more. */
const maxWritten = 10_000;

/** What comes before the first records of this process; nothing if it opened the session, or has written to it already. */
export function resumption(
  id: SessionId | null,
  { seq, digest }: Pick<StepFact, 'seq' | 'digest'>,
  { live }: Shell,
): readonly RecordDraft[] {
  if (id === null || live.written.has(id)) return [];
  const body = canonicalText({ state_before: digest, state_after: digest, step: seq });
  return [{ kind: 'session_resumed', call: null, session: id, body, payloads: [] }];
}

/** After a commit: what is on record need not be said again. */
export function rememberWritten({ session, records: [first] }: Transition, { live, workflows }: Shell): void {
  if (workflows.size === 0) return;
  if (first?.kind === 'session_resumed' && first.session !== null) remember(first.session, live.written);
  else if (session?.kind === 'open' && session.session.workflow !== null) remember(session.session.id, live.written);
}

function remember(id: SessionId, written: Set<SessionId>): void {
  // A Set keeps the order of insertion: the first is the oldest.
  const [oldest] = written.size < maxWritten || written.has(id) ? [] : written;
  if (oldest !== undefined) written.delete(oldest);
  written.add(id);
}
