/**
 * Lets a person settle a call in doubt: it took effect, it did not, or nobody will ever know. The record names the
 * person. Agents cannot do this.
 */
import { type Envelope, failed, type RestingReply, succeeded } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { Effect } from '../../core/taxonomy.ts';
import { canonicalise } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { recoveryOfUpstream } from '../../core/recovery/playbook.ts';
import type { JournalEntry, StoredCall } from '../../ports/store.ts';
import { snapshotOf, toolOf } from '../session/position.ts';
import { recoveryOf, type Shell } from '../shell.ts';
import { commit, markAnswered } from '../upkeep/commit.ts';
import { concludeElsewhere } from './conclude.ts';
import type { Ending } from './ending.ts';
import type { CommitParts } from './transition.ts';

export interface Judgement {
  readonly happened: 'yes' | 'no' | 'unknown';
  /** Who says so. */
  readonly by: string;
  /** With `yes`: what the tool returned, as far as it is known. */
  readonly result?: Json;
  /** Says no although an execution may still come. */
  readonly force?: boolean;
  /** The attempt that it is about: a later one may have had an effect that nobody has looked at. */
  readonly attempt?: number;
}

/** `unclear`: what was said is no judgement, and nothing follows from it. */
export type Judged =
  | 'settled'
  | 'not_found'
  | 'not_in_doubt'
  | 'unclear'
  | 'store_unavailable'
  /** An execution may still come: a no counts after this time, or with `force`. */
  | { readonly quarantinedForMs: number };

export async function settleDoubt(id: CallId, judgement: Judgement, shell: Shell): Promise<Judged> {
  const judged = await settleWith(id, judgement, {}, shell);
  return judged === 'moved' ? 'store_unavailable' : judged;
}

/** The same with more in the commit, such as the end of a ticket. `moved`: that did not fit any more. */
export async function settleWith(
  id: CallId,
  judgement: Judgement,
  beside: CommitParts,
  shell: Shell,
): Promise<Judged | 'moved'> {
  // INVARIANT: only the word no is a no; whatever else was said lifts nothing.
  if (!isJudgement(judgement, shell)) return 'unclear';
  if (typeof id !== 'string') return 'not_found';
  if (judgement.happened === 'no' && judgement.force !== true) {
    const leftMs = await quarantineOf(id, shell);
    if (leftMs > 0) return { quarantinedForMs: leftMs };
  }
  return settleAs(id, judgement, shell, beside);
}

/** How long a no is no proof yet; 0 if the call is not in doubt. */
export async function quarantineOf(id: CallId, shell: Shell): Promise<number> {
  const call = await shell.ports.store.call(id);
  if (call === null || call.state !== 'IN_DOUBT') return 0;
  const { tool } = await toolOf(call, shell);
  const { quarantineMs } = tool === undefined ? recoveryOfUpstream(call.tool) : recoveryOf(tool, shell);
  return quarantineLeftMs(await shell.ports.store.recordsOf(id), quarantineMs, shell);
}

/** How long after its doubt a call may still be carried out, from now. */
export function quarantineLeftMs(records: readonly JournalEntry[], quarantineMs: number, shell: Shell): number {
  const doubted = records.findLast(({ kind }) => kind === 'doubted');
  if (doubted === undefined) return 0;
  return doubted.timeMs + quarantineMs + shell.limits.sendWindowMs - shell.ports.clock.nowMs();
}

/** Settles a doubt by a judgement that is known to be one. */
export async function settleAs(
  id: CallId,
  judgement: Judgement,
  shell: Shell,
  beside: CommitParts = {},
): Promise<Exclude<Judged, object> | 'moved'> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const call = await shell.ports.store.call(id);
    if (call === null) return 'not_found';
    // INVARIANT: what was said of one attempt settles no later one.
    const isAnother = judgement.attempt !== undefined && judgement.attempt !== call.attempt;
    if (call.state !== 'IN_DOUBT' || isAnother) return 'not_in_doubt';
    const where = await standing(call, shell);
    const ending: Ending = {
      events: [eventOf(judgement)],
      parts: beside,
      say: (envelope, effect) => replyFor(call, judgement, envelope, effect, shell),
      record: ({ effect }) => ({
        by: judgement.by,
        effect,
        attempt: call.attempt,
        ...(judgement.force === true ? { forced: true } : {}),
        ...where,
      }),
    };
    const concluded = await concludeElsewhere(call, ending, shell);
    invariant(concluded !== null, 'every judgement moves a call that is in doubt');
    const result = await commit(concluded.transition, shell);
    if (result.kind === 'committed') {
      markAnswered(result, shell);
      return 'settled';
    }
    if (result.kind === 'unavailable') return 'store_unavailable';
    if (result.on === 'ticket') return 'moved';
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
  const { happened, by, result, force, attempt } = value;
  const named = typeof by === 'string' && by !== '' && by.length <= limits.maxNameChars && by.isWellFormed();
  const said = happened === 'yes' || happened === 'no' || happened === 'unknown';
  if (force !== undefined && typeof force !== 'boolean') return false;
  if (attempt !== undefined && !Number.isSafeInteger(attempt)) return false;
  return named && said && (result === undefined || canonicalise(result, { maxDepth: limits.maxDepth }).ok);
}

function eventOf({ happened }: Judgement): CallEvent {
  if (happened === 'unknown') return { kind: 'closed' };
  return { kind: 'proved', effect: happened === 'yes' ? 'applied' : 'none' };
}

function replyFor(
  { effectClass }: StoredCall,
  { happened, by, result }: Judgement,
  envelope: Envelope,
  effect: Effect,
  shell: Shell,
): RestingReply {
  if (happened === 'yes') return succeeded(envelope, result ?? null, []);
  return failed(envelope, {
    classification: classify('unknown', undefined, effectClass),
    effect,
    errorType: 'Settled',
    message: happened === 'no' ? `${by} found that it did not happen` : `${by} found that nobody will ever know`,
    retryAfterSeconds: null,
    maxMessageChars: shell.limits.maxMessageChars,
  });
}
