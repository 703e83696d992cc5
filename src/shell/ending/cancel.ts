/**
 * Cancels a call, a turn or a session: first on record, then whatever of it runs here. Only the agent that owns it can.
 */
import { cancelled, type CancelScope } from '../../core/call/answer.ts';
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { RecordKind } from '../../core/journal/record.ts';
import { isSuccess, type Reply } from '../../core/call/reply.ts';
import type { SessionChange, StoredCall } from '../../ports/store.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { commit, markAnswered, pause } from '../upkeep/commit.ts';
import { callStates } from '../../core/taxonomy.ts';
import { endContinuation } from '../ticket/end-continuation.ts';
import { endApproval } from '../approval/end-approval.ts';
import { concludeElsewhere } from './conclude.ts';
import { endOfTurn } from './turn-rider.ts';
import type { Say } from './ending.ts';
import type { Running, Shell } from '../shell.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { storedReply } from './stored-reply.ts';
import { bare, note, numbered } from './transition.ts';

export type Cancelled = 'cancelled' | 'not_found' | 'already_ended' | 'store_unavailable';

/** One call, a turn of a session, or the whole session. */
export type CancelTarget = { readonly call: string } | { readonly session: string; readonly turn?: string };

export function cancel(target: CancelTarget, who: Principal, shell: Shell): Promise<Cancelled> {
  if ('call' in target) return cancelCall(target.call as CallId, who, shell);
  const session = target.session as SessionId;
  return target.turn === undefined ? cancelSession(session, who, shell) : cancelTurn(session, target.turn, who, shell);
}

export async function cancelCall(id: CallId, who: Principal, shell: Shell): Promise<Cancelled> {
  const running = shell.live.running.get(id);
  if (running !== undefined && owns(who, running.call)) {
    running.cancel('ToolCancelled');
    const [end] = await Promise.allSettled([running.outcome]);
    // It may have come back in the very same moment.
    return end.status === 'fulfilled' && isWholeSuccess(end.value.reply) ? 'already_ended' : 'cancelled';
  }
  const call = await shell.ports.store.call(id);
  if (call === null || !owns(who, call)) return 'not_found';
  if (callStates[call.state].terminal) return cancelContinuation(call, shell);
  const isElsewhere = call.state === 'DISPATCHED' || call.state === 'RETRY_WAIT';
  return isElsewhere ? stopElsewhere(call, shell) : cancelWaiting(call, 'ToolCancelled', shell);
}

/** A person has answered the ticket of a call that has ended, and its agent does not want it to go on any more. */
async function cancelContinuation(call: StoredCall, shell: Shell): Promise<Cancelled> {
  const due = (await shell.ports.store.ticketsOf(call.id)).filter(({ work }) => work === 'due');
  let stopped: Cancelled = 'already_ended';
  for (const ticket of due) {
    // INVARIANT: the intent of what goes on and this are a compare-and-set of the ticket: one of them happens.
    const result = await endContinuation(ticket, call, null, 'its agent cancelled it', shell);
    if (result.kind === 'unavailable') return 'store_unavailable';
    if (result.kind === 'committed') stopped = 'cancelled';
  }
  return stopped;
}

/** How long an answer waits for the process that runs the call: it looks with each sweep. */
const maxStopMs = 10_000;
const pollEveryMs = 100;

/** The process that sent it is the one to stop it. INVARIANT: that it must is on record, whoever dies meanwhile. */
async function stopElsewhere(call: StoredCall, shell: Shell): Promise<Cancelled> {
  const { clock, store } = shell.ports;
  const until = clock.monotonicMs() + maxStopMs;
  for (let found: StoredCall | null = call; found !== null; found = await store.call(call.id)) {
    if (!isUnderWay(found.state)) return howItEnded(found, shell);
    const asked = await askOrStop(found, shell);
    // Another was faster, or it is asked now: what became of that is on record.
    if (asked !== 'already_ended') return asked;
    if (clock.monotonicMs() >= until) return 'cancelled';
    await pause(clock, pollEveryMs);
  }
  return 'not_found';
}

/** `already_ended`: nothing is settled yet. Between two attempts nobody has the call, and whoever is first stops it. */
async function askOrStop(call: StoredCall, shell: Shell): Promise<Cancelled> {
  if (call.state !== 'DISPATCHED') return cancelWaiting(call, 'ToolCancelled', shell);
  if (call.stopAsked === true) return 'already_ended';
  const mark = { kind: 'mark', id: call.id, requester: null, repeats: 0, stop: true } as const;
  const records = [note('stop_asked', call, {})];
  const result = await commit({ ...bare(shell), call: mark, session: numbered(call), records }, shell);
  return result.kind === 'unavailable' ? 'store_unavailable' : 'already_ended';
}

const howItEnded = async (call: StoredCall, shell: Shell): Promise<Cancelled> =>
  call.state === 'SUCCEEDED' && isWholeSuccess(await storedReply(call, shell)) ? 'already_ended' : 'cancelled';

