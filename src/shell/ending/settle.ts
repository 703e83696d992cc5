/**
 * Records how an attempt ended, or that it was never sent, and answers. If the call has moved on meanwhile, what is on
 * record is the answer, and this attempt is an orphan: a late answer can end a doubt, and nothing else.
 * Path of a call: 6/7. Next: core/call/answer.ts.
 */
import type { StageEnd } from '../../ports/stage.ts';
import { addNotices } from '../../core/call/notices.ts';
import type { Call } from '../../core/call/call.ts';
import { advance, type CallEvent } from '../../core/call/lifecycle.ts';
import { isSuccess, type ErrorReply } from '../../core/call/reply.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { type Interpreted, interpretFailure } from '../attempt/interpret-result.ts';
import type { Answer, Shell } from '../shell.ts';
import { commit, keepForLater, markAnswered } from '../upkeep/commit.ts';
import { type CallContext, contextAfterDoubt, envelopeOf, contextHere, type Ending, type Say } from './ending.ts';
import { conclude } from './conclude.ts';
import { answerStored, unrecorded } from './stored-reply.ts';
import { cancelled, type CancelScope, failed, timedOut, withSeq } from '../../core/call/answer.ts';
import { note, toTransition } from './transition.ts';
import { asFailedRead } from './workflow-rider.ts';
import { classify } from '../../core/recovery/classify.ts';
import { stepOf, type Work } from '../attempt/work.ts';

export async function settle(
  call: Call,
  ended: Interpreted,
  context: CallContext,
  elapsedMs: number,
  shell: Shell,
): Promise<Answer> {
  const { step } = context;
  const interpreted = step === null ? ended : asFailedRead(call, ended, step, shell);
  let from = provenBy(ended, call);
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const [next] = advance(from, interpreted.event);
    if (next.state === from.state) {
      await keepOrphan(from, call.attempt, interpreted, context, shell);
      const answer = await answerStored(from.id, shell);
      const unmoved = step !== null && isSuccess(answer.reply) && (await isFenced(from, shell));
      return unmoved ? { ...answer, unmoved } : answer;
    }
    const now = await contextAfterDoubt(from, context, shell);
    const { reply, transition } = conclude(from, endingOf(interpreted, elapsedMs), now, shell);
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
    // Another step moved the state while a doubt of this one was settled.
    const isLate = result.on === 'session' && from.state === 'IN_DOUBT';
    if (isLate) continue;
    invariant(result.on === 'call' && result.found !== null, `settling met a conflict on ${result.on}`);
    from = result.found;
  }
  return answerStored(call.id, shell);
}

/** INVARIANT: a stage knows of all its attempts what its calls have done; nothing else proves the ones before. */
const provenBy = ({ stage }: Interpreted, call: Call): Call =>
  stage === undefined ? call : { ...call, tainted: false };

/** A body came back after its call was settled: it may end a doubt; otherwise it is only kept. */
export async function settleLate(call: Call, ended: Interpreted, context: CallContext, shell: Shell): Promise<void> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const found = await shell.ports.store.call(call.id);
    if (found === null) return;
    const notes: Ending['notes'] = ({ next, reply }) => [
      orphanNote(found, call.attempt, next.state, canonicalText(reply)),
    ];
    const now = await contextAfterDoubt(found, context, shell);
    const { transition } = conclude(found, { ...endingOf(ended, null), notes }, now, shell);
    const result = await commit(transition, shell);
    // The requester was answered long ago, or is on record as gone.
    if (result.kind === 'committed') return markAnswered(result, shell);
    if (result.kind === 'unavailable')
      return keepForLater(transition, shell, () => settleLate(call, ended, context, shell));
  }
}

