/**
 * The type of a gate, its answers, and the names of all gates in order. A gate answers one question, is pure, and
 * knows no other gate.
 */
import type { Approval, Obligation } from '../approval/approval.ts';
import type { CallId, Request } from '../call/call.ts';
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
    }
  /** `hard`: audit mode does not soften it. */
  | { readonly kind: 'refuse'; readonly refusal: Refusal; readonly hard?: boolean }
  /** Nothing runs until a person decides; the reply says what is open. */
  | { readonly kind: 'hold'; readonly refusal: Refusal; readonly approval: HeldFor | null }
  | { readonly kind: 'need'; readonly fact: FactName };

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
