/**
 * Records how an attempt ended, and answers. If the call has moved on meanwhile, what is on record is the answer and this attempt
 * is an orphan: a late answer can end a doubt, and nothing else.
 * Path of a call: 6/7. Next: core/call/answer.ts.
 */
import { addNotices } from '../../core/call/notices.ts';
import type { Call } from '../../core/call/call.ts';
import { advance } from '../../core/call/lifecycle.ts';
import { isSuccess } from '../../core/call/reply.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { Interpreted } from '../attempt/interpret-result.ts';
import { type Answer, type Shell } from '../shell.ts';
import { commit, keepForLater, nobodyWaits } from '../upkeep/commit.ts';
import { type CallContext, envelopeOf } from './call-context.ts';
import { conclude } from './conclude.ts';
import type { Ending } from './ending.ts';
import { answerStored, unrecorded, withSeq } from './stored-reply.ts';
import { note, toTransition } from './transition.ts';
import { asFailedRead } from './workflow-rider.ts';

export async function settle(
  call: Call,
  ended: Interpreted,
  context: CallContext,
  elapsedMs: number,
  shell: Shell,
): Promise<Answer> {
  const { step } = context;
  const interpreted = asFailedRead(call, ended, step, shell);
  let from = call;
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const [next] = advance(from, interpreted.event);
    if (next.state === from.state) {
      await keepOrphan(from, call.attempt, interpreted, context, shell);
      const answer = await answerStored(from.id, shell);
      const unmoved = step !== null && isSuccess(answer.reply) && (await isFenced(from, shell));
      return unmoved ? { ...answer, unmoved } : answer;
    }
    const { reply, transition } = conclude(from, endingOf(interpreted, elapsedMs), context, shell);
    const result = await commit(transition, shell);
    if (result.kind === 'committed') {
      const unmoved = step !== null && from.state === 'IN_DOUBT' && next.state === 'SUCCEEDED';
      return { reply: withSeq(reply, result.seq), position: result.position, ...(unmoved ? { unmoved } : {}) };
    }
    if (result.kind === 'unavailable') {
      // INVARIANT: an outcome that happened is not dropped while the process lives.
      keepForLater(transition, shell, () => settleLate(call, interpreted, context, shell));
      return { reply: unrecorded(next, shell, step), position: null };
    }
    invariant(result.on === 'call' && result.found !== null, `settling met a conflict on ${result.on}`);
    from = result.found;
  }
  return answerStored(call.id, shell);
}

/** A body came back after its call was settled: it may end a doubt; otherwise it is only kept. */
export async function settleLate(call: Call, ended: Interpreted, context: CallContext, shell: Shell): Promise<void> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const found = await shell.ports.store.call(call.id);
    if (found === null) return;
    const notes: Ending['notes'] = ({ next, reply }) => [
      orphanNote(found, call.attempt, next.state, canonicalText(reply)),
    ];
    const { transition } = conclude(found, { ...endingOf(ended, null), notes }, context, shell);
    const result = await commit(transition, shell);
    // The requester was answered long ago, or is on record as gone.
    if (result.kind === 'committed') return nobodyWaits(result, shell);
    if (result.kind === 'unavailable')
      return keepForLater(transition, shell, () => settleLate(call, ended, context, shell));
  }
}

function endingOf({ event, say, result, facts, payloads }: Interpreted, elapsedMs: number | null): Ending {
  const elapsed: JsonObject = elapsedMs === null ? {} : { elapsed_ms: Math.round(elapsedMs) };
  return {
    events: [event],
    say,
    result,
    payloads,
    record: ({ next, effect, facts: added }) => ({ attempt: next.attempt, effect, ...elapsed, ...added, end: facts }),
  };
}

/**
 * A step that succeeded and still has its fence has moved no state: its body came back beside its timeout, and ended a doubt. One
 * without has moved it, and only the word of that was lost.
 */
async function isFenced({ id, session }: Call, shell: Shell): Promise<boolean> {
  return session !== null && (await shell.ports.store.fences(session)).some(({ call }) => call.id === id);
}

async function keepOrphan(
  call: Call,
  attempt: number,
  { say }: Interpreted,
  { notices }: CallContext,
  shell: Shell,
): Promise<void> {
  const reply = addNotices(say(envelopeOf(call, shell), 'unknown'), notices);
  const notes = [orphanNote(call, attempt, call.state, canonicalText(reply))];
  await commit(toTransition(call, call, [], { notes }, shell), shell);
}

function orphanNote(call: Call, attempt: number, state: Call['state'], text: string): RecordDraft {
  return note('orphaned', call, { attempt, state }, [{ part: 'orphan', text }]);
}
