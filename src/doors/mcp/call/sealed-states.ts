/**
 * Signed request states for approvals that the client's user decides. A state is valid once, for one agent, request
 * and version of the approval, for a limited time. It needs no memory: using it changes the version.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../../core/call/call.ts';
import { canonicalText } from '../../../core/values/canonical.ts';
import type { ApprovalBinding, DoorApprovals, McpDoorLimits } from '../parts.ts';

/** Why a state is not accepted. Safe to tell: none of it helps to forge one. */
export const stateProblems = {
  forged: 'it was not given out by this gateway',
  foreign: 'it was given out to somebody else or for another call',
  expired: 'its time is over',
  replayed: 'it was used before, or somebody has decided since',
  outdated: 'the rules of the agent have changed since',
} as const;

export type StateProblem = keyof typeof stateProblems;

/** Whom a state belongs to: the agent, its request, and the door. */
export interface StateHolder {
  readonly door: string;
  readonly who: Principal;
  /** The request in canonical form. */
  readonly request: string;
}

export interface ShownApproval {
  readonly id: string;
  /** Hash of what the user was shown. */
  readonly shown: string;
}

export type Taken =
  | ({ readonly ok: true; readonly session: string | null } & ShownApproval)
  | { readonly ok: false; readonly problem: StateProblem };

export type SealedStates = ReturnType<typeof createSealedStates>;

const prefix = 'approval1.';
const maxStateChars = 4_096;

/** By its prefix alone; it need not be genuine. */
export const isSealed = (state: unknown): state is string => typeof state === 'string' && state.startsWith(prefix);

type Fields = readonly [holder: string, expiresAtMs: number, id: string, shown: string, version: number, rules: string];

type StateLimits = Pick<McpDoorLimits, 'sealedForMs'>;

export function createSealedStates(approvals: DoorApprovals, { sealedForMs }: StateLimits) {
  const fieldsOf = (state: string): Fields | null => {
    const [text = '', mark = '', ...more] = state.slice(prefix.length).split('.');
    if (state.length > maxStateChars || more.length > 0) return null;
    const written = Buffer.from(text, 'base64url').toString('utf8');
    const genuine = approvals.seal(written);
    // INVARIANT: nothing of a state is read before its signature is verified.
    if (genuine === null || !isSame(mark, genuine)) return null;
    return JSON.parse(written) as Fields;
  };

  return {
    /** Null if the gateway has no key to sign with: then the client is not asked. */
    give({ id, shown }: ShownApproval, { version, rules, expiresAtMs }: ApprovalBinding, holder: StateHolder) {
      const until = Math.min(approvals.nowMs() + sealedForMs, expiresAtMs);
      const text = canonicalText([nameOf(holder), until, id, shown, version, rules] satisfies Fields);
      const mark = approvals.seal(text);
      return mark === null ? null : `${prefix}${Buffer.from(text).toString('base64url')}.${mark}`;
    },

    async take(state: string, holder: StateHolder): Promise<Taken> {
      const fields = fieldsOf(state);
      if (fields === null) return no('forged');
      const [given, expiresAtMs, id, shown, version, rules] = fields;
      if (given !== nameOf(holder)) return no('foreign');
      if (approvals.nowMs() >= expiresAtMs) return no('expired');
      const now = await approvals.binding(id, holder.who);
      if (now === null || now.version !== version) return no('replayed');
      if (now.rules !== rules) return no('outdated');
      // INVARIANT: used up on record before the answer counts, so that one of two concurrent uses is refused.
      const isFirst = await approvals.spend(id, holder.who, version);
      return isFirst ? { ok: true, id, shown, session: now.session } : no('replayed');
    },
  };
}

const no = (problem: StateProblem) => ({ ok: false, problem }) as const;

function nameOf({ door, who: { tenant, agent }, request }: StateHolder): string {
  return createHash('sha256')
    .update(canonicalText([door, tenant, agent, request]))
    .digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
