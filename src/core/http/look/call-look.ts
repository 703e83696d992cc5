/** What people see of calls: entries, moments of a stream, and the story of one. Types only. */
import type { Rung } from '../../gates/explain.ts';
import type { TimelineLine } from '../../recovery/timeline.ts';
import type { CallState, Effect, EffectClass } from '../../taxonomy.ts';
import type { Json, JsonObject } from '../../values/json.ts';

export interface CallEntry {
  readonly call_id: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  readonly turn: string | null;
  readonly key: string | null;
  readonly state: CallState;
  readonly effect_class: EffectClass;
  readonly effect: Effect;
  readonly attempts: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deadline_at: string;
  readonly repeats: number;
}

/** What one record says of a call that was decided, or ended. */
export interface CallMoment {
  readonly position: string;
  /** The kind of the record. */
  readonly change: string;
  readonly at: string;
  readonly call_id: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  readonly state: CallState;
  readonly code: string | null;
  readonly verdict: string | null;
  readonly gate: string | null;
  readonly rule: string | null;
  readonly attempt: number | null;
  readonly created_at: string;
}

export interface CallRecord {
  readonly position: string;
  readonly kind: string;
  readonly meaning: string;
  readonly at: string;
  readonly hash: string;
  readonly body: Json;
  readonly payloads: readonly { readonly part: string; readonly text: string | null }[];
}

/** `erased` and `altered` say why there is no text. */
export type Shown = { readonly kind: 'none' | 'erased' | 'altered' } | { readonly kind: 'text'; readonly value: Json };

export interface CallStoryView {
  readonly call: CallEntry;
  readonly args: Shown;
  /** Exactly what the agent was told. */
  readonly reply: Shown;
  /** Of the last decision on record; empty if there is none. */
  readonly ladder: readonly Rung[];
  readonly decided: { readonly record: string; readonly at: string } | null;
  readonly rule_ref: string | null;
  readonly facts: JsonObject | null;
  readonly timeline: readonly TimelineLine[];
  readonly records: readonly CallRecord[];
  readonly approvals: readonly string[];
  readonly tickets: readonly string[];
}

/** One tool, and how its last calls ended. */
export interface ToolLook {
  readonly tool: string;
  readonly effect: EffectClass;
  readonly description: string;
  readonly served: boolean;
  readonly drift: string | null;
  readonly calls: number;
  readonly succeeded: number;
  readonly refused: number;
  readonly failed: number;
  readonly in_doubt: number;
  readonly waiting: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly verdicts: readonly { readonly verdict: string; readonly count: number }[];
  readonly last_at: string | null;
}

export interface ToolHealthLook {
  /** How many calls the figures are made of. */
  readonly calls: number;
  /** False if there are older ones. */
  readonly complete: boolean;
  readonly since: string | null;
  readonly tools: readonly ToolLook[];
}
