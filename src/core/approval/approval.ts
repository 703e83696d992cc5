/**
 * Defines approvals: their states, who may decide, and which call an approval covers. Pure. The store keeps approvals,
 * the shell opens and decides them, and gates/approval.ts asks for them.
 */
import type { CallId, SessionId } from '../call/call.ts';
import { unreachable } from '../values/unreachable.ts';

declare const brand: unique symbol;
export type ApprovalId = string & { readonly [brand]: 'ApprovalId' };

export const approvalStates = {
  pending: { meaning: 'nobody has decided yet, or not enough people have', isLive: true },
  granted: { meaning: 'the call may run once, exactly as it was approved', isLive: true },
  denied: { meaning: 'a person said no; equal calls are denied until it expires', isLive: true },
  used: { meaning: 'the call ran under it; it covers no other', isLive: false },
  expired: { meaning: 'its time ran out', isLive: false },
  revoked: { meaning: 'a person took the decision back; nothing more is sent under it', isLive: false },
  void: {
    meaning: 'what it was bound to has changed: the rules, the evidence, or whether the call may run at all',
    isLive: false,
  },
} as const;

export type ApprovalState = keyof typeof approvalStates;

/** The store refuses every other move. */
export const legalApprovalMoves: Readonly<Record<ApprovalState, readonly ApprovalState[]>> = {
  pending: ['pending', 'granted', 'denied', 'expired', 'revoked', 'void'],
  granted: ['used', 'expired', 'revoked', 'void'],
  denied: ['expired', 'revoked', 'void'],
  /** Its call may still be waiting for another attempt, which must not come. */
  used: ['revoked'],
  expired: [],
  revoked: [],
  void: [],
};

/** How a rule wants to be asked for: what a gate leaves behind when it passes on condition. */
export interface ApprovalTerms {
  /** The roles of which somebody must approve; null for every person who may approve at all. */
  readonly roles: readonly string[] | null;
  /** How many different people must approve. */
  readonly needed: number;
  readonly expiresMs: number;
  /** `wait`: the caller asks again. `run`: the gateway runs it as soon as it is approved. */
  readonly onApprove: 'wait' | 'run';
  /** Whether the user of the agent's own client counts as one who may approve. */
  readonly clientMayApprove: boolean;
}

export const defaultTerms: ApprovalTerms = {
  roles: null,
  needed: 1,
  expiresMs: 24 * 3_600_000,
  onApprove: 'wait',
  clientMayApprove: false,
};

/** What a gate leaves behind when it lets a call pass on condition. */
export interface Obligation {
  /** `file:line` of what asks for it. */
  readonly ref: string;
  /** The rule's own words; null if it has none. */
  readonly reason: string | null;
  readonly terms: ApprovalTerms;
}

/** The approval of one person. */
export interface Vote {
  readonly by: string;
  readonly atMs: number;
  /** Hash of what they were shown. */
  readonly saw: string;
}

/** A call as changed by its approver. */
export interface Edit {
  readonly by: string;
  /** Null once it was erased. */
  readonly argsText: string | null;
  /** The subject of the call with these arguments. */
  readonly subject: string;
}

export interface Approval {
  readonly id: ApprovalId;
  /** Moves by one with every change; a change names the one it has seen. */
  readonly version: number;
  readonly tenant: string;
  readonly agent: string;
  readonly session: SessionId | null;
  /** As the agent asked for it. */
  readonly tool: string;
  /** Hash of who asks for what with which arguments: equal calls have equal subjects, and share one approval. */
  readonly subject: string;
  /** Hash of the agent's rules about this tool, without comments and lines. */
  readonly rules: string;
  /** Hash of the evidence it rests on; null without any. */
  readonly evidence: string | null;
  /** The call that waits, or that ran under it. */
  readonly callId: CallId;
  readonly state: ApprovalState;
  /** `file:line` of each obligation, the first of them first. */
  readonly refs: readonly string[];
  readonly reason: string | null;
  readonly terms: ApprovalTerms;
  /** Hash of what an approver is shown. */
  readonly shown: string;
  /** The model that the caller said it is. */
  readonly model: string | null;
  readonly votes: readonly Vote[];
  readonly edit: Edit | null;
  /** Who ended it, and why; null while it is pending, and for what ended by itself. */
  readonly decided: { readonly by: string; readonly atMs: number; readonly reason: string | null } | null;
  readonly openedAtMs: number;
  readonly expiresAtMs: number;
  /** What it lets be spent beyond a budget, in one window; absent for one that is bound to a call. */
  readonly spending?: Spending;
}

export interface Spending {
  readonly budget: string;
  readonly account: string;
  readonly unit: string;
  readonly maxMicros: number;
  readonly raiseMicros: number;
  /** When the window ends; null if it does not. */
  readonly endsAtMs: number | null;
}

/** All obligations of a call are met by one approval: the strictest of each term counts. */
export function joinObligations(obligations: readonly Obligation[]): ApprovalTerms {
  return obligations.map(({ terms }) => terms).reduce(stricter, obligations[0]?.terms ?? defaultTerms);
}

