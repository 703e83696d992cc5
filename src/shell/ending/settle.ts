/**
 * Writes down how an attempt ended, and answers. If the call has moved on meanwhile, what is on record speaks
 * and this attempt is an orphan: a late answer can end a doubt, and nothing else.
 * Path of a call: 6/7. Next: core/call/answer.ts.
 */
import { type Envelope, failed, pending, type RestingReply } from '../../core/call/answer.ts';
import type { Call, CallId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { advance, isUnderWay } from '../../core/call/lifecycle.ts';
import { isSuccess, type Reply } from '../../core/call/reply.ts';
import type { CallState, Effect } from '../../core/taxonomy.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { StoredCall } from '../../ports/store.ts';
import { commit, keepForLater, nobodyWaits } from '../upkeep/commit.ts';
import { alteredReply, tellAltered } from './altered-reply.ts';
import { asFailedRead, endStep, envelopeOfStep, type Step, type StepEnd } from './end-step.ts';
import { reportsWithin, withTask } from '../completion/open-task.ts';
import { type Answer, nextActions, type Shell } from '../shell.ts';
import { toldElsewhere } from './told-elsewhere.ts';
import { note, type Papers, toTransition } from './transition.ts';
import type { Weighed } from '../attempt/weigh.ts';

export function envelopeOf(call: Call, shell: Shell, step: Step | null = null): Envelope {
  if (step !== null) return envelopeOfStep(call, step.fact, shell, step.inputs);
  return { requested: call.tool, callId: call.id, session: call.session, nextActions: nextActions(shell, call) };
}

export async function settle(
  call: Call,
  ended: Weighed,
  step: Step | null,
  shell: Shell,
  elapsedMs: number,
): Promise<Answer> {
  let from = call;
  const weighed = step === null ? ended : asFailedRead(call, ended, step, shell);
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const [next, effects] = advance(from, weighed.event);
    if (next.state === from.state) {
      await keepOrphan(from, call.attempt, weighed, shell);
      const answer = await answerStored(from.id, shell);
      const unmoved = step !== null && isSuccess(answer.reply) && (await isFenced(from, shell));
      return unmoved ? { ...answer, unmoved } : answer;
    }
    const end = endOf(from, next, weighed, step, shell);
    const { reply } = end;
    const papers = withTask(
      papersOf(next, weighed, end, elapsedMs),
      from,
      next,
      reportsWithin(next, step, shell),
      shell,
    );
    const transition = toTransition(from, next, effects, papers, shell);
    const result = await commit(transition, shell);
    if (result.kind === 'committed') {
      const unmoved = step !== null && from.state === 'IN_DOUBT' && next.state === 'SUCCEEDED';
      return { reply: withSeq(reply, result.seq), position: result.position, ...(unmoved ? { unmoved } : {}) };
    }
    if (result.kind === 'unavailable') {
      // INVARIANT: an outcome that happened is not dropped while the process lives.
      keepForLater(transition, shell, () => settleLate(call, weighed, step, shell));
      return { reply: unrecorded(next, shell, step), position: null };
    }
    invariant(result.on === 'call' && result.found !== null, `settling met a conflict on ${result.on}`);
    from = result.found;
  }
  return answerStored(call.id, shell);
}

/**
 * A step that succeeded and still has its fence has moved no state: its body came back beside its timeout, and ended a doubt. One
 * without has moved it, and only the word of that was lost.
 */
async function isFenced({ id, session }: Call, shell: Shell): Promise<boolean> {
  return session !== null && (await shell.ports.store.fences(session)).some(({ call }) => call.id === id);
}

/** A body came back after its call was settled: it may end a doubt; otherwise it is only kept. */
export async function settleLate(call: Call, weighed: Weighed, step: Step | null, shell: Shell): Promise<void> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const found = await shell.ports.store.call(call.id);
    if (found === null) return;
    const [next, effects] = advance(found, weighed.event);
    const end = endOf(found, next, weighed, step, shell);
    const papers = withTask(papersOf(next, weighed, end, null), found, next, reportsWithin(next, step, shell), shell);
    const notes = [...(papers.notes ?? []), orphanNote(found, call.attempt, next.state, canonicalText(end.reply))];
    const moved = next.state !== found.state;
    const transition = toTransition(found, next, effects, moved ? { ...papers, notes } : { notes }, shell);
    const result = await commit(transition, shell);
    // The requester was answered long ago, or is on record as gone.
    if (result.kind === 'committed') return nobodyWaits(result, shell);
    if (result.kind === 'unavailable')
      return keepForLater(transition, shell, () => settleLate(call, weighed, step, shell));
  }
}

async function keepOrphan(call: Call, attempt: number, weighed: Weighed, shell: Shell): Promise<void> {
  const reply = weighed.reply(envelopeOf(call, shell), 'unknown');
  const notes = [orphanNote(call, attempt, call.state, canonicalText(reply))];
  await commit(toTransition(call, call, [], { notes }, shell), shell);
}

function orphanNote(call: Call, attempt: number, state: Call['state'], text: string) {
  return note('orphaned', call, { attempt, state }, [{ part: 'orphan', text }]);
}

function endOf(from: Call, next: Call, weighed: Weighed, step: Step | null, shell: Shell): StepEnd {
  const effect = effectOf(next.state);
  if (step !== null) return endStep(from, next, weighed, effect, step, shell);
  return { reply: weighed.reply(envelopeOf(next, shell), effect), papers: {}, facts: {} };
}

function papersOf(call: Call, weighed: Weighed, end: StepEnd, elapsedMs: number | null): Papers {
  const effect = effectOf(call.state);
  const elapsed: JsonObject = elapsedMs === null ? {} : { elapsed_ms: Math.round(elapsedMs) };
  const body = { attempt: call.attempt, effect, ...elapsed, ...end.facts, end: weighed.facts };
  const payloads = [{ part: 'reply', text: canonicalText(end.reply) }, ...weighed.payloads];
  return {
    ...end.papers,
    body: { settled: body, doubted: body, cancelled: body },
    payloads: { settled: payloads, doubted: payloads, cancelled: payloads },
  };
}

/** What is proven of a call that rests in this state. */
export function effectOf(state: CallState | '(none)'): Effect {
  if (state === 'SUCCEEDED') return 'applied';
  return state === 'IN_DOUBT' || state === 'CLOSED_UNKNOWN' || state === 'DISPATCHED' || state === 'RETRY_WAIT'
    ? 'unknown'
    : 'none';
}

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
      const reply = await toldElsewhere(JSON.parse(stored.text) as RestingReply, call, shell);
      // The call may have succeeded since it was read: a success tells the sequence it was recorded with.
      const stale = !('error' in reply) && call.state !== 'SUCCEEDED';
      return withSeq(reply, stale ? ((await shell.ports.store.call(call.id))?.seq ?? call.seq) : call.seq);
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

export function withSeq(reply: RestingReply, seq: number): Reply {
  return 'error' in reply ? reply : { ...reply, seq };
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
