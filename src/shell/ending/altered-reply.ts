/**
 * What is said of a stored reply that is not what its record committed to? Somebody changed the file: the text is told to nobody,
 * the operator hears of it, and it goes on record, once for each call and process.
 */
import type { FailureFacts } from '../../core/call/answer.ts';
import type { StoredCall } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import type { Shell } from '../shell.ts';
import { bare, note, numbered } from './transition.ts';

const maxRemembered = 10_000;

/** INVARIANT: nothing is claimed of its effect, for the row that tells its state stands in the same file. */
export const alteredReply = (maxMessageChars: number): FailureFacts => ({
  classification: {
    class: 'Session',
    code: 'StoreUnavailable',
    verdict: 'server_error_5xx',
    detail: 'altered',
    recognised: false,
    effect: 'unknown',
  },
  effect: 'unknown',
  errorType: 'ReplyAltered',
  message:
    'its stored reply was changed in the store and is not told; an operator was told, who must look at the journal',
  retryAfterSeconds: null,
  maxMessageChars,
});

export async function tellAltered(call: StoredCall, shell: Shell): Promise<void> {
  const { altered } = shell.live;
  if (altered.has(call.id)) return;
  if (altered.size >= maxRemembered) altered.clear();
  altered.add(call.id);
  const message = `the stored reply of ${call.id} does not match its record: run 'recourse audit verify', and restore a backup`;
  shell.ports.notify({ kind: 'reply_altered', callId: call.id, message });
  await commit({ ...bare(shell), session: numbered(call), records: [note('reply_altered', call, {})] }, shell);
}
