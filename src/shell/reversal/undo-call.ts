/** Undoes one call for a rollback, or says why it cannot be. Whatever is sent is ordered first: order.ts. */
import type { CallId } from '../../core/call/call.ts';
import type { Undone } from '../../core/reversal/redeem-check.ts';
import {
  reversedBy,
  type Reversal,
  type Rollback,
  type RollbackStep,
  type StepOutcome,
} from '../../core/reversal/reversal.ts';
import type { Json } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { StoredCall } from '../../ports/store.ts';
import { probe } from '../attempt/probe.ts';
import { settleAs } from '../ending/settle-doubt.ts';
import { isMasked } from '../mask.ts';
import { toolOf } from '../session/position.ts';
import { recoveryOf, type Shell } from '../shell.ts';
import { carryOut, giveUpWaiting, hasItsTools, orderReversal, tellRefused } from './order.ts';

/** `sinceMs`: when the step before was done. */
export type RunningRollback = Rollback & { readonly sinceMs: number };

export type CameOf =
  | { readonly kind: 'step'; readonly step: Pick<RollbackStep, 'outcome' | 'why' | 'reversal'> }
  /** It took no effect, so nobody need hear of it. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'later' };

const step = (outcome: StepOutcome, why: string | null = null, reversal: CallId | null = null): CameOf => ({
  kind: 'step',
  step: { outcome, why, reversal },
});

export async function undoCall(
  call: StoredCall,
  hasOwnCalls: boolean,
  rollback: RunningRollback,
  shell: Shell,
): Promise<CameOf> {
  switch (call.state) {
    case 'SUCCEEDED':
      return undoSuccess(call, hasOwnCalls, rollback, shell);
    case 'IN_DOUBT':
      if (await isProven(call, shell)) return undoSuccess(call, hasOwnCalls, rollback, shell);
      return step('in_doubt', 'it is undone once it is settled as a success');
    case 'CLOSED_UNKNOWN':
      return step('in_doubt', 'a person signed that nobody will ever know');
    case 'DENIED':
    case 'REJECTED':
    case 'EXPIRED':
    case 'CANCELLED':
    case 'FAILED':
      return { kind: 'nothing' };
    case 'AWAITING_APPROVAL':
    case 'PREPARED':
    case 'DISPATCHED':
    case 'RETRY_WAIT':
      return { kind: 'later' };
    default:
      return unreachable(call.state);
  }
}

/** Asks the declared read now, whenever it would be asked next. */
async function isProven(call: StoredCall, shell: Shell): Promise<boolean> {
  const { tool } = await toolOf(call, shell);
  const args = await shell.ports.store.args(call.id);
  if (tool === undefined || args.kind !== 'text' || isMasked(args.text)) return false;
  const found = await probe(call, JSON.parse(args.text) as Json, recoveryOf(tool, shell), shell);
  if (found.kind !== 'happened') return false;
  const judgement = { happened: 'yes', by: 'the declared read', result: found.result } as const;
  return (await settleAs(call.id, judgement, shell)) === 'settled';
}

async function undoSuccess(
  call: StoredCall,
  hasOwnCalls: boolean,
  rollback: RunningRollback,
  shell: Shell,
): Promise<CameOf> {
  if (call.effectClass === 'pure') return step('nothing_to_undo', 'it only reads');
  if (reversedBy(call.key) !== null) return step('nothing_to_undo', 'it is a reversal');
  if (call.attempt === 0) return step('nothing_to_undo', 'it took the result of an earlier call');
  const reversal = await shell.ports.store.reversalOf(call.id);
  if (reversal === null) return hasOwnCalls ? step('nothing_to_undo', 'what it called is undone') : step('no_reversal');
  const { session, by } = rollback;
  const asked = { by, reason: `rollback of session ${session}` };
  if (reversal.state === 'armed') {
    const late = await whyTooLate(reversal, asked, shell);
    if (late !== null) return late;
    const ordered = await orderReversal(reversal, asked, shell);
    // Somebody else has it: how it stands is read below.
    if (ordered.kind === 'unavailable') return { kind: 'later' };
  }
  return cameOf(await carryOut(call.id, shell), reversal, rollback, shell);
}

async function whyTooLate(
  reversal: Reversal,
  { by, reason }: { readonly by: string; readonly reason: string },
  shell: Shell,
): Promise<CameOf | null> {
  const { expiresAtMs } = reversal;
  if ((expiresAtMs ?? 0) > shell.ports.clock.nowMs()) return null;
  await tellRefused(reversal, 'expired', { by, why: reason }, shell);
  return step('expired');
}

/** What cannot be started now is tried again, and given up in the end: the others wait behind it. */
async function patient(
  { why, isPassing }: Extract<Undone, { kind: 'later' }>,
  reversal: Reversal,
  { sinceMs }: RunningRollback,
  shell: Shell,
): Promise<CameOf> {
  const isOver = isPassing === true && sinceMs + shell.limits.rollbackPatienceMs <= shell.ports.clock.nowMs();
  const mayGiveUp = isOver && (await hasItsTools(reversal, shell));
  const due = mayGiveUp ? await shell.ports.store.reversalOf(reversal.call) : null;
  if (due?.state !== 'due') return { kind: 'later' };
  const given = await giveUpWaiting(due, why, shell);
  return given.kind === 'refused' ? step('refused', why) : { kind: 'later' };
}

async function cameOf(undone: Undone, reversal: Reversal, rollback: RunningRollback, shell: Shell): Promise<CameOf> {
  switch (undone.kind) {
    case 'reversed':
      return step('reversed', null, undone.by);
    case 'unknown':
      return step('unknown', null, undone.by);
    case 'refused':
      if (!undone.isTold) await tellRefused(reversal, undone.reason, { by: rollback.by, why: undone.why }, shell);
      return step(undone.reason === 'failed' ? 'failed' : 'refused', undone.why ?? undone.reason);
    case 'later':
      return patient(undone, reversal, rollback, shell);
    default:
      return unreachable(undone);
  }
}
