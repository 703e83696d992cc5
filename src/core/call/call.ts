/** The basic types: call, request, session, principal, attempt. Data only. */
import type { Json } from '../values/json.ts';
import type { CallState, EffectClass } from '../taxonomy.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type CallId = Branded<'CallId'>;
export type SessionId = Branded<'SessionId'>;
export type IncarnationId = Branded<'IncarnationId'>;

/** Who asks. Every row and every key is separate by tenant, then by agent. */
export interface Principal {
  readonly tenant: string;
  readonly agent: string;
}

/** A request after it was read: the wire is not looked at again. */
export interface Request {
  readonly tool: string;
  readonly args: Json;
  /** The arguments in canonical form: what is hashed, stored and given to the tool. */
  readonly argsText: string;
  /** The handle the caller sent; null means the agent's standing session. */
  readonly session: SessionId | null;
  readonly key: string | null;
  readonly turn: string | null;
  readonly expectedSeq: number | null;
  /** How long the caller wants to wait for the outcome; null means until there is one. */
  readonly waitMs: number | null;
  /** The model that the caller says it is; null if it does not. */
  readonly model: string | null;
  /** How long the call may take from arrival to its last attempt; null means the gateway's default. */
  readonly deadlineMs: number | null;
  /** The reads that it relies on, by their calls; absent without any. */
  readonly evidence?: readonly string[];
}

/** One call, from the moment it is admitted. `advance` alone moves it. */
export interface Call {
  readonly id: CallId;
  readonly tenant: string;
  readonly agent: string;
  readonly session: SessionId | null;
  readonly turn: string | null;
  readonly tool: string;
  readonly key: string | null;
  readonly fingerprint: string;
  readonly effectClass: EffectClass;
  readonly state: CallState | '(none)';
  /** How many times the call was sent, or is being sent. */
  readonly attempt: number;
  /** The incarnation whose compare-and-set made the current attempt; it alone may send it. */
  readonly owner: IncarnationId | null;
  /** True once an attempt was sent whose effect nobody could rule out. */
  readonly tainted: boolean;
  /** True once some of its items are on record as done and the others are sent again: it cannot end as not done. */
  readonly kept?: boolean;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  /** When someone must look at the call again: its deadline, its lease, its next retry. */
  readonly dueAtMs: number | null;
}
