/**
 * The approval service: reads, lists, waits for and decides approvals, for every door. INVARIANT: a decision is
 * committed against the version that was read, so two people cannot overwrite each other, and nobody decides what they
 * have not seen.
 */
import {
  type Approval,
  type ApprovalId,
  type ApprovalState,
  type Decider,
  type Edit,
  isOwnRequest,
  nameOf,
  standingVotes,
  stateAt,
  voted,
  whyNotDecide,
} from '../../core/approval/approval.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { safeText } from '../../core/values/redact.ts';
import {
  type ApprovalService,
  type ApprovalView,
  type Decided,
  type DecideProblem,
  type DecisionInput,
  viewOf,
} from './approval-service.ts';
import { onAbort } from '../call/requester.ts';
import { hasCurrentRules, endApproval, expireOrVoid, notifyWaiters } from './end-approval.ts';
import { commit, pause } from '../upkeep/commit.ts';
import { allowing, unattached } from './spending.ts';
import { checkEdit } from './edit-approval.ts';
import { runApproved } from './run-approved.ts';
import type { Scope, Shell } from '../shell.ts';
import type { CommitResult } from '../../ports/store.ts';
import { bare, note, numbered } from '../ending/transition.ts';

/** How often a waiter polls the store for what another process decided. */
const pollEveryMs = 250;
/** Limit of waiters in this process, since each of them polls. Above it, a wait returns at once. */
const maxWaiters = 1_024;
const maxReasonChars = 500;

/** `moved`: somebody else changed the approval first. */
type Attempted = Decided | 'moved';

export function createApprovals(shell: Shell): ApprovalService {
  return {
    async read(id, scope) {
      const found = await findInScope(id, scope, shell);
      return found === null ? null : viewOf(found, shell);
    },
    async list({ tenant, agent }, filter) {
      const found = await shell.ports.store.listApprovals({ ...filter, tenant, ...(agent === null ? {} : { agent }) });
      return Promise.all(found.map((approval) => viewOf(approval, shell)));
    },
    approve: (id, by, input) => decideWithRetry(id, by, (approval) => approveOnce(approval, by, input, shell), shell),
    deny: (id, by, input) =>
      decideWithRetry(
        id,
        by,
        async (approval) =>
          (await checkDecision('deny', approval, by, input, shell)) ??
          endByPerson('denied', approval, by, reasonOf(input), shell),
        shell,
      ),
    revoke: (id, by, input) => decideWithRetry(id, by, (approval) => revokeOnce(approval, by, input, shell), shell),
    wait: (id, scope, waitMs, signal) => waitForDecision(id, scope, waitMs, signal, shell),
    async mayClientDecide(id, { tenant, agent }) {
      const found = await findInScope(id, { tenant, agent }, shell);
      return found !== null && stateNow(found, shell) === 'pending' && found.terms.clientMayApprove;
    },
  };
}

async function findInScope(id: string, { tenant, agent }: Scope, { ports }: Shell): Promise<Approval | null> {
  const found = await ports.store.approval(id as ApprovalId);
  if (found === null || found.tenant !== tenant) return null;
  return agent === null || found.agent === agent ? found : null;
}

const stateNow = (approval: Approval, { ports }: Shell) => stateAt(approval, ports.clock.nowMs());

/** Reads the approval and decides it, again if somebody else changed it in between. */
async function decideWithRetry(
  id: string,
  by: Decider,
  decide: (approval: Approval) => Promise<Attempted>,
  shell: Shell,
): Promise<Decided> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const approval = await findInScope(id, { tenant: by.tenant, agent: null }, shell);
    if (approval === null) return problem('not_found', `there is no approval '${safeText(id, 64)}'; list them first`);
    const decided = await decide(approval);
    if (decided !== 'moved') return decided;
  }
  return problem('store_unavailable', 'it changes too often to be decided; ask again');
}

