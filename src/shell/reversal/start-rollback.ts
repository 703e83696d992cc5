/**
 * Starts the rollback of a session, as a part of somebody's commit. From that commit on the session is closed and takes
 * no new call; the sweeper does the work (roll-back.ts), whoever dies meanwhile.
 */
import type { Principal, SessionId } from '../../core/call/call.ts';
import type { Rollback } from '../../core/reversal/reversal.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { CommitParts } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';

/** Whose session it is. */
export type RolledBack = Principal & { readonly id: SessionId };

/**
 * `by`: a person, `playbook`, or a step of a workflow. Started again, it goes on; after it has finished it tries again
 * what could not be undone. The commit needs no session change of its own.
 */
export function startRollback(
  { id, tenant, agent }: RolledBack,
  by: string,
  reason: string,
  shell: Shell,
): CommitParts {
  const rollback: Rollback = {
    session: id,
    tenant,
    agent,
    state: 'running',
    by,
    reason,
    startedAtMs: shell.ports.clock.nowMs(),
    finishedAtMs: null,
    version: 1,
  };
  const body = canonicalText({ by, reason });
  return {
    rollbacks: [{ kind: 'start', rollback }],
    notes: [{ kind: 'rollback_started', call: null, session: id, body, payloads: [] }],
  };
}
