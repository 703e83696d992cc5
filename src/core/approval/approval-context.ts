/** The wire type of what an approval is about: what deciding it does, the last such call, the reads it relies on. */
import type { Reach } from '../policy/policy.ts';
import type { EffectClass } from '../taxonomy.ts';
import type { Json } from '../values/json.ts';

/** `unread`: nobody asked to read it again. `unreadable`: it could not be read again, so the call would not run. */
export const evidenceStandings = ['unread', 'same', 'changed', 'unreadable'] as const;

export interface EvidenceRead {
  readonly call_id: string;
  readonly tool: string;
  /** Null once they were erased. */
  readonly args: Json;
  readonly read_at: string;
  readonly now: (typeof evidenceStandings)[number];
  /** Why it could not be read again; null otherwise. */
  readonly problem: string | null;
}

export interface ApprovalContext {
  readonly approval_id: string;
  /** Sentences, without any name of the agent's. */
  readonly happens: readonly string[];
  readonly effect_class: EffectClass | null;
  readonly reach: Reach | null;
  /** The last call of the same agent and tool that succeeded; null if there is none. */
  readonly last: { readonly call_id: string; readonly at: string; readonly args: Json } | null;
  readonly evidence: readonly EvidenceRead[];
}