async function approveOnce(approval: Approval, by: Decider, input: DecisionInput, shell: Shell): Promise<Attempted> {
  const against = await checkDecision('approve', approval, by, input, shell);
  if (against !== null) return against;
  if (!(await hasCurrentRules(approval, shell))) {
    await expireOrVoid(approval, shell);
    return problem('not_pending', 'it is void: the rules it was asked for under have changed; the agent asks anew');
  }
  const name = nameOf(by);
  if (input.args !== undefined && approval.spending !== undefined)
    return problem('bad_edit', 'an amount is approved as it is, or denied; change the budget to change it');
  const edit = input.args === undefined ? null : await checkEdit(approval, input.args, name, shell);
  if (edit !== null && 'problem' in edit) return problem('bad_edit', edit.problem);
  // A vote covers one form of the call: the same person may vote again with an edit, or after somebody else's edit.
  if (edit === null && approval.votes.some((vote) => vote.by === name))
    return problem(
      'already_approved',
      `${name} has approved it already; ${approval.terms.needed} different people must`,
    );
  const atMs = shell.ports.clock.nowMs();
  const { shown: saw } = await viewOf(edit === null ? approval : { ...approval, edit }, shell);
  const votes = standingVotes(approval, rolesOf(shell));
  const next = voted({ ...approval, votes }, { decider: by, atMs, saw }, edit);
  const result = await recordVote(approval, next, { by, saw, edit, reason: reasonOf(input) }, shell);
  if (result.kind === 'unavailable') return problem('store_unavailable', 'the store cannot record it; ask again');
  if (result.kind === 'conflict') return 'moved';
  notifyWaiters(approval.id, shell);
  if (next.state === 'granted' && next.terms.onApprove === 'run') runApproved(next, shell);
  return { ok: true, approval: await viewOf(next, shell) };
}

interface CastVote {
  readonly by: Decider;
  /** The hash of what the approver was shown. */
  readonly saw: string;
  readonly edit: Edit | null;
  readonly reason: string | null;
}

/** Commits the approval with one more vote, and the record of that vote. */
async function recordVote(approval: Approval, next: Approval, vote: CastVote, shell: Shell): Promise<CommitResult> {
  const { by, saw, edit, reason } = vote;
  const call = approval.spending === undefined ? await shell.ports.store.call(approval.callId) : unattached(approval);
  const body = {
    approval: approval.id,
    by: nameOf(by),
    as: by.kind,
    ...clientOf(by),
    saw,
    state: next.state,
    approvals: next.votes.length,
    needed: approval.terms.needed,
    ...(edit === null ? {} : { edited: true }),
    ...(reason === null ? {} : { reason }),
  };
  const payloads = edit === null ? [] : [{ part: 'edited_args', text: edit.argsText ?? 'null' }];
  return commit(
    {
      ...bare(shell),
      approvals: [{ approval: next, expect: approval.version, maxPending: null }],
      // INVARIANT: what is allowed beyond a budget is allowed by the commit that grants it.
      accounts: next.state === 'granted' ? allowing(next, next.spending?.raiseMicros ?? 0) : [],
      ...(call === null ? {} : { session: numbered(call), records: [note('approval_approved', call, body, payloads)] }),
    },
    shell,
  );
}

async function revokeOnce(approval: Approval, by: Decider, input: DecisionInput, shell: Shell): Promise<Attempted> {
  // Revoking is the cautious choice, so roles do not matter: any person may do it, except the one who asked.
  if (by.kind !== 'person') return problem('not_an_approver', 'only a person with a key takes a decision back');
  if (isOwnRequest(approval, by.name)) return problem('own_request', 'who asked for it may not decide it');
  const state = stateNow(approval, shell);
  if (state === 'used' && (await isFinished(approval, shell)))
    return problem('not_pending', 'the call has run under it, and that cannot be taken back');
  if (state !== 'granted' && state !== 'denied' && state !== 'used')
    return problem('not_pending', `there is no decision to take back: it is ${state}`);
  return endByPerson('revoked', approval, by, reasonOf(input), shell);
}

