/**
 * Everything a decision may look at, gathered by the shell beforehand or on demand. A fact that was
 * not fetched is absent, never a default; every fact that was used is recorded, so that replay needs no world.
 */
import type { SessionId } from './call.ts';
import type { Catalogue, FieldError } from './catalogue.ts';
import type { Json } from './json.ts';

export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly doing: 'starting' | 'recovering' | 'closing';
      readonly retryAfterSeconds: number;
    };

export type SessionFact =
  | { readonly found: false }
  | { readonly found: true; readonly id: SessionId; readonly state: 'open' | 'cancelled'; readonly seq: number };

export type ArgumentsFact =
  | { readonly ok: true; readonly args: Json }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

export interface Facts {
  readonly readiness: Readiness;
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
