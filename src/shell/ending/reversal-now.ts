/**
 * The reply of a call that the playbook undoes. It is on record with the order to undo it; what came of that is read
 * here whenever the reply is told, so that nobody hears of a reversal that did not happen.
 */
import { pending } from '../../core/call/answer.ts';
import type { Call, CallId } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { isPending, isSuccess, type Reply } from '../../core/call/reply.ts';
import { failuresOnRecord } from '../../core/recovery/replay.ts';
import type { Reversal } from '../../core/reversal/reversal.ts';
import type { DispatchOutcome, ToolError } from '../../core/taxonomy.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { Shell } from '../shell.ts';
import { envelopeOf } from './ending.ts';

export async function withReversalNow(reply: Reply, call: Call, shell: Shell): Promise<Reply> {
  if (isSuccess(reply) || isPending(reply) || !('outcome' in reply) || reply.outcome?.kind !== 'reversed') return reply;
  const reversal = await shell.ports.store.reversalOf(call.id);
  const standing = await standingOf(reversal, shell);
  switch (standing) {
    case 'reversed':
      return reply;
    case 'under_way':
      return pending(envelopeOf(call, shell), 1);
    case 'not_reversed':
      return { ...reply, outcome: await exhausted(call.id, reply.message, shell) };
    default:
      return unreachable(standing);
  }
}

/** As if nothing had been tried: with the first and the last failure of the call. */
async function exhausted(id: CallId, message: string, { ports }: Shell): Promise<DispatchOutcome> {
  const failures = failuresOnRecord(await ports.store.recordsOf(id));
  const errors: readonly ToolError[] = typeof failures === 'string' ? [] : failures.map(({ error }) => error);
  const unknown: ToolError = { kind: 'unknown', message };
  const [first = unknown] = errors;
  return { kind: 'exhausted', final_error: errors.at(-1) ?? first, first_error: first, attempts: errors.length };
}

async function standingOf(
  reversal: Reversal | null,
  { ports }: Shell,
): Promise<'reversed' | 'under_way' | 'not_reversed'> {
  if (reversal?.state === 'due') return 'under_way';
  const by = reversal?.redeemedBy ?? null;
  const undoing = by === null ? null : await ports.store.call(by);
  if (undoing === null) return 'not_reversed';
  if (isUnderWay(undoing.state)) return 'under_way';
  return undoing.state === 'SUCCEEDED' ? 'reversed' : 'not_reversed';
}
