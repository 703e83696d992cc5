/**
 * A person settles a call that is in doubt: it took effect, it did not, or nobody will ever know. What they say is on record
 * with their name; agents cannot say it.
 */
import { addNotices } from '../../core/call/add-notices.ts';
import { failed, type RestingReply, succeeded } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { advance, type CallEvent } from '../../core/call/lifecycle.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import { commit, nobodyWaits } from '../upkeep/commit.ts';
import { envelopeElsewhere, turnOf } from './end-step.ts';
import { snapshotOf } from '../session/position.ts';
import { noticesOf } from './notices-of.ts';
import { reportsWithinAsDeclared, withTask } from '../completion/open-task.ts';
import { effectOf } from './settle.ts';
import type { Shell } from '../shell.ts';
import { toTransition } from './transition.ts';

export interface Judgement {
  readonly happened: 'yes' | 'no' | 'unknown';
  /** Who says so. */
  readonly by: string;
  /** With `yes`: what the tool returned, as far as it is known. */
  readonly result?: Json;
}

/** `unclear`: what was said is no judgement, and nothing follows from it. */
export type Judged = 'settled' | 'not_found' | 'not_in_doubt' | 'unclear' | 'store_unavailable';

export async function settleDoubt(id: CallId, judgement: Judgement, shell: Shell): Promise<Judged> {
  // INVARIANT: only the word no is a no; whatever else was said lifts nothing.
  if (!isJudgement(judgement, shell)) return 'unclear';
  if (typeof id !== 'string') return 'not_found';
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const call = await shell.ports.store.call(id);
    if (call === null) return 'not_found';
    if (call.state !== 'IN_DOUBT') return 'not_in_doubt';
    const [next, effects] = advance(call, eventOf(judgement));
    const outcome = await replyFor(call, { ...next, state: next.state }, judgement, shell);
    const reply = addNotices(outcome as Reply, await noticesOf(call.id, shell));
    const where = await standing(call, shell);
    const body = { by: judgement.by, effect: effectOf(next.state), attempt: call.attempt, ...where };
    const payloads = [{ part: 'reply', text: canonicalText(reply as unknown as Json) }];
    const papers = { ...(await turnOf(call, next, shell)), body: { settled: body }, payloads: { settled: payloads } };
    const whole = withTask(papers, call, next, await reportsWithinAsDeclared(call.id, shell), shell);
    const result = await commit(toTransition(call, next, effects, whole, shell), shell);
    if (result.kind === 'committed') {
      nobodyWaits(result, shell);
      return 'settled';
    }
    if (result.kind === 'unavailable') return 'store_unavailable';
  }
  return 'store_unavailable';
}

/** Where the workflow stood when it was said: the history tells it beside every entry. */
async function standing({ session: id }: StoredCall, shell: Shell): Promise<JsonObject> {
  const session = id === null ? null : await shell.ports.store.session(id);
  if (session === null || session.workflow === null) return {};
  const { digest } = await snapshotOf(session, shell);
  return { state_before: digest, state_after: digest, step: session.seq };
}

function isJudgement(value: unknown, { limits }: Shell): value is Judgement {
  if (!isObject(value)) return false;
  const { happened, by, result } = value;
  const named = typeof by === 'string' && by !== '' && by.length <= limits.maxNameChars && by.isWellFormed();
  const said = happened === 'yes' || happened === 'no' || happened === 'unknown';
  return named && said && (result === undefined || canonicalise(result, { maxDepth: limits.maxDepth }).ok);
}

function eventOf({ happened }: Judgement): CallEvent {
  if (happened === 'unknown') return { kind: 'closed' };
  return { kind: 'proved', effect: happened === 'yes' ? 'applied' : 'none' };
}

async function replyFor(
  call: StoredCall,
  next: Parameters<typeof envelopeElsewhere>[0],
  { happened, by, result }: Judgement,
  shell: Shell,
): Promise<RestingReply> {
  const envelope = await envelopeElsewhere(next, shell);
  if (happened === 'yes') return succeeded(envelope, result ?? null, []);
  const effect = effectOf(next.state);
  return failed(envelope, {
    classification: classify('unknown', undefined, call.effectClass),
    effect,
    errorType: 'Settled',
    message: happened === 'no' ? `${by} found that it did not happen` : `${by} found that nobody will ever know`,
    retryAfterSeconds: null,
    maxMessageChars: shell.limits.maxMessageChars,
  });
}
