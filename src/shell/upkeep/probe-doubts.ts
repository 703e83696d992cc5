/**
 * Settles calls in doubt by their declared read, on a schedule that is on record. A yes settles at any time; a no only
 * after the quarantine, because an execution may come late. What no read can settle goes to a person.
 */
import type { CallId } from '../../core/call/call.ts';
import type { Probed } from '../../core/recovery/playbook.ts';
import type { Json } from '../../core/values/json.ts';
import type { CommitResult, StoredCall } from '../../ports/store.ts';
import { probe } from '../attempt/probe.ts';
import { openedNote, ticketOf } from '../ending/recovery-rider.ts';
import { quarantineLeftMs, settleAs } from '../ending/settle-doubt.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import { isMasked } from '../mask.ts';
import { toolOf } from '../session/position.ts';
import { recoveryOf, type Shell } from '../shell.ts';
import { commit } from './commit.ts';

/** Who settled it, on record. */
const byRead = 'the declared read';

export async function probeDoubt(call: StoredCall, shell: Shell): Promise<void> {
  const { tool } = await toolOf(call, shell);
  const args = await shell.ports.store.args(call.id);
  const recovery = tool === undefined ? null : recoveryOf(tool, shell);
  const records = await shell.ports.store.recordsOf(call.id);
  const probes = records.filter(({ kind }) => kind === 'probed').length;
  const isReadable = recovery !== null && recovery.reconcile !== null && args.kind === 'text' && !isMasked(args.text);
  const leftMs = quarantineLeftMs(records, recovery?.quarantineMs ?? 0, shell);
  const isLast = !isReadable || (probes >= shell.limits.maxProbes && leftMs <= 0);
  if (isLast) return void (await leaveToPerson(call, shell));
  // INVARIANT: the next look is on record before this one, so that of several processes one probes, and none for ever.
  const claimed = await reschedule(call, nextPauseMs(probes, leftMs, shell), shell);
  if (claimed.kind !== 'committed') return;
  const argsNow = JSON.parse(args.text) as Json;
  const found = await probe(call, argsNow, recovery, shell);
  await record(call, found, probes + 1, shell);
  await act(call.id, found, leftMs, shell);
}

async function act(id: CallId, found: Probed, leftMs: number, shell: Shell): Promise<void> {
  const { kind } = found;
  if (kind === 'happened') await settleAs(id, { happened: 'yes', by: byRead, result: found.result }, shell);
  // INVARIANT: a no before the quarantine is over is no proof of absence.
  if (kind === 'did_not' && leftMs <= 0) await settleAs(id, { happened: 'no', by: byRead }, shell);
}

/** Doubling, never past the end of the quarantine without a look at it. */
function nextPauseMs(probes: number, leftMs: number, { limits }: Shell): number {
  const pause = Math.min(limits.firstProbeMs * 2 ** (probes + 1), limits.maxProbePauseMs);
  return leftMs > 0 ? Math.min(pause, leftMs) : pause;
}

function reschedule(call: StoredCall, pauseMs: number, shell: Shell): Promise<CommitResult> {
  const atMs = shell.ports.clock.nowMs() + pauseMs;
  const due = { expectAtMs: call.dueAtMs, atMs };
  return commit({ ...bare(shell), call: { kind: 'mark', id: call.id, requester: null, repeats: 0, due } }, shell);
}

async function record(call: StoredCall, found: Probed, number: number, shell: Shell): Promise<void> {
  const body = { number, answer: found.kind, ...(found.kind === 'unclear' ? { reason: found.reason } : {}) };
  await commit({ ...bare(shell), session: numbered(call), records: [note('probed', call, body)] }, shell);
}

/** Nobody looks at it any more but a person. */
function leaveToPerson(call: StoredCall, shell: Shell): Promise<CommitResult> {
  const ticket = ticketOf(call, { reason: 'in_doubt', queue: 'in_doubt' }, shell);
  const due = { expectAtMs: call.dueAtMs, atMs: null };
  return commit(
    {
      ...bare(shell),
      call: { kind: 'mark', id: call.id, requester: null, repeats: 0, due },
      session: numbered(call),
      tickets: [{ kind: 'open', ticket }],
      records: [openedNote(call, ticket)],
    },
    shell,
  );
}
