/** Cancels a call, a turn or a session. Says what was there to cancel; the reply of a call tells what is known of it. */
import { CallError } from './call-error.ts';
import { readProblem } from './transport/read-problem.ts';
import type { Answer, CancelTarget, Transport } from './transport/transport.ts';

/** `already_ended`: there was nothing to cancel any more, or it runs in another process. */
export type CancelOutcome = 'cancelled' | 'already_ended' | 'not_found';

export async function cancelWith(
  transport: Transport,
  target: CancelTarget,
  signal: AbortSignal | undefined,
): Promise<CancelOutcome> {
  if (transport.cancel === undefined) throw new TypeError("this transport cannot cancel: it has no 'cancel'");
  const answer = await transport.cancel(target, signal);
  const outcome = answer.kind === 'answered' ? outcomeOf(answer.body) : null;
  if (outcome !== null) return outcome;
  throw unclear(answer);
}

function outcomeOf(body: unknown): CancelOutcome | null {
  if (body === 'cancelled' || body === 'already_ended' || body === 'not_found') return body;
  if (typeof body === 'object' && body !== null && 'cancelled' in body) return 'cancelled';
  const { code } = readProblem(body);
  if (code === 'NotToCancel') return 'already_ended';
  return code === 'UnknownCall' || code === 'UnknownSession' ? 'not_found' : null;
}

function unclear(answer: Answer): CallError {
  const wasSent = answer.kind === 'lost' || (answer.kind === 'aborted' && answer.wasSent);
  const why =
    answer.kind === 'answered' ? readProblem(answer.body).words : 'reason' in answer ? answer.reason : 'aborted';
  return new CallError({
    tool: null,
    key: null,
    error: wasSent ? 'no_reply' : 'not_sent',
    effect: wasSent ? 'unknown' : 'none',
    message: `whether it is cancelled is not known: ${why}`,
  });
}
