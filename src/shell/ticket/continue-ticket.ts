/**
 * Lets the call of an answered ticket go on: a new call of the same agent, session and tool, through the same gates as
 * if its agent asked again. Its intent and the ticket change in one commit, so it runs at most once, whoever tries. The
 * sweeper tries again what is only delayed; what may not run ends here, on record.
 */
import type { ApprovalId } from '../../core/approval/approval.ts';
import { stateAt } from '../../core/approval/approval.ts';
import type { CallId, Request } from '../../core/call/call.ts';
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { Ticket, TicketId } from '../../core/recovery/ticket.ts';
import type { Json } from '../../core/values/json.ts';
import { suppressed } from '../../core/values/suppressed.ts';
import type { StoredCall } from '../../ports/store.ts';
import { createApprovals } from '../approval/approvals.ts';
import { transientCodes } from '../approval/run-approved.ts';
import { handleContinuation } from '../call/handle-call.ts';
import { isMasked } from '../mask.ts';
import { toolOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { endContinuation } from './end-continuation.ts';

/** Resolves when this try is over; closing the gateway waits for it. Of several who try here, one does. */
export function continueTicket(id: TicketId, shell: Shell): Promise<void> {
  const { tickets, unanswered, readiness } = shell.live;
  const running = tickets.continuing.get(id);
  if (running !== undefined) return running;
  if (!readiness.ready) return Promise.resolve();
  const run = attempt(id, shell)
    .catch((error: unknown) => {
      shell.ports.notify(suppressed(`going on for ticket ${id}`, error));
    })
    .finally(() => {
      tickets.continuing.delete(id);
      unanswered.delete(run);
    });
  tickets.continuing.set(id, run);
  unanswered.add(run);
  return run;
}

/** Every ticket whose call is to go on: the process that had to is gone, or could not at the time. */
export async function continueAll(shell: Shell): Promise<void> {
  const { sweepBatch } = shell.limits;
  for (let after = ''; ;) {
    const page = await shell.ports.store.ticketsToRun(after, sweepBatch);
    for (const ticket of page) if (await isTimeFor(ticket, shell)) void continueTicket(ticket.id, shell);
    const last = page.at(-1);
    if (last === undefined || page.length < sweepBatch) return;
    after = last.id;
  }
}

async function isTimeFor({ id }: Ticket, shell: Shell): Promise<boolean> {
  const pause = shell.live.tickets.pauses.get(id);
  if (pause === undefined) return true;
  if (shell.ports.clock.monotonicMs() < pause.untilMs) return false;
  const approval = pause.approval === null ? null : await shell.ports.store.approval(pause.approval);
  return approval === null || stateAt(approval, shell.ports.clock.nowMs()) !== 'pending';
}

async function attempt(id: TicketId, shell: Shell): Promise<void> {
  const { store } = shell.ports;
  const ticket = await store.ticket(id);
  if (ticket?.work !== 'due') return;
  const first = await store.call(ticket.call);
  if (first === null) return;
  // Another process may have the tool: leave the call to it.
  const isServed = (await toolOf(first, shell)).tool !== undefined;
  if (!isServed) return later(ticket, null, first, shell);
  const argsText = await argumentsFor(ticket, shell);
  if (argsText === null) return dropped(ticket, first, null, 'its arguments are not to be had any more', shell);
  const reply = await handleContinuation(requestOf(first, ticket, argsText), ticket, first.fingerprint, shell);
  if ((await store.ticket(id))?.work !== 'due') {
    shell.live.tickets.pauses.delete(id);
    return;
  }
  if (!('error' in reply)) return later(ticket, null, first, shell);
  if (!transientCodes.has(reply.code)) return dropped(ticket, first, reply.call_id as CallId, reply.message, shell);
  const approval = approvalIn(reply);
  if (approval !== null && (await approveAs(ticket, approval, shell))) return attempt(id, shell);
  return later(ticket, approval, first, shell);
}

/** What its agent sent, before any validator changed it, or what the person gave instead. Null if it is gone. */
async function argumentsFor({ call, end, answerText }: Ticket, { ports: { store } }: Shell): Promise<string | null> {
  if (end === 'replace') return answerText;
  const prepared = (await store.recordsOf(call)).find(({ kind }) => kind === 'prepared' || kind === 'held');
  const sent = prepared?.payloads.find(({ part }) => part === 'args_as_sent');
  const stored = await store.args(call);
  const text = sent === undefined ? (stored.kind === 'text' ? stored.text : null) : sent.text;
  // Masked values are not stored.
  return text === null || isMasked(text) ? null : text;
}

export const keyOfTicket = (id: TicketId): string => `tkt:${id}`;

function requestOf(first: StoredCall, { id }: Ticket, argsText: string): Request {
  return {
    tool: first.tool,
    args: JSON.parse(argsText) as Json,
    argsText,
    session: first.session,
    key: keyOfTicket(id),
    turn: first.turn,
    expectedSeq: null,
    waitMs: 0,
    model: null,
    deadlineMs: null,
  };
}

function approvalIn({ resolution }: ErrorReply): ApprovalId | null {
  return resolution.type === 'pending_approval' ? (resolution.approval_id as ApprovalId) : null;
}

/** The yes of a person who answered `approve` counts as their approval, if they may give it. True if that was enough. */
async function approveAs({ end, closedBy, tenant }: Ticket, id: ApprovalId, shell: Shell): Promise<boolean> {
  if (end !== 'approve' || closedBy === null) return false;
  const by = { kind: 'person', tenant, name: closedBy } as const;
  const decided = await createApprovals(shell).approve(id, by, { reason: 'answered its ticket' });
  return decided.ok && decided.approval.state === 'granted';
}

/** Tried again after a pause, for as long as the limits say. */
async function later(ticket: Ticket, approval: ApprovalId | null, first: StoredCall, shell: Shell): Promise<void> {
  const { clock } = shell.ports;
  const { continueWithinMs, maxContinuePauseMs, sweepEveryMs } = shell.limits;
  const isOver = clock.nowMs() >= (ticket.closedAtMs ?? 0) + continueWithinMs;
  if (isOver) return dropped(ticket, first, null, 'it could not go on in time', shell);
  const { pauses } = shell.live.tickets;
  const tries = (pauses.get(ticket.id)?.tries ?? 0) + 1;
  const pauseMs = approval === null ? Math.min(sweepEveryMs * 2 ** Math.min(tries, 16), maxContinuePauseMs) : 0;
  pauses.set(ticket.id, { untilMs: clock.monotonicMs() + pauseMs, tries, approval });
}

/** A conflict means that another process was faster; without the store the next sweep tries again. */
async function dropped(ticket: Ticket, first: StoredCall, by: CallId | null, why: string, shell: Shell): Promise<void> {
  await endContinuation(ticket, first, by, why, shell);
}

export const hasEnded = (reply: Reply): boolean => !('pending' in reply);
