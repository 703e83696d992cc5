/** Why was, or would, a call be decided this way? The words of an explanation; explain-ladder.ts writes one. Data only. */
import type { GateName } from './gate.ts';
import type { JsonObject } from '../values/json.ts';
import type { RuleLook } from '../policy/policy.ts';
import type { ErrorReply } from '../call/reply.ts';

/** One gate of the ladder, whether or not it was asked. */
export interface Rung {
  readonly gate: GateName;
  /** `softened`: it said no, and audit mode let the call pass. `absent`: nothing is configured that it could enforce. */
  readonly answer: 'passed' | 'refused' | 'held' | 'softened' | 'not_asked' | 'absent';
  /** The facts it looked at. */
  readonly saw: JsonObject;
  /** Null where there is nothing to say beyond the answer. */
  readonly why: string | null;
  /** What would have to change for it to pass; null if it does, or was not asked. */
  readonly change: string | null;
}

export interface Explanation {
  readonly tenant: string;
  readonly agent: string;
  readonly tool: string;
  readonly decision: 'run' | 'refuse' | 'hold';
  readonly rungs: readonly Rung[];
  /** The rules that were looked at, in order; empty without policy. */
  readonly rules: readonly RuleLook[];
  /** What the caller would be told; null if it would run. Nothing was recorded. */
  readonly reply: ErrorReply | null;
}
