/**
 * Everything a decision may look at, gathered by the shell beforehand or on demand. A fact that was
 * not fetched is absent, never a default; every fact that was used is recorded, so that replay needs no world.
 */
import type { SessionId } from './call.ts';
import type { Catalogue, FieldError } from './catalogue.ts';
import type { Json } from './json.ts';
import type { StepFact } from './workflow/step.ts';

export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly doing: 'starting' | 'recovering' | 'closing';
      readonly retryAfterSeconds: number;
    };

export type SessionFact =
  /** `elsewhere`: of another store. `foreign`: of another agent of the tenant. `unserved`: of a workflow that is not here. */
  | { readonly found: false; readonly why: 'unknown' | 'elsewhere' | 'foreign' | 'unserved' }
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

export interface Facts {
  readonly readiness: Readiness;
  /** The tools; once the session is known, the actions of its workflow if it has one. */
  readonly catalogue: Catalogue;
  readonly session?: SessionFact;
  readonly turnCancelled?: boolean;
  /** What the author's own validator said about the arguments. */
  readonly arguments?: ArgumentsFact;
  /** How many calls are under way, and how many may be. */
  readonly inFlight: { readonly now: number; readonly max: number };
}

/** The facts that a gate can ask for; the shell fetches exactly one at a time. */
export type FactName = 'session' | 'turnCancelled' | 'arguments';
