/**
 * Ends or resumes every call that a stopped process left unfinished, by its effect class, and records whose reply was
 * lost. Runs once before any door opens, and again when a process that forwarded its writes is gone.
 */
import { failed } from '../../core/call/answer.ts';
import type { Call, IncarnationId } from '../../core/call/call.ts';
import { type CallEvent, mayResend } from '../../core/call/lifecycle.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { CommitResult, StoredCall } from '../../ports/store.ts';
import { requesterLeft } from '../call/hand-over.ts';
import { commit, markAnswered } from './commit.ts';
import { countRepeats } from '../call/record-refusal.ts';
import { concludeElsewhere } from '../ending/conclude.ts';
import type { Ending } from '../ending/ending.ts';
import { me, type Shell } from '../shell.ts';
import { toolToResend } from '../session/position.ts';
import { suppressed } from '../../core/values/suppressed.ts';

export interface Recovered {
  readonly calls: number;
  readonly inDoubt: number;
}

/** Without `owner`: every call that is not of this process. With it: only those of that incarnation. */
export async function recover(shell: Shell, owner: IncarnationId | null = null): Promise<Recovered> {
  const { store } = shell.ports;
  let calls = 0;
  let inDoubt = 0;
  for (let after = ''; ;) {
    const page = await store.unfinished(after, shell.limits.sweepBatch);
    const left = page.filter(
      (call) => call.state === 'DISPATCHED' && (owner === null ? call.owner !== me(shell) : call.owner === owner),
    );
    // In parallel, so that the store can batch their commits.
    const states = (await Promise.all(left.map((call) => takeOver(call, shell)))).filter((state) => state !== null);
    calls += states.length;
    inDoubt += states.filter((state) => state === 'IN_DOUBT').length;
    // Between two attempts a call has no owner, but its requester is gone with the process all the same.
    const unattended = page.filter((call) => call.state === 'RETRY_WAIT' && call.requesterLeftAtMs === null);
    if (owner === null) await Promise.all(unattended.map((call) => requesterLeft(call, shell)));
    const last = page.at(-1);
    if (last === undefined || page.length < shell.limits.sweepBatch) break;
    after = last.id;
  }
  await findLostReplies(shell, owner);
  await countRepeats(shell);
  return { calls, inDoubt };
}

/** Recovers the calls of a process that forwarded its writes and is gone. Never rejects. */
export async function settleForwarder(incarnation: IncarnationId, shell: Shell): Promise<void> {
  try {
    const recovered = await recover(shell, incarnation);
    if (recovered.calls > 0) shell.ports.notify({ kind: 'recovered', ...recovered });
  } catch (error) {
    shell.ports.notify(suppressed('settling the calls of a forwarder', error));
  }
}

/** Settles a dispatched call whose owner is gone. Null if another process did so first. */
export async function takeOver(call: StoredCall, shell: Shell): Promise<Call['state'] | null> {
  const now = shell.ports.clock.nowMs();
  const { tool, step } = await toolToResend(call, shell);
  // Nothing can attach to a read without a key, so nobody could get its reply; sent again as a step it would move the
  // state unasked.
  const unheard = step !== null && call.effectClass === 'pure' && call.key === null;
  // INVARIANT: what costs is not sent again for a requester who is gone; its answer was for them alone.
  const isPaid = tool?.metered !== undefined;
  const resend = !unheard && !isPaid && tool !== undefined && mayResend(call, now, tool.dedupeWindowMs);
  const why = isPaid ? stoppedWhilePaid : undefined;
  const ended = await endUnowned(call, { kind: 'abandoned', mayResend: resend, nowMs: now }, shell, why);
  if (ended === null) return null;
  // In this order: a crash in between leaves the reply unanswered, and the next start finds its requester gone.
  await requesterLeft(ended.call, shell);
  markAnswered(ended.result, shell);
  return ended.call.state;
}

const stoppedMeanwhile = {
  errorType: 'GatewayStopped',
  message: 'the gateway stopped while the call was under way',
};
const stoppedWhilePaid = {
  errorType: 'GatewayStopped',
  message: 'the gateway stopped while the call was under way; it is not sent again, for that would be paid twice',
};
const pastDeadline = { errorType: 'Expired', message: 'the deadline passed before the call could be sent again' };

/** Ends a call that no process runs, with the reply for whoever asks later. */
export async function endUnowned(
  call: StoredCall,
  event: CallEvent,
  shell: Shell,
  why?: { readonly errorType: string; readonly message: string },
): Promise<{ readonly call: Call; readonly result: CommitResult } | null> {
  const ending: Ending = {
    events: [event],
    say: (envelope, effect) =>
      failed(envelope, {
        classification: classify('unknown', undefined, call.effectClass),
        effect,
        ...(why ?? (event.kind === 'abandoned' ? stoppedMeanwhile : pastDeadline)),
        retryAfterSeconds: null,
        maxMessageChars: shell.limits.maxMessageChars,
      }),
    use: event.kind === 'abandoned' ? { kind: 'unknown' } : undefined,
    record: ({ effect }) => ({ attempt: call.attempt, effect, event: event.kind }),
  };
  const concluded = await concludeElsewhere(call, ending, shell);
  if (concluded === null) return null;
  const result = await commit(concluded.transition, shell);
  return result.kind === 'committed' ? { call: concluded.call, result } : null;
}

/** Replies that were recorded but perhaps not delivered: their requesters count as gone. */
async function findLostReplies(shell: Shell, owner: IncarnationId | null): Promise<void> {
  for (;;) {
    const lost = await shell.ports.store.unanswered(shell.limits.sweepBatch, owner ?? undefined);
    await Promise.all(lost.map((call) => requesterLeft(call, shell)));
    if (lost.length < shell.limits.sweepBatch || shell.live.storeDown) return;
  }
}
