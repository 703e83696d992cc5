/**
 * Looks at approvals, waits for them and decides them, for every door. INVARIANT: a decision is committed against the very
 * version that was looked at, so two people cannot decide past each other, and nobody decides what they have not seen.
 */
import {
  type Approval,
  type ApprovalId,
  type Decider,
  isOwnRequest,
  nameOf,
  standingVotes,
  stateAt,
  voted,
  whyNotDecide,
} from '../../core/approval/approval.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { safeText } from '../../core/values/redact.ts';
import { type ApprovalService, type Decided, type DecideProblem, type Word, viewOf } from './approval-service.ts';
import { onAbort } from '../call/requester.ts';
import { isBoundNow, endApproval, lapse, wake } from './end-approval.ts';
import { commit, pause } from '../upkeep/commit.ts';
import { editOf } from './edit-approval.ts';
import { runApproved } from './run-approved.ts';
import type { Shell } from '../shell.ts';
import type { Scope } from '../shell.ts';
import { bare, note, numbered } from '../ending/transition.ts';

/** How often somebody who waits looks for what another process decided. */
const pollEveryMs = 250;
/** Who wait in this process at once: each of them looks so often. One more is told at once how it stands. */
const maxWaiters = 1_024;
const maxReasonChars = 500;

export function createApprovals(shell: Shell): ApprovalService {
  const { store, clock } = shell.ports;
  const within = async (id: string, { tenant, agent }: Scope): Promise<Approval | null> => {
    const found = await store.approval(id as ApprovalId);
    if (found === null || found.tenant !== tenant) return null;
    return agent === null || found.agent === agent ? found : null;
  };
  const stateNow = (approval: Approval) => stateAt(approval, clock.nowMs());

  /** Decides against the version that was read, again if somebody was faster. */
  const deciding = async (
    id: string,
    by: Decider,
    decide: (approval: Approval) => Promise<Decided | 'moved'>,
  ): Promise<Decided> => {
    for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
      const approval = await within(id, { tenant: by.tenant, agent: null });
      if (approval === null) return no('not_found', `there is no approval '${safeText(id, 64)}'; list them first`);
      const decided = await decide(approval);
      if (decided !== 'moved') return decided;
    }
    return no('store_unavailable', 'it changes too often to be decided; ask again');
  };

  const approve = async (approval: Approval, by: Decider, word: Word): Promise<Decided | 'moved'> => {
    const against = notNow(approval, 'approve') ?? notBy(approval, by, shell) ?? (await notSeen(approval, word, shell));
    if (against !== null) return against;
    if (!(await isBoundNow(approval, shell))) {
      await lapse(approval, shell);
      return no('not_pending', 'it is void: the rules it was asked for under have changed; the agent asks anew');
    }
    const name = nameOf(by);
    const edit = word.args === undefined ? null : await editOf(approval, word.args, name, shell);
    if (edit !== null && 'problem' in edit) return no('bad_edit', edit.problem);
    // Who approved it before others changed it has not approved what it is now.
    if (edit === null && approval.votes.some((vote) => vote.by === name))
      return no('already_approved', `${name} has approved it already; ${approval.terms.needed} different people must`);
    const atMs = clock.nowMs();
    const { shown: saw } = await viewOf(edit === null ? approval : { ...approval, edit }, shell);
    const votes = standingVotes(approval, rolesOf(shell));
    const next = voted({ ...approval, votes }, { decider: by, atMs, saw }, edit);
    const call = await store.call(approval.callId);
    const reason = reasonOf(word);
    const body = {
      approval: approval.id,
      by: name,
      as: by.kind,
      ...throughClient(by),
      saw,
      state: next.state,
      approvals: next.votes.length,
      needed: approval.terms.needed,
      ...(edit === null ? {} : { edited: true }),
      ...(reason === null ? {} : { reason }),
    };
    const payloads = edit === null ? [] : [{ part: 'edited_args', text: edit.argsText ?? 'null' }];
    const result = await commit(
      {
        ...bare(shell),
        approvals: [{ approval: next, expect: approval.version, maxPending: null }],
        ...(call === null
          ? {}
          : { session: numbered(call), records: [note('approval_approved', call, body, payloads)] }),
      },
      shell,
    );
    if (result.kind === 'unavailable') return no('store_unavailable', 'the store cannot record it; ask again');
    if (result.kind === 'conflict') return 'moved';
    wake(approval.id, shell);
    if (next.state === 'granted' && next.terms.onApprove === 'run') runApproved(next, shell);
    return { ok: true, approval: await viewOf(next, shell) };
  };

  return {
    async read(id, scope) {
      const found = await within(id, scope);
      return found === null ? null : viewOf(found, shell);
    },
    async list({ tenant, agent }, wish) {
      const found = await store.listApprovals({ ...wish, tenant, ...(agent === null ? {} : { agent }) });
      return Promise.all(found.map((approval) => viewOf(approval, shell)));
    },
    approve: (id, by, word) => deciding(id, by, (approval) => approve(approval, by, word)),
    deny: (id, by, word) =>
      deciding(id, by, async (approval) => {
        const against =
          notNow(approval, 'deny') ?? notBy(approval, by, shell) ?? (await notSeen(approval, word, shell));
        return against ?? endBy('denied', approval, by, reasonOf(word), shell);
      }),
    revoke: (id, by, word) =>
      deciding(id, by, async (approval) => {
        // To take a decision back is to be careful: whoever may approve anything may do it, whatever their role.
        if (by.kind !== 'person') return no('not_an_approver', 'only a person with a key takes a decision back');
        if (isOwnRequest(approval, by.name)) return no('own_request', 'who asked for it may not decide it');
        const state = stateNow(approval);
        if (state === 'used' && (await isOver(approval, shell)))
          return no('not_pending', 'the call has run under it, and that cannot be taken back');
        if (state !== 'granted' && state !== 'denied' && state !== 'used')
          return no('not_pending', `there is no decision to take back: it is ${state}`);
        return endBy('revoked', approval, by, reasonOf(word), shell);
      }),
    async wait(id, scope, waitMs, signal) {
      const mayWait = waitersIn(shell) < maxWaiters;
      const until = clock.monotonicMs() + (mayWait ? Math.min(Math.max(0, waitMs), shell.limits.maxApprovalWaitMs) : 0);
      for (;;) {
        const woken = awaken(id as ApprovalId, shell);
        try {
          const found = await within(id, scope);
          const leftMs = until - clock.monotonicMs();
          if (found === null) return null;
          const { successor } = shell.live;
          if (successor !== null) return await createApprovals(successor).wait(id, scope, leftMs, signal);
          if (stateNow(found) !== 'pending' || leftMs <= 0 || signal?.aborted || !shell.live.readiness.ready)
            return await viewOf(found, shell);
          const stopListening = onAbort(signal, woken.now);
          await Promise.race([woken.promise, pause(clock, Math.min(leftMs, pollEveryMs))]);
          stopListening();
        } finally {
          woken.forget();
        }
      }
    },
    async mayClientDecide(id, { tenant, agent }) {
      const found = await within(id, { tenant, agent });
      return found !== null && stateNow(found) === 'pending' && found.terms.clientMayApprove;
    },
  };

  function notNow(approval: Approval, act: 'approve' | 'deny'): Decided | null {
    const state = stateNow(approval);
    if (state === 'pending') return null;
    const hint = state === 'granted' && act === 'deny' ? '; revoke it instead' : '';
    return no('not_pending', `it is ${state}, and only a pending one can be decided${hint}`);
  }
}

