/**
 * The facts that gates may look at, gathered by the shell. A fact that was not fetched is absent, never a default.
 * Every fact that was used is recorded, so that a decision can be replayed.
 */
import type { Approval, ApprovalId } from '../approval/approval.ts';
import type { CallId, Principal, Request, SessionId } from '../call/call.ts';
import type { BudgetFact } from '../budget/judge-budgets.ts';
import type { Catalogue, FieldError } from '../call/catalogue.ts';
import type { Reversal } from '../reversal/reversal.ts';
import type { ChangedEvidence } from '../call/reply.ts';
import type { Json } from '../values/json.ts';
import type { AgentPolicy } from '../policy/policy.ts';
import type { DenialFact, FenceFact, StepFact } from '../workflow/step.ts';

export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly doing: 'starting' | 'recovering' | 'closing';
      readonly retryAfterSeconds: number;
    };

export type SessionFact =
  /**
   * `elsewhere`: of another store. `foreign`: of another agent of the tenant. `unserved`: of a workflow that is not
   * here. `unnamed`: of another than the step names. `plain`: of none, where one is needed.
   */
  | { readonly found: false; readonly why: 'unknown' | 'elsewhere' | 'foreign' | 'unserved' | 'unnamed' | 'plain' }
  | {
      readonly found: true;
      readonly id: SessionId;
      readonly state: 'open' | 'cancelled' | 'stopped' | 'closed';
      /** Why it was stopped or closed. */
      readonly reason: string | null;
      readonly seq: number;
      /** Null without a workflow. */
      readonly step: StepFact | null;
    };

export type ArgumentsFact =
  | { readonly ok: true; readonly args: Json }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** The current policy, for the calling agent. */
export interface PolicyFact {
  readonly mode: 'enforce' | 'audit';
  /** Null for an agent that policy does not know: nothing is permitted to it. */
  readonly agent: AgentPolicy | null;
  /** `file:line` where agents are declared. */
  readonly ref: string;
}

/** What is known about the approval of a call that needs one. */
export interface ApprovalFact {
  /** Hash of who asks for what with which arguments, as the validators left them. */
  readonly subject: string;
  /** Hashes of the rules and the evidence under which it would be approved now. */
  readonly rules: string;
  readonly evidence: string | null;
  /** The newest of this subject, whatever its state. */
  readonly found: Approval | null;
  /** A call that ran under an approval of this subject and whose outcome is this caller's; null if there is none. */
  readonly ran: CallId | null;
  /** The id of an approval that would have to be opened. */
  readonly freshId: ApprovalId;
  /** Pending approvals of the agent, and how many there may be. */
  readonly open: { readonly now: number; readonly max: number };
}

/** What the reads said that the call relies on. */
export type EvidenceFact =
  | {
      readonly ok: true;
      readonly hash: string;
      /** The calls that read it: those that the caller named, then those that the gateway made. */
      readonly refs: readonly string[];
      /** Those that the gateway made, because the tool declares them. */
      readonly own: readonly string[];
      /** The hash of what each of them said. */
      readonly contents: readonly string[];
      /** All of it was read for this very decision. */
      readonly isFresh: boolean;
    }
  /** `unread`: why a read that the tool declares could not be made; absent if the caller named what is none. */
  | { readonly ok: false; readonly errors: readonly FieldError[]; readonly unread?: string };

/** What they say now; `changes` are those that say something else. */
export type EvidenceNowFact =
  | { readonly kind: 'read'; readonly hash: string; readonly changes: readonly ChangedEvidence[] }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Empty if the name could not be resolved. */
export interface HostAddresses {
  readonly host: string;
  readonly addresses: readonly string[];
}
/** A credential of the call. `id`: null where somebody only looks, and it was never fetched. */
export type CredentialFact = {
  readonly name: string;
  readonly provider: string;
} & (
  | { readonly ok: true; readonly id: string | null; readonly expiresAtMs: number | null }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly retryAfterSeconds: number;
      /** A person must sign in. */
      readonly signIn?: { readonly interactionId: string };
    }
);

/** A server whose tools nobody knows, because it has never been reached. */
export interface UnlistedServer {
  readonly name: string;
  readonly retryAfterSeconds: number;
  /** The secret without which it is not connected, and its provider's failure; absent if that is not the reason. */
  readonly lacks?: { readonly provider: string; readonly reason: string; readonly retryAfterSeconds: number };
}

/** When a bucket would be full again; null if nothing was ever taken from it. */
export interface RateFact {
  readonly fullAtMicros: number | null;
}

export interface Facts {
  readonly principal: Principal;
  readonly nowMs: number;
  /** Absent where no policy is configured. */
  readonly policy?: PolicyFact;
  readonly readiness: Readiness;
  /** The tools; once the session is known, the actions of its workflow if it has one. */
  readonly catalogue: Catalogue;
  /** Absent if there are none. */
  readonly unlisted?: readonly UnlistedServer[];
  readonly session?: SessionFact;
  /** Only of a call that the body of a step makes: the workflow of that step, and what is in doubt in its session. */
  readonly body?: Pick<StepFact, 'workflow' | 'fences'>;
  /** Only of a call that undoes another: the reversal whose token it redeems. No door lets it in from outside. */
  readonly redeems?: Reversal;
  /** Only of a tool with an operation key, outside workflows: what is in doubt in its session. */
  readonly fences?: readonly FenceFact[];
  /** What an upstream forbade in its session, or in that of the body that asks for it. Absent if nothing. */
  readonly denials?: readonly DenialFact[];
  readonly turnCancelled?: boolean;
  /** What a person reads of the failure that ended the turn; null or absent if its agent cancelled it. */
  readonly turnEnd?: string | null;
  /** What the author's own validator said about the arguments. */
  readonly arguments?: ArgumentsFact;
  /** Only of a call with rate limits, one for each. */
  readonly rates?: readonly RateFact[];
  /** Only of a call with budgets, one for each. */
  readonly budgets?: readonly BudgetFact[];
  /** Only of a call that needs an approval. */
  readonly approval?: ApprovalFact;
  /** Only of a call that names evidence, or whose tool declares it. */
  readonly evidence?: EvidenceFact;
  readonly evidenceNow?: EvidenceNowFact;
  /** Only of a call that is about hosts: what their names resolve to now. */
  readonly addresses?: readonly HostAddresses[];
  /** Only of a tool that has a credential declared for the agent. */
  readonly credentials?: readonly CredentialFact[];
  /** How many calls are under way, and how many may be. */
  readonly inFlight: { readonly now: number; readonly max: number };
}

/** What policy and the tool see: the arguments as the validators left them. */
export const argumentsIn = (request: Request, facts: Facts): Json =>
  facts.arguments?.ok ? facts.arguments.args : request.args;

/** The facts that a gate can ask for; the shell fetches exactly one at a time. */
export type FactName =
  | 'session'
  | 'turnCancelled'
  | 'arguments'
  | 'fences'
  | 'addresses'
  | 'rates'
  | 'budgets'
  | 'approval'
  | 'evidence'
  | 'evidenceNow'
  | 'credentials';
