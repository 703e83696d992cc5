/**
 * Redeems a reversal token: makes the reversing call from what is on record, and sends it through the whole ladder in
 * the name of the agent of the first call. Its key is that of the reversal, so whoever asks meanwhile gets its result.
 */
import type { CallId } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { replayed } from '../../core/call/answer.ts';
import { isPending, isRefusal, isSuccess, type Reply } from '../../core/call/reply.ts';
import type { Request } from '../../core/call/call.ts';
import { type RefusalReason, type Undone, whyNotRedeem } from '../../core/reversal/redeem-check.ts';
import { type Reversal, reversalKey } from '../../core/reversal/reversal.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { StoredCall, StoredText } from '../../ports/store.ts';
import { awaitElsewhere } from '../call/await-outcome.ts';
import type { Requester } from '../call/requester.ts';
import { storedReply } from '../ending/stored-reply.ts';
import { isMasked } from '../mask.ts';
import { toolOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';

/** `reply` is that of the reversing call, or what a gate said to it. */
export type Redeemed =
  | { readonly kind: 'answered'; readonly reply: Reply }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly why: string | null };

export interface Redeeming {
  readonly requester: Requester;
  readonly waitMs: number | null;
  /** When it was asked for. */
  readonly askedAtMs: number;
}

const refused = (reason: RefusalReason, why: string | null = null): Redeemed => ({ kind: 'refused', reason, why });

export async function redeem(reversal: Reversal, asking: Redeeming, shell: Shell): Promise<Redeemed> {
  const why = whyNotRedeem(reversal, reversal, shell.ports.clock.nowMs());
  if (why === 'redeemed') return resultOf(reversal, asking, shell);
  if (why !== null) return refused(why);
  const made = await reversingArgs(reversal, shell);
  if ('reason' in made) return made;
  const request = requestFor(reversal, made.args, asking.waitMs, shell);
  const reply = await shell.live.callReversal(request, reversal, asking.requester);
  return { kind: 'answered', reply };
}

/**
 * Whoever asked before the reversing call had ended gets its result, and so does whoever comes after it if nobody was
 * handed it. INVARIANT: a token that was used, and whose result somebody has, is refused.
 */
async function resultOf({ redeemedBy }: Reversal, asking: Redeeming, shell: Shell): Promise<Redeemed> {
  const call = redeemedBy === null ? null : await shell.ports.store.call(redeemedBy);
  if (call === null) return refused('redeemed');
  const { requester, askedAtMs } = asking;
  if (isUnderWay(call.state)) {
    const waitMs = asking.waitMs ?? Math.max(0, call.deadlineAtMs - shell.ports.clock.nowMs());
    const waiting = { joined: requester.cancelled ?? requester.left };
    return { kind: 'answered', reply: replayed(await awaitElsewhere(call, waitMs, waiting, shell)) };
  }
  const isLate = askedAtMs > call.updatedAtMs && call.requesterLeftAtMs === null;
  return isLate ? refused('redeemed', call.id) : { kind: 'answered', reply: replayed(await storedReply(call, shell)) };
}

/** The arguments of the reversing call, from what was sent and what came back; or why there are none. */
export async function reversingArgs(
  { call: id }: Reversal,
  shell: Shell,
): Promise<{ readonly args: JsonObject } | Extract<Redeemed, { kind: 'refused' }>> {
  const no = (reason: RefusalReason, why: string | null = null) => ({ kind: 'refused', reason, why }) as const;
  const { store } = shell.ports;
  const call = await store.call(id);
  if (call === null) return no('erased');
  const reverse = (await toolOf(call, shell)).tool?.reverse;
  if (reverse === undefined) return no('no_reversal', `'${call.tool}' is not here, or declares none any more`);
  const args = valueIn(await store.args(id));
  const result = await resultOnRecord(call, shell);
  if (args === undefined || result === undefined) return no('erased');
  const made = reverse.argsFor(args, result);
  if (!made.ok) return no('arguments', made.problem);
  // INVARIANT: what was masked on record is never sent in place of the value.
  return isMasked(canonicalText(made.args)) ? no('masked') : made;
}

const valueIn = (stored: StoredText): Json | undefined =>
  stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : undefined;

/** What the tool returned; of a success that only a read has shown, what the read said. */
async function resultOnRecord({ id }: StoredCall, { ports: { store } }: Shell): Promise<Json | undefined> {
  const reply = valueIn(await store.reply(id));
  if (reply === undefined) return undefined;
  if (isObject(reply) && 'action' in reply) return (reply as JsonObject)['result'] ?? null;
  const settled = (await store.recordsOf(id)).findLast(({ kind }) => kind === 'settled');
  const found = settled?.payloads.find(({ part }) => part === 'result');
  if (found === undefined) return null;
  return found.text === null ? undefined : (JSON.parse(found.text) as Json);
}

function requestFor(
  { call, tries, reverser }: Reversal,
  args: JsonObject,
  waitMs: number | null,
  { limits }: Shell,
): Request {
  return {
    tool: reverser,
    args,
    argsText: canonicalText(args),
    // Its own session may be closed, and a step of a workflow is no reversal: the agent's standing one.
    session: null,
    key: reversalKey(call, tries),
    turn: null,
    expectedSeq: null,
    // Whoever comes second waits for the first.
    waitMs: waitMs ?? limits.defaultDeadlineMs,
    model: null,
    deadlineMs: null,
  };
}

export function undoneBy(redeemed: Redeemed): Undone {
  if (redeemed.kind === 'refused') return { ...redeemed, isTold: false };
  const { reply } = redeemed;
  if (isSuccess(reply)) return { kind: 'reversed', by: reply.call_id as CallId };
  if (isPending(reply)) return { kind: 'later', why: `call ${reply.call_id} is under way` };
  if (!isRefusal(reply)) return { kind: 'later', why: 'it has not ended' };
  if (reply.effect === 'applied') return { kind: 'reversed', by: reply.call_id as CallId };
  if (reply.effect === 'unknown') return { kind: 'unknown', by: reply.call_id as CallId };
  if (passing.has(reply.code)) return { kind: 'later', why: reply.message, isPassing: true };
  return { kind: 'refused', reason: 'refused', why: reply.message, isTold: false };
}

/** Refusals that may pass with time. */
const passing: ReadonlySet<string> = new Set([
  'RATE_EXCEEDED',
  'CREDENTIAL_UNAVAILABLE',
  'DAEMON_NOT_READY',
  'StoreUnavailable',
  'Busy',
  'ActionInFlight',
  'ResourceBusy',
]);
