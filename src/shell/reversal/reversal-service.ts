/**
 * Reversals and rollbacks, for every door: an agent redeems its own token, a person has a call undone or a session
 * rolled back. What belongs to others is treated as absent.
 */
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { pending } from '../../core/call/answer.ts';
import type { Reply } from '../../core/call/reply.ts';
import { type RefusalReason, refusalReasons, type Undone, whyNotRedeem } from '../../core/reversal/redeem-check.ts';
import type { Reversal } from '../../core/reversal/reversal.ts';
import {
  type ReversalView,
  type RollbackView,
  viewOfReversal,
  viewOfRollback,
} from '../../core/reversal/reversal-view.ts';
import { safeText } from '../../core/values/redact.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { StoredCall } from '../../ports/store.ts';
import type { Requester } from '../call/requester.ts';
import { envelopeOf } from '../ending/ending.ts';
import { storedReply } from '../ending/stored-reply.ts';
import { bare } from '../ending/transition.ts';
import type { Scope, Shell } from '../shell.ts';
import { commit, pause } from '../upkeep/commit.ts';
import { carryOut, orderReversal, tellRefused } from './order.ts';
import { redeem, reversingArgs } from './redeem.ts';
import { refusedForPerson, refuseToken } from './refuse-token.ts';
import { rollBackBeside } from './roll-back.ts';
import { startRollback } from './start-rollback.ts';

export type { ReversalView, RollbackView };

export interface Asking {
  /** Who asks, for the record. */
  readonly by: string;
  readonly reason?: string;
  /** How long to wait for the end; null for as long as it takes. */
  readonly waitMs: number | null;
}

export interface ReversalService {
  /** Never rejects for a token: what cannot be redeemed is a reply. */
  redeem(
    token: string,
    who: Principal,
    asking: { readonly requester: Requester; readonly waitMs: number | null },
  ): Promise<Reply>;
  /** What undoing this call would do now; null if there is no such call in the scope. */
  look(call: string, scope: Scope): Promise<ReversalView | null>;
  /** Undoes a call because a person says so. Null if there is no such call in the scope. */
  reverse(call: string, scope: Scope, asking: Asking): Promise<Reply | null>;
  /** Null if there is no such session in the scope. */
  rollBack(session: string, scope: Scope, asking: Asking): Promise<RollbackView | 'store_unavailable' | null>;
  rollback(session: string, scope: Scope): Promise<RollbackView | null>;
}

const maxReasonChars = 300;
const byPerson = 'a person asked for it';

export function createReversals(shell: Shell): ReversalService {
  const { store, clock } = shell.ports;
  return {
    async redeem(token, who, { requester, waitMs }) {
      const askedAtMs = clock.nowMs();
      const found = await store.reversal(token);
      const why = whyNotRedeem(found, who, askedAtMs);
      if (found === null || (why !== null && why !== 'redeemed'))
        return refuseToken({ reason: why ?? 'unknown', why: null, token, reversal: knownTo(who, found) }, who, shell);
      const redeemed = await redeem(found, { requester, waitMs, askedAtMs }, shell);
      if (redeemed.kind === 'answered') return redeemed.reply;
      return refuseToken({ ...redeemed, token, reversal: found }, who, shell);
    },
    async look(id, scope) {
      const call = await callIn(id, scope, shell);
      const reversal = call === null ? null : await store.reversalOf(call.id);
      if (call === null || reversal === null) return null;
      const made = await reversingArgs(reversal, shell);
      return viewOfReversal(reversal, 'args' in made ? made : { problem: made.why ?? refusalReasons[made.reason] });
    },
    async reverse(id, scope, asking) {
      const call = await callIn(id, scope, shell);
      return call === null ? null : reverseCall(call, asking, shell);
    },
    rollBack: (id, scope, asking) => rollBackSession(id, scope, asking, shell),
    rollback: async (id, scope) => lookAtRollback(id, scope, shell),
  };
}

/** INVARIANT: of the tokens of another tenant nobody hears anything, nor does its record. */
const knownTo = ({ tenant }: Principal, found: Reversal | null): Reversal | null =>
  found?.tenant === tenant ? found : null;

const isIn = (of: Principal, { tenant, agent }: Scope): boolean =>
  of.tenant === tenant && (agent === null || of.agent === agent);

async function callIn(id: string, scope: Scope, { ports }: Shell): Promise<StoredCall | null> {
  const call = await ports.store.call(id as CallId);
  return call !== null && isIn(call, scope) ? call : null;
}