function endingOf(
  { event, say, result, use, facts, payloads, dispatch, stage, reverse }: Interpreted,
  elapsedMs: number | null,
): Ending {
  const elapsed: JsonObject = elapsedMs === null ? {} : { elapsed_ms: Math.round(elapsedMs) };
  return {
    events: [event],
    say,
    result,
    use,
    payloads,
    dispatch,
    stage,
    ...(reverse === undefined ? {} : { reverse }),
    record: ({ next, effect, facts: added }) => ({
      attempt: next.attempt,
      effect,
      ...elapsed,
      ...added,
      ...stageOnEnd(stage),
      end: facts,
    }),
  };
}

/** Whoever adopts its result moves the state as the stage would have. */
const stageOnEnd = (stage: StageEnd | undefined): JsonObject =>
  stage === undefined ? {} : { stage_attempts: stage.attempts, stage_outcome: stage.outcome };

/**
 * A step that succeeded and still has its fence has moved no state: its body came back beside its timeout, and ended a
 * doubt. One without has moved it, and only the word of that was lost.
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

const notInTime = 'the gateway could not send it in time';

/** The gateway gives up sending it: its deadline has passed, or it could not be sent in its window. */
export function giveBack(call: Call, work: Work, shell: Shell): Promise<Answer> {
  const isLate = shell.ports.clock.nowMs() >= call.deadlineAtMs;
  const say: Say = isLate
    ? (envelope, effect) => timedOut(envelope, call.deadlineAtMs - call.createdAtMs, effect)
    : sayNeverSent(call, notInTime, shell);
  return endUnsent(call, work, unsent(call, { kind: 'expired' }, say, shell), shell);
}

export function stopUnsent(call: Call, work: Work, scope: CancelScope, shell: Shell): Promise<Answer> {
  const say: Say = (envelope, effect) => cancelled(envelope, scope, effect);
  return endUnsent(call, work, unsent(call, { kind: 'cancelled' }, say, shell), shell);
}

/** For an intent that may be on record although the store could not say so. */
export function endUnrecorded(call: Call, work: Work, shell: Shell) {
  const say = sayNeverSent(call, 'the store could not record the call in time', shell);
  return conclude(call, unsent(call, { kind: 'expired' }, say, shell), contextHere(work, shell), shell).transition;
}

async function endUnsent(call: Call, work: Work, ending: Ending, shell: Shell): Promise<Answer> {
  const { reply, transition } = conclude(call, ending, contextHere(work, shell), shell);
  const result = await commit(transition, shell);
  if (result.kind === 'committed') return { reply: withSeq(reply, result.seq), position: result.position };
  return settleUnsent(call, work, shell);
}

/**
 * The call has moved on, or its end could not be recorded. INVARIANT: whoever has not sent it says so once they can: a
 * doubt that another process has put on record ends with that.
 */
export async function settleUnsent(call: Call, work: Work, shell: Shell): Promise<Answer> {
  // Then its intent never was.
  if ((await shell.ports.store.call(call.id)) === null) {
    const effect = call.tainted ? 'unknown' : 'none';
    const reply = sayNeverSent(call, notInTime, shell)(envelopeOf(call, shell, stepOf(work)), effect);
    return { reply, position: null };
  }
  const failure = {
    kind: 'never_sent',
    subject: null,
    errorType: 'NeverSent',
    message: notInTime,
    effect: 'none',
    retryAfterSeconds: 1,
    code: null,
    cause: null,
  } as const;
  return settle(call, interpretFailure(call, failure, shell.limits), contextHere(work, shell), 0, shell);
}

function unsent(call: Call, event: CallEvent, say: Say, { ports }: Shell): Ending {
  return { events: [{ kind: 'withheld', attempt: call.attempt, atMs: ports.clock.nowMs() }, event], say };
}

function sayNeverSent({ effectClass }: Call, message: string, { limits }: Shell) {
  return (envelope: Parameters<Say>[0], effect: Parameters<Say>[1]): ErrorReply =>
    failed(envelope, {
      classification: classify('never_sent', undefined, effectClass),
      effect,
      errorType: 'NeverSent',
      message,
      retryAfterSeconds: 1,
      maxMessageChars: limits.maxMessageChars,
    });
}
