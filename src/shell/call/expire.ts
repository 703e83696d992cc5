/** The deadline passed before the call could be sent: it is on record, and it never ran. */
import { timedOut } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { RestingReply } from '../../core/call/answer.ts';
import type { CommitResult } from '../../ports/store.ts';
import type { Work } from '../attempt/work.ts';
import { contextHere } from '../ending/call-context.ts';
import { conclude } from '../ending/conclude.ts';
import type { Ending } from '../ending/ending.ts';
import type { CommitParts } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { commit, nobodyWaits } from '../upkeep/commit.ts';

export async function expireUnsent(
  call: Call,
  work: Work,
  parts: CommitParts,
  shell: Shell,
): Promise<
  { readonly kind: 'committed'; readonly reply: RestingReply } | Exclude<CommitResult, { kind: 'committed' }>
> {
  const ending: Ending = {
    events: [{ kind: 'admitted' }, { kind: 'expired' }],
    say: (envelope, effect) => timedOut(envelope, call.deadlineAtMs - call.createdAtMs, effect),
    // What never runs takes no turn.
    parts: { ...parts, workflow: null },
  };
  const { reply, transition } = conclude(call, ending, contextHere(work, shell), shell);
  const result = await commit(transition, shell);
  nobodyWaits(result, shell);
  return result.kind === 'committed' ? { kind: 'committed', reply } : result;
}