const reasonIn = ({ reason }: Asking): string => {
  const said = reason === undefined ? '' : safeText(reason.replaceAll(/\p{Cc}+/gu, ' '), maxReasonChars).trim();
  return said === '' ? byPerson : said;
};

async function reverseCall(call: StoredCall, asking: Asking, shell: Shell): Promise<Reply> {
  const { store, clock } = shell.ports;
  const askedAtMs = clock.nowMs();
  const order = { by: asking.by, reason: reasonIn(asking) };
  const refuse = (reason: RefusalReason, why: string | null = null) =>
    refusedForPerson(call, { reason, why }, order.reason, shell);
  const tell = async (about: Parameters<typeof tellRefused>[0], reason: RefusalReason, why: string | null = null) => {
    await tellRefused(about, reason, { by: order.by, why }, shell);
    return refuse(reason, why);
  };
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const found = await store.reversalOf(call.id);
    if (found === null) return tell({ ...call, call: call.id }, 'no_reversal');
    const why = whyNotRedeem(found, found, clock.nowMs());
    if (why === 'redeemed') {
      const late = await reuseOf(found, askedAtMs, shell);
      if (late !== null) return tell(found, 'redeemed', late);
    } else if (why !== null) return tell(found, why);
    else if (found.state === 'armed') {
      const ordered = await orderReversal(found, order, shell);
      if (ordered.kind === 'unavailable') return pending(envelopeOf(call, shell), 1);
      // Somebody else has moved it: look again.
      if (ordered.kind === 'conflict') continue;
    }
    return replyOf(await carryOut(call.id, shell, asking.waitMs), call, refuse, shell);
  }
  return pending(envelopeOf(call, shell), 1);
}

/** The call that has used the token, if it had ended before this was asked; null if this came in time. */
async function reuseOf({ redeemedBy }: Reversal, askedAtMs: number, { ports }: Shell): Promise<string | null> {
  const by = redeemedBy === null ? null : await ports.store.call(redeemedBy);
  return by !== null && by.state === 'SUCCEEDED' && askedAtMs > by.updatedAtMs ? by.id : null;
}

async function replyOf(
  undone: Undone,
  call: StoredCall,
  refuse: (reason: RefusalReason, why: string | null) => Reply,
  shell: Shell,
): Promise<Reply> {
  switch (undone.kind) {
    case 'reversed':
    case 'unknown': {
      const by = await shell.ports.store.call(undone.by);
      return by === null ? pending(envelopeOf(call, shell), 1) : storedReply(by, shell);
    }
    case 'later':
      return pending(envelopeOf(call, shell), 1);
    case 'refused':
      return refuse(undone.reason, undone.why);
    default:
      return unreachable(undone);
  }
}

async function rollBackSession(
  id: string,
  scope: Scope,
  asking: Asking,
  shell: Shell,
): Promise<RollbackView | 'store_unavailable' | null> {
  const session = await shell.ports.store.session(id as SessionId);
  if (session === null || !isIn(session, scope)) return null;
  const { rollbacks = [], notes: records = [] } = startRollback(session, asking.by, reasonIn(asking), shell);
  const started = await commit({ ...bare(shell), rollbacks, records }, shell);
  if (started.kind !== 'committed') return 'store_unavailable';
  for (const [plain, of] of shell.live.standing) if (of === session.id) shell.live.standing.delete(plain);
  rollBackBeside(session.id, shell);
  return untilFinished(session.id, scope, asking.waitMs, shell);
}

const pollEveryMs = 50;

async function untilFinished(
  session: SessionId,
  scope: Scope,
  waitMs: number | null,
  shell: Shell,
): Promise<RollbackView | null> {
  const { clock } = shell.ports;
  const until = clock.monotonicMs() + (waitMs ?? shell.limits.defaultDeadlineMs);
  for (;;) {
    const view = await lookAtRollback(session, scope, shell);
    if (view?.state !== 'running' || shell.live.draining || clock.monotonicMs() >= until) return view;
    await pause(clock, Math.min(pollEveryMs, Math.max(1, until - clock.monotonicMs())));
  }
}

async function lookAtRollback(id: string, scope: Scope, { ports: { store } }: Shell): Promise<RollbackView | null> {
  const rollback = await store.rollback(id as SessionId);
  if (rollback === null || !isIn(rollback, scope)) return null;
  return viewOfRollback(rollback, await store.rollbackSteps(rollback.session));
}