/** Of a call of which some items were done, the cancellation stopped the others. */
const isWholeSuccess = (reply: Reply): boolean =>
  isSuccess(reply) && !(reply.errors ?? []).some((error) => error.class === 'Cancellation');

export async function cancelTurn(id: SessionId, turn: string, who: Principal, shell: Shell): Promise<Cancelled> {
  const change: SessionChange = { kind: 'cancel_turn', id, turn };
  const isPart = ({ call }: Running) => call.session === id && call.turn === turn;
  return cancelAll({ change, record: 'turn_cancelled', scope: 'TurnCancelled', isPart }, who, shell);
}

export async function cancelSession(id: SessionId, who: Principal, shell: Shell): Promise<Cancelled> {
  const isPart = ({ call }: Running) => call.session === id;
  const change: SessionChange = { kind: 'cancel', id };
  return cancelAll({ change, record: 'session_cancelled', scope: 'SessionCancelled', isPart }, who, shell);
}

interface Cancellation {
  readonly change: Extract<SessionChange, { kind: 'cancel' | 'cancel_turn' }>;
  readonly record: RecordKind;
  readonly scope: CancelScope;
  readonly isPart: (running: Running) => boolean;
}

async function cancelAll(
  { change, record, scope, isPart }: Cancellation,
  who: Principal,
  shell: Shell,
): Promise<Cancelled> {
  const session = await shell.ports.store.session(change.id);
  if (session === null || !owns(who, session)) return 'not_found';
  const body = canonicalText(change.kind === 'cancel_turn' ? { turn: change.turn } : {});
  const records = [{ kind: record, call: null, session: change.id, body, payloads: [] }];
  const result = await commit({ ...bare(shell), session: change, records }, shell);
  if (result.kind === 'unavailable') return 'store_unavailable';
  if (result.kind === 'conflict') return 'already_ended';
  // INVARIANT: no new call passes the session gate from here on, so what runs now is all there is to stop.
  const parts = [...shell.live.running.values()].filter(isPart);
  for (const running of parts) running.cancel(scope);
  await Promise.allSettled(parts.map((running) => running.outcome));
  // What waits for its next attempt, or for a person, is stopped now, not when its time has come.
  for (const state of ['RETRY_WAIT', 'AWAITING_APPROVAL'] as const) {
    const filter = { session: change.id, state, limit: shell.limits.sweepBatch };
    for (const call of await shell.ports.store.listCalls(filter))
      if (change.kind === 'cancel' || call.turn === change.turn) await cancelWaiting(call, scope, shell);
  }
  return 'cancelled';
}

/**
 * Stops what runs here and was cancelled in another process, by itself or with its session or turn. Looked for by every
 * sweep: the process that cancels cannot reach what another one has sent.
 */
export async function stopCancelledElsewhere(shell: Shell): Promise<void> {
  const { store } = shell.ports;
  for (const running of shell.live.running.values()) {
    const { id: call, session: id, turn } = running.call;
    if ((await store.call(call))?.stopAsked === true) running.cancel('ToolCancelled');
    else if (id === null) continue;
    else if ((await store.session(id))?.state === 'cancelled') running.cancel('SessionCancelled');
    else if (turn !== null && (await isTurnCancelled(id, turn, shell))) running.cancel('TurnCancelled');
  }
}

/** Of a turn that a failure ended, what was begun goes on. */
export const isTurnCancelled = async (id: SessionId, turn: string, shell: Shell): Promise<boolean> =>
  (await shell.ports.store.turnCancelled(id, turn)) && (await endOfTurn(id, turn, shell)) === null;

/** Stops a call between two attempts, or before the first: nothing of it runs anywhere. */
export async function cancelWaiting(call: StoredCall, scope: CancelScope, shell: Shell): Promise<Cancelled> {
  if (call.state === 'AWAITING_APPROVAL') return giveUp(call, scope, shell);
  const say: Say = (envelope, effect) => cancelled(envelope, scope, effect);
  const concluded = await concludeElsewhere(call, { events: [{ kind: 'cancelled' }], say }, shell);
  if (concluded === null) return 'already_ended';
  const result = await commit(concluded.transition, shell);
  markAnswered(result, shell);
  if (result.kind === 'unavailable') return 'store_unavailable';
  return result.kind === 'committed' ? 'cancelled' : 'already_ended';
}

/** Nobody is asked any more about a call that its caller gave up. */
async function giveUp(call: StoredCall, scope: CancelScope, shell: Shell): Promise<Cancelled> {
  const approval = await shell.ports.store.approvalOfCall(call.id);
  invariant(approval !== null, 'a call that waits has its approval');
  const ending = await endApproval(approval, { kind: 'cancelled', scope }, shell);
  if (ending.kind === 'store_unavailable') return ending.kind;
  return ending.kind === 'ended' ? 'cancelled' : 'already_ended';
}

function owns(who: Principal, thing: Principal): boolean {
  return thing.tenant === who.tenant && thing.agent === who.agent;
}
