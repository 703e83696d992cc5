/**
 * Rolls a session back: undoes its calls, the last first, and goes on past those that cannot be undone. Each step is on
 * record before the next begins, so any process can go on where another stopped; the token of each call makes sure that
 * nothing is undone twice.
 */
import type { SessionId } from '../../core/call/call.ts';
import type { Rollback, RollbackStep, StepOutcome } from '../../core/reversal/reversal.ts';
import { isLeft, retriedOutcomes } from '../../core/reversal/reversal.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { suppressed } from '../../core/values/suppressed.ts';
import type { StoredCall } from '../../ports/store.ts';
import { cancelWaiting } from '../ending/cancel.ts';
import { bare } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { callsToUndo, type CallToUndo } from './calls-to-undo.ts';
import { undoCall } from './undo-call.ts';

/** Works on every rollback that is running, beside the sweep; closing the gateway waits for the step under way. */
export async function rollBackAll(shell: Shell): Promise<void> {
  if (!shell.live.readiness.ready) return;
  const running = await shell.ports.store.runningRollbacks(shell.limits.sweepBatch);
  for (const { session } of running) rollBackBeside(session, shell);
}

export function rollBackBeside(session: SessionId, shell: Shell): void {
  const { rollingBack, unanswered, draining } = shell.live;
  if (rollingBack.has(session) || draining) return;
  rollingBack.add(session);
  const run = rollBack(session, shell)
    .catch((error: unknown) => void shell.ports.notify(suppressed(`the rollback of session ${session}`, error)))
    .finally(() => {
      rollingBack.delete(session);
      unanswered.delete(run);
    });
  unanswered.add(run);
}

/** Goes as far as it can now. */
export async function rollBack(session: SessionId, shell: Shell): Promise<void> {
  const rollback = await shell.ports.store.rollback(session);
  if (rollback === null || rollback.state !== 'running') return;
  const calls = await callsToUndo(session, shell);
  if (await stillRuns(calls, shell)) return;
  const known = new Map((await shell.ports.store.rollbackSteps(session)).map((step) => [step.call, step]));
  let { version } = rollback;
  for (const each of calls) {
    const before = known.get(each.call.id) ?? null;
    if (before !== null && !isRetried(before, rollback)) continue;
    const step = shell.live.draining ? 'later' : await stepOf(each, before, { rollback, known }, shell);
    if (step === 'nothing') continue;
    if (step === 'later' || !(await recordStep(session, version, step, shell))) return;
    known.set(each.call.id, step);
    version += 1;
  }
  await finish(rollback, version, [...known.values()], shell);
}

interface Standing {
  readonly rollback: Rollback;
  readonly known: ReadonlyMap<string, RollbackStep>;
}

/** What came of one call; a step that was there before keeps its place. */
async function stepOf(
  { call, hasOwnCalls }: CallToUndo,
  before: RollbackStep | null,
  { rollback, known }: Standing,
  shell: Shell,
): Promise<RollbackStep | 'later' | 'nothing'> {
  const steps = [...known.values()];
  const sinceMs = Math.max(rollback.startedAtMs, ...steps.map(({ atMs }) => atMs));
  const came = await undoCall(call, hasOwnCalls, { ...rollback, sinceMs }, shell);
  if (came.kind === 'later') return came.kind;
  // What never took effect is not listed, unless it was while nobody knew.
  if (came.kind === 'nothing' && before === null) return came.kind;
  const position = before?.position ?? Math.max(0, ...steps.map((step) => step.position)) + 1;
  const outcome = came.kind === 'nothing' ? tookNoEffect : came.step;
  return { call: call.id, tool: call.tool, position, atMs: shell.ports.clock.nowMs(), ...outcome };
}

const tookNoEffect = { outcome: 'nothing_to_undo', why: 'it took no effect', reversal: null } as const;

/** Of a rollback that was started again: what was left, and not yet looked at since. */
const isRetried = ({ outcome, atMs }: RollbackStep, { startedAtMs }: Rollback): boolean =>
  retriedOutcomes.has(outcome) && atMs < startedAtMs;

/**
 * What is under way may still succeed, so the rollback waits for it; what waits for its next attempt, or for a person,
 * is stopped.
 */
async function stillRuns(calls: readonly { readonly call: StoredCall }[], shell: Shell): Promise<boolean> {
  let runs = false;
  for (const { call } of calls) {
    if (call.state === 'DISPATCHED' || call.state === 'PREPARED') runs = true;
    if (call.state !== 'RETRY_WAIT' && call.state !== 'AWAITING_APPROVAL') continue;
    runs = true;
    const running = shell.live.running.get(call.id);
    if (running === undefined) await cancelWaiting(call, 'SessionCancelled', shell);
    else running.cancel('SessionCancelled');
  }
  return runs;
}

/** False if another process was faster, or the store cannot record it: the next sweep goes on. */
async function recordStep(session: SessionId, expect: number, step: RollbackStep, shell: Shell): Promise<boolean> {
  const { call, tool, position, outcome, why, reversal } = step;
  const body = canonicalText({ call, tool, position, outcome, why, reversal });
  const result = await commit(
    {
      ...bare(shell),
      rollbacks: [{ kind: 'step', session, expect, step }],
      records: [{ kind: 'rollback_step', call, session, body, payloads: [] }],
    },
    shell,
  );
  return result.kind === 'committed';
}

async function finish(
  { session }: Rollback,
  expect: number,
  steps: readonly RollbackStep[],
  shell: Shell,
): Promise<void> {
  const body = canonicalText({ ...countsOf(steps), left: steps.filter(({ outcome }) => isLeft(outcome)).length });
  await commit(
    {
      ...bare(shell),
      rollbacks: [{ kind: 'finish', session, expect, atMs: shell.ports.clock.nowMs() }],
      records: [{ kind: 'rollback_finished', call: null, session, body, payloads: [] }],
    },
    shell,
  );
}

/** How many steps ended how. */
export function countsOf(steps: readonly { readonly outcome: StepOutcome }[]): Partial<Record<StepOutcome, number>> {
  const counts: Partial<Record<StepOutcome, number>> = {};
  for (const { outcome } of steps) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
