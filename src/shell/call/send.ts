/**
 * Makes the intent durable and sends, then waits with the caller. Whoever loses a race for the intent has sent nothing,
 * and decides again with what is true now. Phase 6 of 6: handle-call.ts.
 */
import { invariant, unreachable } from '../../core/values/unreachable.ts';
import { start, type Started } from '../attempt/start.ts';
import { stepOf } from '../attempt/work.ts';
import { hasTakenOver } from '../approval/take-approval.ts';
import { adoptOwnResult } from '../ending/adopt-own-result.ts';
import { unrecorded } from '../ending/stored-reply.ts';
import { isFull, type Running, type Shell } from '../shell.ts';
import { mayBeApplied } from '../upkeep/commit.ts';
import { claimedBy, answerAdmission } from './admit.ts';
import { type Asked, waitLeft, again, replyWith, type Stop } from './asked.ts';
import { awaitOutcome } from './await-outcome.ts';
import { intentParts } from './intent.ts';
import type { Prepared } from './prepare.ts';
import { storeUnavailable } from './record-refusal.ts';
import { atAdmission, refusal } from './refuse.ts';
import type { Taken } from './take.ts';

/** What the spine must know of a run, also if it throws. */
export interface Progress {
  /** Before the intent is submitted nothing can have run, whatever goes wrong. */
  started: boolean;
  /** The run that has the turn of its session until it ends. */
  running: Running | null;
}

export async function send(
  asked: Asked,
  prepared: Prepared,
  taken: Taken,
  progress: Progress,
  shell: Shell,
): Promise<Stop> {
  const starting = launch(asked, prepared, taken, progress, shell);
  if (starting === null) return again(asked);
  const started = await starting;
  switch (started.kind) {
    case 'running':
      return running(started.running, asked, prepared, progress, shell);
    case 'unavailable': {
      const { call, step } = prepared;
      return replyWith(
        mayBeApplied(started.fault)
          ? unrecorded(taken.intent.call, shell, stepOf(taken.work))
          : storeUnavailable(refusal(call, atAdmission, asked.request, step, shell), started.fault),
      );
    }
    case 'conflict':
      return lost(started, asked, prepared, taken, shell);
    default:
      return unreachable(started);
  }
}

/**
 * INVARIANT: the last look at capacity and the start are one synchronous stretch: the place is taken before anybody
 * else can look. Null if there is none.
 */
function launch(
  { requester, request }: Asked,
  { nobodyLeftWithinMs }: Prepared,
  { intent, work }: Taken,
  progress: Progress,
  shell: Shell,
): Promise<Started> | null {
  if (isFull(shell)) return null;
  progress.started = true;
  // INVARIANT: whoever left an equal call while this one waited for the store has their place all the same.
  const parts = { ...intentParts(intent, shell), nobodyLeftWithinMs };
  // INVARIANT: who left without a key may have sent it again elsewhere, before this intent could be seen there.
  const leaves = [requester.cancelled, request.key === null ? requester.left : undefined].filter(
    (signal) => signal !== undefined,
  );
  return start({ call: intent.call, events: [{ kind: 'admitted' }], work, parts, leaves }, shell);
}

async function running(
  run: Running,
  asked: Asked,
  { session, step, intent, work }: Prepared,
  progress: Progress,
  shell: Shell,
): Promise<Stop> {
  progress.running = run;
  if (step !== null) shell.live.streaks.delete(session);
  const { who, requester } = asked;
  const reply = await awaitOutcome(run, waitLeft(asked, shell), requester, shell);
  if (step === null) return replyWith(reply);
  return replyWith(await adoptOwnResult(run, reply, { work, intent, who, requester }, shell));
}

async function lost(
  { result, settleUnsent }: Extract<Started, { kind: 'conflict' }>,
  asked: Asked,
  { call, met }: Prepared,
  taken: Taken,
  shell: Shell,
): Promise<Stop> {
  if (result.on === 'key') {
    const claimed = await claimedBy(result, asked.request, call.fingerprint, shell);
    if (claimed.kind !== 'new' && claimed.kind !== 'unadopted')
      return replyWith(await answerAdmission(claimed, { ...asked, call }, shell));
  }
  // The first try of the commit was applied unheard, and somebody has taken the call over. INVARIANT: a call
  // that waited for its approval is told only to whoever has it; to others it is another's by now.
  if (result.on === 'call' && (met === null || (await hasTakenOver(taken.intent.call.id, call.id, shell))))
    return replyWith((await settleUnsent()).reply);
  invariant(result.on !== 'illegal', 'an intent is a legal transition');
  return again(asked);
}
