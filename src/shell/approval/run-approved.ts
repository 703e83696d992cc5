/**
 * Runs an approved call that no requester waits for (`on_approve: run`), through the same gates as if its agent asked
 * again. The sweeper retries what is only delayed; a call that may not run any more ends together with its approval.
 */
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { type Approval, type ApprovalId, stateAt } from '../../core/approval/approval.ts';
import type { Request } from '../../core/call/call.ts';
import type { Json } from '../../core/values/json.ts';
import { type Reversal, reversedBy } from '../../core/reversal/reversal.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import { requesterLeft } from '../call/hand-over.ts';
import { expireOrVoid } from './end-approval.ts';
import { handleRequest } from '../call/handle-call.ts';
import { isMasked } from '../mask.ts';
import type { Shell } from '../shell.ts';
import { toolOf } from '../session/position.ts';
import { suppressed } from '../../core/values/suppressed.ts';

/** Starts the run and returns at once; closing the gateway waits for its end. */
export function runApproved(approval: Approval, shell: Shell): void {
  const { runsApproved, unanswered } = shell.live;
  if (runsApproved.has(approval.id) || !shell.live.readiness.ready) return;
  runsApproved.add(approval.id);
  const run = attempt(approval.id, shell)
    .catch((error: unknown) => {
      shell.ports.notify(suppressed(`running approval ${approval.id}`, error));
    })
    .finally(() => {
      runsApproved.delete(approval.id);
      unanswered.delete(run);
    });
  unanswered.add(run);
}

async function attempt(id: ApprovalId, shell: Shell): Promise<void> {
  const { store, clock } = shell.ports;
  const approval = await store.approval(id);
  if (approval === null || stateAt(approval, clock.nowMs()) !== 'granted') return;
  const waiting = await store.call(approval.callId);
  if (waiting === null || waiting.state !== 'AWAITING_APPROVAL') return;
  // Another process may have the tool: leave the call to it until the approval expires.
  if ((await toolOf(waiting, shell)).tool === undefined) return;
  const sent = await asSent(waiting, shell);
  // Masked values are not stored, so only the caller can send them, by asking again.
  if (sent === null || isMasked(sent.argsText)) return;
  const redeems = await reversalOf(waiting, shell);
  const asked = { only: approval, fingerprint: waiting.fingerprint, ...(redeems === null ? {} : { redeems }) };
  const reply = await handleRequest(requestOf(waiting, approval, sent), asked, shell);
  const after = await store.call(waiting.id);
  if (after === null) return;
  // INVARIANT: nobody has received the outcome, so the next equal call gets it.
  if (isUnderWay(after.state) || after.attempt > 0) return requesterLeft(after, shell);
  if ('error' in reply && !transientCodes.has(reply.code)) await expireOrVoid(approval, shell, reply.message);
}

/** Of a call that undoes another: what it redeems. */
async function reversalOf({ key }: StoredCall, { ports }: Shell): Promise<Reversal | null> {
  const call = reversedBy(key);
  return call === null ? null : ports.store.reversalOf(call);
}

interface Sent {
  readonly argsText: string;
  readonly evidence: readonly string[];
  /** The only session sequence at which its agent wants it to run. */
  readonly expectedSeq: number | null;
}

/** The call as its agent sent it, before any validator changed it. */
async function asSent(call: StoredCall, shell: Shell): Promise<Sent | null> {
  const held = (await shell.ports.store.recordsOf(call.id)).find(({ kind }) => kind === 'held');
  const body = JSON.parse(held?.body ?? '{}') as { evidence_refs?: readonly string[]; expected_seq?: number };
  const asked = { evidence: body.evidence_refs ?? [], expectedSeq: body.expected_seq ?? null };
  const raw = held?.payloads.find(({ part }) => part === 'args_as_sent');
  if (raw !== undefined) return raw.text === null ? null : { argsText: raw.text, ...asked };
  const stored = await shell.ports.store.args(call.id);
  return stored.kind === 'text' ? { argsText: stored.text, ...asked } : null;
}

function requestOf(call: StoredCall, { model }: Approval, { argsText, evidence, expectedSeq }: Sent): Request {
  return {
    tool: call.tool,
    args: JSON.parse(argsText) as Json,
    argsText,
    session: call.session,
    key: call.key,
    turn: call.turn,
    expectedSeq,
    waitMs: 0,
    model,
    deadlineMs: null,
    ...(evidence.length === 0 ? {} : { evidence }),
  };
}

/** Refusals that may pass with time: the approval is kept for a later try. */
export const transientCodes: ReadonlySet<ErrorReply['code']> = new Set<ErrorReply['code']>([
  'RATE_EXCEEDED',
  'CREDENTIAL_UNAVAILABLE',
  'DAEMON_NOT_READY',
  'BUDGET_EXCEEDED',
  'StoreUnavailable',
  'Busy',
  'ActionInFlight',
  'POLICY_DEFER',
]);