async function waitForDecision(
  id: string,
  scope: Scope,
  waitMs: number,
  signal: AbortSignal | undefined,
  shell: Shell,
): Promise<ApprovalView | null> {
  const { clock } = shell.ports;
  const mayWait = countWaiters(shell) < maxWaiters;
  const until = clock.monotonicMs() + (mayWait ? Math.min(Math.max(0, waitMs), shell.limits.maxApprovalWaitMs) : 0);
  for (;;) {
    const waiter = registerWaiter(id as ApprovalId, shell);
    try {
      const found = await findInScope(id, scope, shell);
      const leftMs = until - clock.monotonicMs();
      if (found === null) return null;
      const { successor } = shell.live;
      if (successor !== null) return await waitForDecision(id, scope, leftMs, signal, successor);
      if (stateNow(found, shell) !== 'pending' || leftMs <= 0 || signal?.aborted || !shell.live.readiness.ready)
        return await viewOf(found, shell);
      const stopListening = onAbort(signal, waiter.notify);
      await Promise.race([waiter.notified, pause(clock, Math.min(leftMs, pollEveryMs))]);
      stopListening();
    } finally {
      waiter.remove();
    }
  }
}

const problem = (code: DecideProblem, message: string): Decided => ({ ok: false, problem: code, message });

const rolesOf = (shell: Shell) => new Map(Object.entries(shell.policy()?.written.roles ?? {}));

/** Null if the approval is pending, this decider may decide it, and what they were shown is what is there now. */
async function checkDecision(
  act: 'approve' | 'deny',
  approval: Approval,
  by: Decider,
  { shown }: DecisionInput,
  shell: Shell,
): Promise<Decided | null> {
  const against = checkPending(act, stateNow(approval, shell)) ?? checkDecider(approval, by, shell);
  if (against !== null || shown === undefined || shown === (await viewOf(approval, shell)).shown) return against;
  return problem('saw_another', 'it has changed since it was shown; look at it again');
}

function checkPending(act: 'approve' | 'deny', state: ApprovalState): Decided | null {
  if (state === 'pending') return null;
  const hint = state === 'granted' && act === 'deny' ? '; revoke it instead' : '';
  return problem('not_pending', `it is ${state}, and only a pending one can be decided${hint}`);
}

function checkDecider(approval: Approval, by: Decider, shell: Shell): Decided | null {
  const why = whyNotDecide(approval, by, rolesOf(shell));
  if (why === null) return null;
  if (why === 'own_request') return problem(why, 'who asked for it may not decide it');
  const wanted =
    approval.terms.roles === null ? 'a person' : `somebody with the role ${approval.terms.roles.join(' or ')}`;
  return problem(why, `${nameOf(by)} may not decide this: it takes ${wanted}`);
}

function reasonOf({ reason }: DecisionInput): string | null {
  const text = typeof reason === 'string' ? safeText(reason.toWellFormed(), maxReasonChars).trim() : '';
  return text === '' ? null : text;
}

async function endByPerson(
  kind: 'denied' | 'revoked',
  approval: Approval,
  by: Decider,
  reason: string | null,
  shell: Shell,
): Promise<Attempted> {
  const ending = await endApproval(approval, { kind, by: nameOf(by), reason, ...clientOf(by) }, shell);
  if (ending.kind === 'moved') return 'moved';
  if (ending.kind === 'store_unavailable') return problem('store_unavailable', 'the store cannot record it; ask again');
  return { ok: true, approval: await viewOf(ending.approval, shell) };
}

/** A call that is under way, or in doubt, may still be sent again, and revoking its approval prevents that. */
async function isFinished({ callId }: Approval, { ports }: Shell): Promise<boolean> {
  const call = await ports.store.call(callId);
  return call === null || !(isUnderWay(call.state) || call.state === 'IN_DOUBT');
}

/** The name of the client through which its user decided. */
const clientOf = (by: Decider): { client?: string } =>
  by.kind === 'client' && by.client !== undefined ? { client: by.client } : {};

function countWaiters({ live }: Shell): number {
  let count = 0;
  for (const waiters of live.approvalWaiters.values()) count += waiters.size;
  return count;
}

/** Call it before reading the approval, so that a decision in between is not missed. */
function registerWaiter(id: ApprovalId, { live }: Shell) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiters = live.approvalWaiters.get(id) ?? new Set();
  live.approvalWaiters.set(id, waiters.add(resolve));
  const remove = () => {
    waiters.delete(resolve);
    if (waiters.size === 0 && live.approvalWaiters.get(id) === waiters) live.approvalWaiters.delete(id);
  };
  return { notified: promise, notify: resolve, remove };
}
