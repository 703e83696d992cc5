/**
 * The type of a gate, its answers, and the names of all gates in order. A gate answers one question, is pure, and
 * knows no other gate.
 */
import type { Approval, Obligation } from '../approval/approval.ts';
import type { CallId, Request } from '../call/call.ts';
import type { Hold, SpendingAsk } from '../budget/judge-budgets.ts';
import type { Notice } from '../call/reply.ts';
import type { RateLimit } from '../rate/rate-limit.ts';
import type { FactName, Facts } from './facts.ts';
import type { Refusal } from '../call/refusal.ts';
import type { JsonObject } from '../values/json.ts';

/** The whole ladder, in order. What is not configured is absent, and listed as absent; nothing is stubbed. */
export const gateNames = [
  'ready',
  'session',
  'known',
  'reachable',
  'input',
  'fence',
  'policy',
  'model',
  'egress',
  'rate',
  'budget',
  'approval',
  'evidence',
  'credential',
] as const;

export type GateName = (typeof gateNames)[number];

export type GateAnswer =
  /** `rule`: the `file:line` that said yes, where one did. `obligation`: what must be met before it may run. */
  | {
      readonly kind: 'pass';
      readonly rule?: string;
      readonly obligation?: Obligation;
      readonly approval?: MetBy;
      /** What the intent takes, and whom it asks. */
      readonly takes?: readonly Take[];
      readonly asks?: readonly SpendingAsk[];
      /** What the reply says beside the outcome. */
      readonly notices?: readonly Notice[];
    }
  /**
   * `hard`: audit mode does not soften it. `takes`: what is taken all the same if it lets the call pass. `asks`: whom
   * the refusal asks.
   */
  | {
      readonly kind: 'refuse';
      readonly refusal: Refusal;
      readonly hard?: boolean;
      readonly takes?: readonly Take[];
      readonly asks?: readonly SpendingAsk[];
    }
  /** Nothing runs until a person decides; the reply says what is open. */
  | { readonly kind: 'hold'; readonly refusal: Refusal; readonly approval: HeldFor | null }
  | { readonly kind: 'need'; readonly fact: FactName };

/** What the intent of a call takes, so that nobody else can: all of it or nothing. */
export type Take =
  /** `isForced`: taken whether or not there is one. */
  | { readonly kind: 'token'; readonly limit: RateLimit; readonly isForced: boolean }
  | ({ readonly kind: 'hold' } & Hold);

/**
 * How the obligations of a call are met: by an approval that it uses up, or because it ran already, under this call.
 */
export type MetBy =
  | { readonly kind: 'granted'; readonly approval: Approval }
  | { readonly kind: 'ran'; readonly call: CallId };

/**
 * What a held call waits for: an approval that an equal call has opened, or a new one, in place of one that is over.
 */
export type HeldFor =
  | { readonly kind: 'shared'; readonly approval: Approval }
  | { readonly kind: 'fresh'; readonly replaces: Approval | null };

export interface Gate {
  readonly name: GateName;
  /** `obligations`: what the gates before this one have left behind. */
  readonly check: (request: Request, facts: Facts, obligations: readonly Obligation[]) => GateAnswer;
  /** The facts it looked at, for `explain`; of the arguments never more than their names. */
  readonly saw: (request: Request, facts: Facts) => JsonObject;
}

export const pass: GateAnswer = { kind: 'pass' };
