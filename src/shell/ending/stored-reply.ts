/**
 * Reads the reply that is on record for a call. What happened is told as it was written; where the session stands, and
 * what is next, is told as it is now. A reply that was erased or altered in the file has an answer of its own.
 */
import { chooseFrom, failed, type FailureFacts, pending, type RestingReply, withSeq } from '../../core/call/answer.ts';
import type { Call, CallId } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Effect } from '../../core/taxonomy.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { stateOf, withDueFired } from '../../core/workflow/step.ts';
import type { StoredCall } from '../../ports/store.ts';
import type { Step } from '../attempt/work.ts';
import { readAhead } from '../session/drift.ts';
import { type Answer, nextActions, type Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { bare, effectOf, note, numbered } from './transition.ts';
import { envelopeOf } from './ending.ts';
import { withReversalNow } from './reversal-now.ts';

/** What the record says: the stored reply, or that the call is still under way elsewhere. */
export async function answerStored(id: CallId, shell: Shell): Promise<Answer> {
  const call = await shell.ports.store.call(id);
  invariant(call !== null, 'a settled call is on record');
  return { reply: await storedReply(call, shell), position: null };
}

export async function storedReply(call: StoredCall, shell: Shell): Promise<Reply> {
  // What is kept of a call that waited for its approval is what its caller was told then.
  if (isUnderWay(call.state)) return pending(envelopeOf(call, shell), 1);
  const stored = await shell.ports.store.reply(call.id);
  switch (stored.kind) {
    case 'text': {
      const reply = await asItStandsNow(JSON.parse(stored.text) as RestingReply, call, shell);
      // The call may have succeeded since it was read: a success tells the sequence it was recorded with.
      const stale = !('error' in reply) && call.state !== 'SUCCEEDED';
      const told = withSeq(reply, stale ? ((await shell.ports.store.call(call.id))?.seq ?? call.seq) : call.seq);
      return withReversalNow(told, call, shell);
    }
    case 'none':
      return pending(envelopeOf(call, shell), 1);
    case 'erased':
      return failed(envelopeOf(call, shell), {
        classification: {
          class: 'ToolTerminal',
          code: 'NotFound',
          verdict: 'server_error_5xx',
          detail: 'erased',
          recognised: false,
          effect: effectOf(call.state),
        },
        effect: effectOf(call.state),
        errorType: 'Erased',
        message: `the reply was erased; the call ended as ${call.state}`,
        retryAfterSeconds: null,
        maxMessageChars: shell.limits.maxMessageChars,
      });
    case 'altered':
      await tellAltered(call, shell);
      return failed(envelopeOf(call, shell), alteredReply(shell.limits.maxMessageChars));
    default:
      return stored satisfies never;
  }
}

/** The attempt ended, or its intent was submitted, and nobody knows what is on record: nothing is promised. */
export function unrecorded(call: Call, shell: Shell, step: Step | null = null): Reply {
  const effect: Effect = call.effectClass === 'pure' ? 'none' : 'unknown';
  return failed(envelopeOf(call, shell, step), {
    classification: {
      class: 'Session',
      code: 'StoreUnavailable',
      verdict: 'server_error_5xx',
      detail: 'unrecorded',
      recognised: false,
      effect,
    },
    effect,
    errorType: 'StoreUnavailable',
    message: 'the store did not say whether it recorded the call; an operator was told, and the record will tell',
    retryAfterSeconds: null,
    maxMessageChars: shell.limits.maxMessageChars,
  });
}

/** The session as it stands now, where the reply does not say it. */
async function asItStandsNow(reply: RestingReply, call: StoredCall, shell: Shell): Promise<RestingReply> {
  const isWhole = 'error' in reply ? reply.valid_next_actions.length > 0 : reply.state !== null || reply.done === true;
  if (isWhole || call.session === null || shell.workflows.size === 0) return reply;
  const session = await shell.ports.store.session(call.session);
  const read = session === null ? null : await readAhead(session, shell);
  // Of a workflow that changed since nobody can say what is next.
  if (session === null || read === null || read.drift !== null) return reply;
  const step = withDueFired(read, shell.ports.clock.nowMs());
  const next = nextActions(shell, call, step);
  if (!('error' in reply)) {
    const { projection, actions } = step.workflow;
    // A call of a body's own is no step; and a state that its author shows to nobody is missing from every reply.
    if (!actions.has(call.tool) || (projection === 'none' && reply.valid_next_actions.length > 0)) return reply;
    return { ...reply, state: stateOf(step), valid_next_actions: next };
  }
  const { resolution } = reply;
  const choice = resolution.type === 'choose_action' ? { resolution: chooseFrom(next) } : {};
  return { ...reply, valid_next_actions: next, ...choice };
}

/** Calls whose altered reply was told; beyond it an operator may hear of one twice. */
const maxRemembered = 10_000;

/** INVARIANT: nothing is claimed of its effect, for the row that tells its state stands in the same file. */
const alteredReply = (maxMessageChars: number): FailureFacts => ({
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

async function tellAltered(call: StoredCall, shell: Shell): Promise<void> {
  const { altered } = shell.live;
  if (altered.has(call.id)) return;
  if (altered.size >= maxRemembered) altered.clear();
  altered.add(call.id);
  const message = `the stored reply of ${call.id} does not match its record: run 'recourse audit verify', and restore a backup`;
  shell.ports.notify({ kind: 'reply_altered', callId: call.id, message });
  await commit({ ...bare(shell), session: numbered(call), records: [note('reply_altered', call, {})] }, shell);
}
