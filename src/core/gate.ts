/** A gate answers one question about a call. Gates are pure and know no other gate. */
import type { Request } from './call.ts';
import type { FactName, Facts } from './facts.ts';
import type { Refusal } from './refusal.ts';

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
  /** `rule`: the `file:line` that said yes, where one did. */
  | { readonly kind: 'pass'; readonly rule?: string }
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** Nothing runs until a person decides; the reply says what is open. */
  | { readonly kind: 'hold'; readonly refusal: Refusal }
  | { readonly kind: 'need'; readonly fact: FactName };

export interface Gate {
  readonly name: GateName;
  readonly check: (request: Request, facts: Facts) => GateAnswer;
}

export const pass: GateAnswer = { kind: 'pass' };
