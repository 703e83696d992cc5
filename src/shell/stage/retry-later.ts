/**
 * Tries a stage again when its time has come: the same step with the same inputs, as a call of its own with a key of its
 * own, through every gate. The timer stays with the session until that call has ended, so a crash loses nothing, and the
 * key keeps it from being made twice.
 */
import type { CallId, SessionId } from '../../core/call/call.ts';
import { isPending, isRefusal, type Reply } from '../../core/call/reply.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { suppressed } from '../../core/values/suppressed.ts';
import { type LaterTry, readLater, withLater, withoutLater } from '../../core/workflow/stage-rule.ts';
import type { Session } from '../../ports/store.ts';
import { handleCall } from '../call/handle-call.ts';
import { bare, noChange } from '../ending/transition.ts';
import { isMasked } from '../mask.ts';
import { digestOf, draftOf, manifestOf, resumption, snapshotOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';

/** Begins what is due in this session; the step runs beside the sweep. */
export async function tryLater(id: SessionId, shell: Shell): Promise<void> {
  const session = await shell.ports.store.session(id);
  const later = session === null ? null : await dueIn(session, shell);
  const { runsLater, unanswered, draining } = shell.live;
  if (session === null || later === null || runsLater.has(later.call) || draining) return;
  runsLater.add(later.call);
  const run = runAgain(session, later, shell)
    .catch((error: unknown) => void shell.ports.notify(suppressed(`a stage of session ${id}`, error)))
    .finally(() => {
      runsLater.delete(later.call);
      unanswered.delete(run);
    });
  unanswered.add(run);
}

async function dueIn(session: Session, shell: Shell): Promise<LaterTry | null> {
  const { workflow, state } = session;
  const served = shell.workflows.get(workflow?.name ?? '');
  if (state !== 'open' || workflow === null || workflow.turn !== null || served === undefined) return null;
  if (manifestOf(served, shell) !== workflow.manifest) return null;
  const now = shell.ports.clock.nowMs();
  const { snapshot } = await snapshotOf(session, shell);
  return snapshot.timers.map(readLater).find((later) => later !== null && later.dueAtMs <= now) ?? null;
}

async function runAgain({ id, tenant, agent }: Session, later: LaterTry, shell: Shell): Promise<void> {
  const { store } = shell.ports;
  const first = await store.call(later.call as CallId);
  const args = await store.args(later.call as CallId);
  if (first === null || args.kind !== 'text' || isMasked(args.text))
    return settleTimer(id, later, null, 'its inputs are not on record any more', shell);
  const step = {
    action: later.action,
    inputs: JSON.parse(args.text) as Json,
    session: id,
    key: `later:${later.call}`,
    ...(first.turn === null ? {} : { turn: first.turn }),
  };
  const reply = await handleCall(step, { tenant, agent }, {}, shell, { session: id });
  if (isLeft(reply)) return;
  return settleTimer(id, later, againAtMs(reply, shell), isRefusal(reply) ? reply.code : 'succeeded', shell);
}

/** Nothing was decided about it: the timer stays, and the next sweep looks again. */
function isLeft(reply: Reply): boolean {
  if (isPending(reply)) return true;
  if (!isRefusal(reply)) return false;
  const { error, code } = reply;
  return error === 'action_in_flight' || code === 'StoreUnavailable' || code === 'Busy' || code === 'DAEMON_NOT_READY';
}

/** When a refusal says when to ask again; null: not at all. */
function againAtMs(reply: Reply, { ports }: Shell): number | null {
  if (!isRefusal(reply) || reply.error !== 'denied') return null;
  const { resolution } = reply;
  return resolution.type === 'retry_after' ? ports.clock.nowMs() + resolution.retry_after_seconds * 1_000 : null;
}

/** The end of the step has taken the timer away, unless nothing moved the state. */
async function settleTimer(
  id: SessionId,
  later: LaterTry,
  atMs: number | null,
  came: string,
  shell: Shell,
): Promise<void> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const session = await shell.ports.store.session(id);
    const due = session === null ? null : await dueIn(session, shell);
    if (session === null || due === null || due.call !== later.call) return;
    const { snapshot, digest } = await snapshotOf(session, shell);
    const next =
      atMs === null ? withoutLater(snapshot, later.action) : withLater(snapshot, { ...later, dueAtMs: atMs });
    const draft = draftOf(next);
    const step = session.seq + 1;
    const states = { state_before: digest, state_after: digestOf(id, draft.text, shell), step };
    const body = { timer: `stage ${later.action}`, due_ms: later.dueAtMs, came, ...states };
    const goesOn = resumption(id, { seq: session.seq, digest }, shell);
    const fired = { kind: 'timer_fired', call: null, session: id, body: canonicalText(body), payloads: [] } as const;
    const workflow = { ...noChange, turn: 'free' as const, snapshot: draft };
    const change = { kind: 'step', id, advance: true, expectSeq: session.seq, expectOpen: true, workflow } as const;
    const result = await commit({ ...bare(shell), session: change, records: [...goesOn, fired] }, shell);
    if (result.kind !== 'conflict') return;
  }
}
