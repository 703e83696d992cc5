/**
 * What recovery adds to a commit: what was found about a failed attempt and what follows, the ticket for a person, the
 * time of the first probe of a doubt. A call that succeeds at once gets nothing.
 */
import type { Call } from '../../core/call/call.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { Dispatch, OpenedTicket } from '../../core/recovery/dispatch.ts';
import { doubtTicket, recordsOfDispatch, recordOfTicket } from '../../core/recovery/dispatch-records.ts';
import { recoveryText, type ToolRecovery } from '../../core/recovery/playbook.ts';
import { opened as asOpened, type Ticket, type TicketFence, ticketIdOf } from '../../core/recovery/ticket.ts';
import { termsOf } from '../../core/ticket/terms.ts';
import type { Blob, FenceWrite, TicketWrite } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';
import { ticketRulesOf } from '../ticket/live-tickets.ts';
import type { EndAddition, EndRider, Move } from './ending.ts';
import { note } from './transition.ts';

/** Who closes a ticket that has become pointless. */
const ourselves = 'recourse';

export const recoveryRider: EndRider = (move, shell) => {
  const { from, next, ending } = move;
  const isDoubted = next.state === 'IN_DOUBT' && from.state !== 'IN_DOUBT';
  const isSettled = from.state === 'IN_DOUBT' && next.state !== 'IN_DOUBT';
  const fence = fenceOf(move, isDoubted, isSettled);
  if (ending.dispatch === undefined && !isDoubted && !isSettled) return fence === null ? {} : { parts: { fence } };
  const playbook = playbookOnRecord(move.context.recovery, shell);
  const told = ending.dispatch === undefined ? [] : notesOf(next, ending.dispatch, playbook.hash);
  const asked = ticketFor(move, isDoubted);
  const opened = asked === null ? null : ticketOf(next, asked, shell, aboutIt(move, asked));
  const atMs = shell.ports.clock.nowMs();
  const tickets: TicketWrite[] = [];
  if (opened !== null) tickets.push({ kind: 'open', ticket: opened });
  if (isSettled) tickets.push({ kind: 'moot', call: next.id, reason: 'in_doubt', by: ourselves, atMs });
  const notes = opened === null ? told : [...told, openedNote(next, opened)];
  const isProbed = isDoubted && move.context.recovery.reconcile !== null;
  return {
    parts: { notes, tickets, blobs: playbook.blobs, ...(fence === null ? {} : { fence }) },
    ...withoutForbidden(move, opened),
    ...(isProbed ? { dueAtMs: atMs + shell.limits.firstProbeMs } : {}),
  };
};

/** Outside workflows; a success that came to light later keeps its fence until an equal call adopts it. */
function fenceOf({ next, ending, context }: Move, isDoubted: boolean, isSettled: boolean): FenceWrite | null {
  const { operation, step, hasTurn } = context;
  if (operation === null || step !== null || hasTurn) return null;
  if (ending.adopts !== undefined) return { kind: 'adopted', call: ending.adopts };
  if (isDoubted) return { kind: 'raised', call: next.id, operation };
  return isSettled && next.state !== 'SUCCEEDED' ? { kind: 'lifted', call: next.id } : null;
}

/** The dispatcher's own ticket; else one for a doubt that no probe can end. */
function ticketFor({ ending: { dispatch }, context }: Move, isDoubted: boolean): OpenedTicket | null {
  if (dispatch?.kind === 'failed' && dispatch.ticket !== null) return dispatch.ticket;
  return isDoubted && context.recovery.reconcile === null ? doubtTicket : null;
}

/** Outside workflows: what is fenced from here on is not offered as a next action. */
function withoutForbidden({ next, context }: Move, opened: Ticket | null): Pick<EndAddition, 'envelope'> {
  if (opened === null || opened.fence === null || context.step !== null || opened.fence.operation.includes('#'))
    return {};
  const envelope = context.envelope(next);
  return { envelope: { ...envelope, nextActions: envelope.nextActions.filter((name) => name !== next.tool) } };
}

/** INVARIANT: what an upstream forbade is fenced by the commit that says so, until its ticket is closed. */
function ticketFence({ next, context: { forbids } }: Move, { reason }: OpenedTicket): TicketFence | null {
  if (forbids === 'nothing') return null;
  const session = forbids?.session ?? next.session;
  if (reason !== 'policy_denied' || session === null) return null;
  return { session, operation: forbids?.operation ?? next.tool };
}

const aboutIt = (move: Move, asked: OpenedTicket): Pick<Ticket, 'fence' | 'credential'> => ({
  fence: ticketFence(move, asked),
  // The upstream does not accept what was sent, and a sign-in can change that.
  credential: asked.reason === 'auth_expired' ? (move.context.signIn?.(move.next.agent) ?? null) : null,
});

export function ticketOf(
  call: Call,
  { reason, queue }: OpenedTicket,
  shell: Shell,
  about: Pick<Ticket, 'fence' | 'credential'> = { fence: null, credential: null },
): Ticket {
  const openedAtMs = shell.ports.clock.nowMs();
  const { dueMs, expiresMs } = termsOf(queue, ticketRulesOf(shell));
  return {
    ...asOpened,
    id: ticketIdOf(call.id, reason),
    tenant: call.tenant,
    agent: call.agent,
    session: call.session,
    call: call.id,
    tool: call.tool,
    queue,
    reason,
    openedAtMs,
    dueAtMs: dueMs === null ? null : openedAtMs + dueMs,
    // INVARIANT: a doubt has somebody who looks at it until it is settled, whatever its queue says.
    expiresAtMs: expiresMs === null || call.state === 'IN_DOUBT' ? null : openedAtMs + expiresMs,
    ...about,
  };
}

export const openedNote = (call: Call, ticket: Ticket): RecordDraft =>
  note('ticket_opened', call, recordOfTicket(call, ticket).body);

/** INVARIANT: a failure is on record with its verdict before anything is done about it. */
const notesOf = (call: Call, dispatch: Dispatch, playbook: string): readonly RecordDraft[] =>
  recordsOfDispatch(dispatch, call, playbook).map(({ kind, body, payloads }) => note(kind, call, body, payloads));

const playbooks = new WeakMap<ToolRecovery, Blob>();

/** The hash of a playbook for a record, and its text unless the store has it. */
export function playbookOnRecord(
  recovery: ToolRecovery,
  shell: Shell,
): { readonly hash: string; readonly blobs: readonly Blob[] } {
  let blob = playbooks.get(recovery);
  if (blob === undefined) {
    const text = recoveryText(recovery);
    blob = { text, hash: shell.ports.sha256(text) };
    playbooks.set(recovery, blob);
  }
  return { hash: blob.hash, blobs: shell.live.knownBlobs.has(blob.hash) ? [] : [blob] };
}