const no = (problem: DecideProblem, message: string): Decided => ({ ok: false, problem, message });

const rolesOf = (shell: Shell) => new Map(Object.entries(shell.policy()?.written.roles ?? {}));

function notBy(approval: Approval, by: Decider, shell: Shell): Decided | null {
  const why = whyNotDecide(approval, by, rolesOf(shell));
  if (why === null) return null;
  if (why === 'own_request') return no(why, 'who asked for it may not decide it');
  const wanted =
    approval.terms.roles === null ? 'a person' : `somebody with the role ${approval.terms.roles.join(' or ')}`;
  return no(why, `${nameOf(by)} may not decide this: it takes ${wanted}`);
}

async function notSeen(approval: Approval, { shown }: Word, shell: Shell): Promise<Decided | null> {
  if (shown === undefined || shown === (await viewOf(approval, shell)).shown) return null;
  return no('saw_another', 'it has changed since it was shown; look at it again');
}

function reasonOf({ reason }: Pick<Word, 'reason'>): string | null {
  const text = typeof reason === 'string' ? safeText(reason.toWellFormed(), maxReasonChars).trim() : '';
  return text === '' ? null : text;
}

async function endBy(
  kind: 'denied' | 'revoked',
  approval: Approval,
  by: Decider,
  reason: string | null,
  shell: Shell,
): Promise<Decided | 'moved'> {
  const ending = await endApproval(approval, { kind, by: nameOf(by), reason, ...throughClient(by) }, shell);
  if (ending.kind === 'moved') return 'moved';
  if (ending.kind === 'store_unavailable') return no('store_unavailable', 'the store cannot record it; ask again');
  return { ok: true, approval: await viewOf(ending.approval, shell) };
}

/** A call that is under way, or in doubt, may still be sent again: that can be stopped. */
async function isOver({ callId }: Approval, { ports }: Shell): Promise<boolean> {
  const call = await ports.store.call(callId);
  return call === null || !(isUnderWay(call.state) || call.state === 'IN_DOUBT');
}

/** What the client calls itself through which its user spoke. */
const throughClient = (by: Decider): { client?: string } =>
  by.kind === 'client' && by.client !== undefined ? { client: by.client } : {};

function waitersIn({ live }: Shell): number {
  let count = 0;
  for (const waiters of live.approvalWaiters.values()) count += waiters.size;
  return count;
}

/** Registered before the look, so that a decision in between is not missed. */
function awaken(id: ApprovalId, { live }: Shell) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiters = live.approvalWaiters.get(id) ?? new Set();
  live.approvalWaiters.set(id, waiters.add(resolve));
  const forget = () => {
    waiters.delete(resolve);
    if (waiters.size === 0 && live.approvalWaiters.get(id) === waiters) live.approvalWaiters.delete(id);
  };
  return { promise, now: resolve, forget };
}
