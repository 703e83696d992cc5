/** Can a transition be right at all, whatever the store holds? The memory store's own reading of the port. */
import { legalTransitions } from '../../src/core/taxonomy.ts';
import type { ApprovalWrite, CallChange, SessionChange, Transition } from '../../src/ports/store.ts';
import { quotaIllegality } from './limits/memory-quotas.ts';
import { ticketIllegality } from './recovery/memory-tickets.ts';

const writtenByTheStore: ReadonlySet<string> = new Set(['epoch_open', 'epoch_close', 'anchor', 'erased']);
const maxRecords = 64;
const maxApprovals = 16;
const isAmount = (value: number) => Number.isSafeInteger(value) && value >= 0;

/** Why the transition is illegal, or null. */
export function illegality(transition: Transition): string | null {
  const { token, call, key, records, session, approvals, task } = transition;
  if (token === '') return 'a transition needs a token';
  if (records.length > maxRecords) return `a transition holds at most ${maxRecords} records`;
  const own = records.find(({ kind }) => writtenByTheStore.has(kind));
  if (own !== undefined) return `records of kind '${own.kind}' are written by the store alone`;
  const wrongQuota = quotaIllegality(transition);
  if (wrongQuota !== null) return wrongQuota;
  if (approvals.length > maxApprovals) return `a transition writes at most ${maxApprovals} approvals`;
  if (!approvals.every(isWrite)) return 'a write of an approval contradicts itself';
  const wrong = ticketIllegality(transition.tickets) ?? wrongStep(session) ?? wrongDue(call);
  if (wrong !== null) return wrong;
  if (task?.kind === 'open' && !Number.isSafeInteger(task.dueAtMs)) return 'a task is due in whole milliseconds';
  if (call === null || call.kind === 'mark') return key === null ? null : 'a key is claimed by a call that moves';
  return wrongPath(call) ?? wrongPapers(call, { key, records });
}

function wrongStep(session: SessionChange | null): string | null {
  if (session?.kind !== 'step' || session.workflow === null) return null;
  const { turn, call: about, operation, snapshot, fence } = session.workflow;
  if (about === null && (turn === 'take' || turn === 'release' || fence !== null))
    return 'a turn or a fence belongs to a call';
  if (turn === 'take' && operation === null) return 'a turn is taken for an operation';
  if (session.fence !== undefined) return 'a workflow fences with its own steps';
  return (snapshot === null) === session.advance ? 'the state of a workflow and its sequence move together' : null;
}

function wrongDue(call: CallChange | null): string | null {
  const atMs = (call?.kind === 'mark' ? call.due?.atMs : null) ?? null;
  return atMs === null || Number.isSafeInteger(atMs) ? null : 'a call is due in whole milliseconds';
}

/** It opens as the first version, pending and limited, or makes the next version of what was seen. */
function isWrite({ approval, expect, maxPending }: ApprovalWrite): boolean {
  const { version, state, openedAtMs, expiresAtMs } = approval;
  if (![version, openedAtMs, expiresAtMs].every((number) => Number.isSafeInteger(number))) return false;
  if (expect === null) return version === 1 && state === 'pending' && maxPending !== null && isAmount(maxPending);
  return expect >= 0 && version === expect + 1 && maxPending === null;
}

function wrongPath(change: Exclude<CallChange, { kind: 'mark' }>): string | null {
  if (change.path.length === 0) return 'a change of a call needs a path';
  let from: keyof typeof legalTransitions = change.kind === 'insert' ? '(none)' : change.expect.state;
  for (const to of change.path) {
    // INVARIANT: only legal transitions; terminal states are never left.
    if (!legalTransitions[from].includes(to)) return `${from} → ${to} is not a legal transition`;
    from = to;
  }
  return from === change.call.state ? null : `the path ends in ${from}, the call says ${change.call.state}`;
}

/** INVARIANT: every state change has exactly one record, in the same transition. */
function wrongPapers(
  { call, path }: Exclude<CallChange, { kind: 'mark' }>,
  { key, records }: Pick<Transition, 'key' | 'records'>,
): string | null {
  const told = records[0]?.kind === 'session_resumed' ? records.slice(1) : records;
  const bare = path.find((_, index) => told[index]?.call !== call.id);
  if (bare !== undefined) return `the change to ${bare} has no record of its own`;
  const own = key === null || (key.callId === call.id && key.tenant === call.tenant && key.agent === call.agent);
  return own ? null : 'a key is claimed for the call itself';
}
