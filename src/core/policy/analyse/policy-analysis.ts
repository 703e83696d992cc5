/** The types of policy findings, for commands and tests. Data only. */
import type { Json } from '../../values/json.ts';
import type { WorkflowGraph } from '../../workflow/graph.ts';
import type { ActionEntry } from '../../workflow/workflow.ts';
import type { PolicyTool } from '../policy.ts';

export type PolicyFindingKind =
  /** Rules before it always decide first. */
  | 'shadowed_rule'
  /** Its condition is never true. */
  | 'never_matches'
  /** Its pattern matches no tool that there is. */
  | 'unknown_tool'
  /** A state of a workflow in which every legal action is denied. */
  | 'policy_dead_end'
  /** None of the tools could ever be permitted to this agent. */
  | 'idle_agent'
  /** Its completion requires what it can never have done. */
  | 'never_completes'
  /** A rate limit that no call is counted by. */
  | 'idle_limit'
  /** A budget that no call is charged to. */
  | 'idle_budget'
  /** A budget that every call goes beyond, so that none is let through without a person. */
  | 'unmeetable_budget'
  /** A budget whose warning mark is its beginning. */
  | 'always_warns';

/** What proves a finding; `says` tells it to people. */
export type Counterexample =
  /** Every call of `tool` that the rule matches is decided by one of these rules. */
  | { readonly kind: 'rules'; readonly says: string; readonly tool: string; readonly decidedBy: readonly string[] }
  /** Parts of the condition that exclude each other, one group for each way in which it could have been true. */
  | { readonly kind: 'conflict'; readonly says: string; readonly groups: readonly (readonly string[])[] }
  /** The name that was probably meant; null if none is near. */
  | { readonly kind: 'name'; readonly says: string; readonly nearest: string | null }
  /** The fewest steps to a state, and what denies each of its actions there. */
  | {
      readonly kind: 'path';
      readonly says: string;
      readonly workflow: string;
      readonly state: string;
      readonly steps: readonly string[];
      readonly denied: readonly Denied[];
    }
  /** What a call costs beside what there is. */
  | { readonly kind: 'amount'; readonly says: string }
  /** What denies each of the tools. */
  | { readonly kind: 'denied'; readonly says: string; readonly denied: readonly Denied[] };

export interface Denied {
  readonly action: string;
  /** By which name rules know it. */
  readonly tool: string;
  /** `file:line` of what denies it. */
  readonly ref: string;
}

export interface PolicyFinding {
  readonly kind: PolicyFindingKind;
  readonly severity: 'error' | 'warning';
  /** Empty if it is about what agents share. */
  readonly agent: string;
  /** Counted from 0; null if it is not about a rule. */
  readonly rule: number | null;
  /** `file:line`: what it is about comes first, then what it collides with. */
  readonly refs: readonly string[];
  readonly message: string;
  readonly fix: string;
  readonly counterexample: Counterexample;
  /** Although it never matches, its condition may break on some call, and then the rule denies. */
  readonly mayBreak: boolean;
}

export interface PolicyAnalysis {
  readonly findings: readonly PolicyFinding[];
  /** Sentences about what was not decided. */
  readonly undecided: readonly string[];
}

/** A tool as it is pinned or mounted. */
export interface KnownTool extends PolicyTool {
  /** JSON Schema that arguments fulfil when policy sees them; null if none is known. */
  readonly inputSchema: Json;
}

/** As much of a workflow as is looked at; every compiled workflow is one. */
export interface KnownWorkflow {
  readonly graph: WorkflowGraph;
  readonly actions: ReadonlyMap<string, KnownAction>;
}

export type KnownAction = Pick<
  ActionEntry,
  'policyName' | 'boundTool' | 'effectClass' | 'reach' | 'input' | 'inputSchema'
>;

export interface PolicyContext {
  /** Null if nobody knows which tools there are. */
  readonly tools: readonly KnownTool[] | null;
  readonly workflows: ReadonlyMap<string, KnownWorkflow>;
}

export interface PolicyAnalysisLimits {
  /** How many findings of one kind are listed; the others are counted. */
  readonly maxFindings: number;
  /** Pairs of patterns of which it is asked whether one covers the other. */
  readonly maxPatternPairs: number;
  /** Pairs of rules of which it is asked whether one decides before the other. */
  readonly maxRulePairs: number;
  /** Questions whether conditions can hold together. */
  readonly maxQuestions: number;
  readonly maxConfigurations: number;
  readonly maxEdges: number;
}

export const policyAnalysisLimits: PolicyAnalysisLimits = {
  maxFindings: 50,
  maxPatternPairs: 20_000,
  maxRulePairs: 4_000_000,
  maxQuestions: 20_000,
  maxConfigurations: 10_000,
  maxEdges: 200_000,
};