function stricter(one: ApprovalTerms, other: ApprovalTerms): ApprovalTerms {
  return {
    roles:
      one.roles === null
        ? other.roles
        : other.roles === null
          ? one.roles
          : one.roles.filter((role) => other.roles?.includes(role)),
    needed: Math.max(one.needed, other.needed),
    expiresMs: Math.min(one.expiresMs, other.expiresMs),
    onApprove: one.onApprove === 'wait' || other.onApprove === 'wait' ? 'wait' : 'run',
    clientMayApprove: one.clientMayApprove && other.clientMayApprove,
  };
}

/**
 * Whether it is as good as one that was asked for under these terms now. INVARIANT: nobody gets by with less than what
 * is wanted.
 */
export function covers(
  { terms, votes, agent, tenant, openedAtMs }: Approval,
  wanted: ApprovalTerms,
  nowMs: number,
): boolean {
  const allowed = wanted.roles;
  const isByThem = allowed === null || (terms.roles?.every((role) => allowed.includes(role)) ?? false);
  const client = nameOf({ kind: 'client', tenant, agent });
  const isByClient = votes.some(({ by }) => by === client);
  const isInTime = nowMs < openedAtMs + wanted.expiresMs;
  return isByThem && terms.needed >= wanted.needed && isInTime && (wanted.clientMayApprove || !isByClient);
}

/** Who says something about an approval: a person with a key, or the user of the agent's own client. */
export type Decider =
  | { readonly kind: 'person'; readonly tenant: string; readonly name: string }
  /** `client`: what it calls itself, for the record; nobody has checked it. */
  | { readonly kind: 'client'; readonly tenant: string; readonly agent: string; readonly client?: string };

/** The name under which it is on record. A person who took the other's name decides nothing of that agent's. */
export function nameOf(decider: Decider): string {
  switch (decider.kind) {
    case 'person':
      return decider.name;
    case 'client':
      return `the user of ${decider.agent}`;
    default:
      return unreachable(decider);
  }
}

export const isLive = ({ state }: Approval): boolean => approvalStates[state].isLive;

/** The state as it is at this moment: what is past its time has expired, whether or not anybody wrote it down. */
export function stateAt(approval: Approval, nowMs: number): ApprovalState {
  return isLive(approval) && nowMs >= approval.expiresAtMs ? 'expired' : approval.state;
}

/** Whether this name belongs to the requesting agent or to the user of its client. */
export const isOwnRequest = ({ tenant, agent }: Approval, name: string): boolean =>
  name === agent || name === nameOf({ kind: 'client', tenant, agent });

/** Why this one may not decide; null if they may. INVARIANT: the requester never decides, nor does an agent's key. */
export function whyNotDecide(
  approval: Approval,
  decider: Decider,
  roles: ReadonlyMap<string, readonly string[]>,
): 'own_request' | 'not_an_approver' | null {
  if (decider.kind === 'client') {
    const own = decider.tenant === approval.tenant && decider.agent === approval.agent;
    return own && approval.terms.clientMayApprove ? null : 'not_an_approver';
  }
  if (isOwnRequest(approval, decider.name)) return 'own_request';
  if (approval.terms.roles === null) return null;
  const mayBe = approval.terms.roles.some((role) => roles.get(role)?.includes(decider.name) === true);
  return mayBe ? null : 'not_an_approver';
}

/** The votes that still count: those of people who still have the role. */
export function standingVotes(approval: Approval, roles: ReadonlyMap<string, readonly string[]>): readonly Vote[] {
  const { tenant, agent } = approval;
  const user: Decider = { kind: 'client', tenant, agent };
  return approval.votes.filter(({ by }) => {
    const decider: Decider = by === nameOf(user) ? user : { kind: 'person', tenant, name: by };
    return whyNotDecide(approval, decider, roles) === null;
  });
}

export interface Said {
  readonly decider: Decider;
  readonly atMs: number;
  readonly saw: string;
}

/** 9999-12-31T23:59:59Z, the last instant that RFC 3339 can write. */
const endOfTimeMs = 253_402_300_799_000;

/** What a person decided about spending stands until the window ends, however long they had for it. */
const standsUntil = ({ spending, expiresAtMs }: Approval): number =>
  spending === undefined ? expiresAtMs : (spending.endsAtMs ?? endOfTimeMs);

/**
 * Adds one approval. A changed call is approved by the person who changed it; earlier votes were for another call and
 * are dropped.
 */
export function voted(approval: Approval, { decider, atMs, saw }: Said, edit: Edit | null): Approval {
  const by = nameOf(decider);
  const votes = [...(edit === null ? approval.votes : []), { by, atMs, saw }];
  const isGranted = votes.length >= approval.terms.needed;
  return {
    ...approval,
    version: approval.version + 1,
    votes,
    edit: edit ?? approval.edit,
    state: isGranted ? 'granted' : 'pending',
    expiresAtMs: isGranted ? standsUntil(approval) : approval.expiresAtMs,
    decided: isGranted ? { by, atMs, reason: null } : approval.decided,
  };
}

/** Ended by a decision, or by itself if `decided` is null. */
export function ended(
  approval: Approval,
  state: Exclude<ApprovalState, 'pending' | 'granted'>,
  decided: Approval['decided'],
): Approval {
  return {
    ...approval,
    version: approval.version + 1,
    state,
    expiresAtMs: state === 'denied' ? standsUntil(approval) : approval.expiresAtMs,
    decided: decided ?? approval.decided,
  };
}
