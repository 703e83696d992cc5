/**
 * Reversals that the gateway was asked for: by a person, the playbook, a rollback. The order is on record before
 * anything runs, and stays there until it is carried out or given up, so a process that dies in between loses nothing
 * and does nothing twice.
 */
import type { CallId } from '../../core/call/call.ts';
import type { Reversal } from '../../core/reversal/reversal.ts';
import type { RefusalReason, Undone } from '../../core/reversal/redeem-check.ts';
import { suppressed } from '../../core/values/suppressed.ts';
import type { CommitResult, ReversalOrder } from '../../ports/store.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import { toolOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { redeem, undoneBy } from './redeem.ts';
import { refusedParts, type ToUndo } from './riders.ts';

/** armed → due. A conflict means that it is not armed any more. */
export function orderReversal(reversal: Reversal, order: ReversalOrder, shell: Shell): Promise<CommitResult> {
  const about = { id: reversal.call, session: reversal.session };
  return commit(
    {
      ...bare(shell),
      reversals: [{ kind: 'order', id: reversal.id, order }],
      session: numbered(about),
      records: [note('reversal_ordered', about, { by: order.by, reason: order.reason })],
    },
    shell,
  );
}

/** Carries out one that is due, or says how it stands. Whoever else is at it in this process is waited for. */
export function carryOut(call: CallId, shell: Shell, waitMs: number | null = null): Promise<Undone> {
  const { undoing } = shell.live;
  const known = undoing.get(call);
  if (known !== undefined) return known;
  const run = carryOutOnce(call, shell, waitMs).finally(() => undoing.delete(call));
  undoing.set(call, run);
  return run;
}

async function carryOutOnce(call: CallId, shell: Shell, waitMs: number | null): Promise<Undone> {
  const found = await shell.ports.store.reversalOf(call);
  if (found?.state !== 'due') return asItStands(found, shell);
  const undone = await attempt(found, waitMs, shell);
  const isOpen = undone.kind === 'refused' || (undone.kind === 'later' && undone.isPassing === true);
  return isOpen ? afterNothing(undone, call, shell) : undone;
}

/** One that nobody has ordered, or that is taken. */
async function asItStands(found: Reversal | null, shell: Shell): Promise<Undone> {
  if (found?.state === 'redeemed') return asRedeemed(found, shell);
  if (found?.state === 'armed') return { kind: 'later', why: 'nobody has ordered it' };
  return { kind: 'refused', reason: found === null ? 'no_reversal' : 'unarmed', why: null, isTold: false };
}

async function attempt(due: Reversal, waitMs: number | null, shell: Shell): Promise<Undone> {
  if (!(await hasItsTools(due, shell)))
    return { kind: 'later', why: `'${due.reverser}' is not served here`, isPassing: true };
  const asking = { requester: {}, waitMs, askedAtMs: shell.ports.clock.nowMs() };
  return undoneBy(await redeem(due, asking, shell));
}

/** Nothing of it ran, or what ran did nothing. */
async function afterNothing(
  undone: Extract<Undone, { kind: 'refused' | 'later' }>,
  call: CallId,
  shell: Shell,
): Promise<Undone> {
  const after = await shell.ports.store.reversalOf(call);
  // Its reversing call ran and did nothing: the commit that ended it has told that.
  if (after?.state === 'armed') return { kind: 'refused', reason: 'failed', why: undone.why, isTold: true };
  if (after?.state === 'redeemed') return asRedeemed(after, shell);
  if (after?.state !== 'due') return undone;
  if (undone.kind === 'refused') return giveUp(after, undone, shell);
  const isOver = (after.expiresAtMs ?? 0) + shell.limits.rollbackPatienceMs <= shell.ports.clock.nowMs();
  return isOver ? giveUpWaiting(after, undone.why, shell) : undone;
}

/** INVARIANT: a process that does not serve the tools leaves the order to one that does. */
export async function hasItsTools({ call: id, reverser }: Reversal, shell: Shell): Promise<boolean> {
  if (!shell.catalogue().has(reverser)) return false;
  const call = await shell.ports.store.call(id);
  return call === null || (await toolOf(call, shell)).tool !== undefined;
}

/** How the call that has the token stands. */
async function asRedeemed({ redeemedBy: by }: Reversal, shell: Shell): Promise<Undone> {
  const call = by === null ? null : await shell.ports.store.call(by);
  if (by === null || call === null) return { kind: 'refused', reason: 'redeemed', why: null, isTold: false };
  if (call.state === 'SUCCEEDED') return { kind: 'reversed', by };
  if (call.state === 'IN_DOUBT' || call.state === 'CLOSED_UNKNOWN') return { kind: 'unknown', by };
  return { kind: 'later', why: `call ${by} is under way` };
}

/** The order ends: on record with the reason, and with a ticket. The token is as good as before. */
async function giveUp(found: Reversal, undone: Extract<Undone, { kind: 'refused' }>, shell: Shell): Promise<Undone> {
  const { notes, tickets } = refusedParts(found, undone.reason, { by: found.askedBy ?? '', why: undone.why }, shell);
  const result = await commit(
    {
      ...bare(shell),
      reversals: [{ kind: 'give_up', id: found.id }],
      session: numbered({ session: found.session }),
      tickets,
      records: notes,
    },
    shell,
  );
  return result.kind === 'committed' ? { ...undone, isTold: true } : { kind: 'later', why: 'it could not be recorded' };
}

/** It could not be started in its time. */
export const giveUpWaiting = (due: Reversal, why: string, shell: Shell): Promise<Undone> =>
  giveUp(due, { kind: 'refused', reason: 'unavailable', why, isTold: false }, shell);

/** A reversal that was asked for and that no order can be given for: an event, and a ticket. */
export async function tellRefused(
  reversal: ToUndo,
  reason: RefusalReason,
  asked: { readonly by: string; readonly why: string | null },
  shell: Shell,
): Promise<void> {
  const { notes, tickets } = refusedParts(reversal, reason, asked, shell);
  const session = numbered({ session: reversal.session });
  await commit({ ...bare(shell), session, tickets, records: notes }, shell);
}

/** Starts what is due and returns at once; closing the gateway waits for its end. */
export async function carryOutDue(shell: Shell): Promise<void> {
  if (!shell.live.readiness.ready) return;
  await orderLate(shell);
  for (const { call } of await shell.ports.store.dueReversals(shell.limits.sweepBatch)) carryOutBeside(call, shell);
}

function carryOutBeside(call: CallId, shell: Shell): void {
  const { unanswered, undoing, draining } = shell.live;
  if (undoing.has(call) || draining) return;
  const run = carryOut(call, shell)
    .catch((error: unknown) => void shell.ports.notify(suppressed(`undoing call ${call}`, error)))
    .finally(() => unanswered.delete(run));
  unanswered.add(run);
}

/** A call that was in doubt when its session was rolled back, and has succeeded since, is undone like the others. */
async function orderLate(shell: Shell): Promise<void> {
  for (const late of await shell.ports.store.lateReversals(shell.limits.sweepBatch)) {
    const reason = 'its session was rolled back while it was in doubt';
    await orderReversal(late, { by: 'rollback', reason }, shell);
  }
}
