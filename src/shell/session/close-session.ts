/** Closes a workflow session that nobody needs any more, on record with the reason; not while a step of it runs. */
import { canonicalText } from '../../core/values/canonical.ts';
import type { CommitResult, Session } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import type { Shell } from '../shell.ts';
import { bare, noChange } from '../ending/transition.ts';

export type GivenUp = 'capacity' | 'unused' | 'superseded';

export async function closeSession(session: Session, reason: GivenUp, shell: Shell): Promise<CommitResult> {
  const workflow = { ...noChange, turn: 'free', becomes: { state: 'closed', reason } } as const;
  const result = await commit(
    {
      ...bare(shell),
      session: { kind: 'step', id: session.id, advance: false, expectSeq: session.seq, expectOpen: false, workflow },
      records: [
        { kind: 'session_closed', call: null, session: session.id, body: canonicalText({ reason }), payloads: [] },
      ],
    },
    shell,
  );
  shell.live.snapshots.delete(session.id);
  shell.live.streaks.delete(session.id);
  return result;
}
