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
import { commit, markAnswered } from '../upkeep/commit.ts';
import { endApproval } from '../approval/end-approval.ts';
import { concludeElsewhere } from './conclude.ts';
import type { Say } from './ending.ts';
import type { Running, Shell } from '../shell.ts';
import { bare } from './transition.ts';

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
  // Dispatched and not ours: the process that sent it is the one to stop it.
  if (call.state === 'DISPATCHED') return 'not_found';
  return cancelWaiting(call, 'ToolCancelled', shell);
}

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
 * Stops what runs here of sessions and turns that another process has cancelled. Looked for by every sweep: the process
 * that cancels cannot reach what another one has sent.
 */
export async function stopCancelledElsewhere(shell: Shell): Promise<void> {
  const { store } = shell.ports;
  for (const running of shell.live.running.values()) {
    const { session: id, turn } = running.call;
    if (id === null) continue;
    if ((await store.session(id))?.state === 'cancelled') running.cancel('SessionCancelled');
    else if (turn !== null && (await store.turnCancelled(id, turn))) running.cancel('TurnCancelled');
  }
}

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
