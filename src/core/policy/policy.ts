/**
 * What may an agent do? The words of policy: what is written, what it becomes, what it answers. Data and signatures only;
 * compile-policy.ts makes the one from the other.
 */
import type { Json } from '../json.ts';
import type { EffectClass } from '../taxonomy.ts';

export const ruleEffects = ['permit', 'defer', 'deny'] as const;
export type RuleEffect = (typeof ruleEffects)[number];

/** From what only looks to what cannot be undone; a ceiling lets pass what stands at it or before it. */
export const reaches = ['read_only', 'local_write', 'network', 'delegated', 'destructive'] as const;
export type Reach = (typeof reaches)[number];

/** Of what says nothing about it: a read only looks, and anything else may be the worst. */
export const reachOf = (effect: EffectClass): Reach => (effect === 'pure' ? 'read_only' : 'destructive');

/** One rule, as it is written. */
export interface WrittenRule {
  readonly effect: RuleEffect;
  /** A glob over names of tools: `*` within a segment, `**` for any depth. */
  readonly match: string;
  /** CEL; null if the rule always counts. */
  readonly when: string | null;
  /** Said to the agent in place of the usual sentence. */
  readonly reason: string | null;
  /** `file:line` of the rule. */
  readonly ref: string;
}

/** Everything that is written about one agent and decides calls. */
export interface WrittenAgent {
  readonly agent: string;
  /** `file:line` of the agent: what a call meets that no rule and no default decides. */
  readonly ref: string;
  /** Null denies, by `ref`. */
  readonly default: { readonly effect: RuleEffect; readonly ref: string } | null;
  readonly rules: readonly WrittenRule[];
  /** The highest reach of its sessions; null for any. */
  readonly ceiling: { readonly reach: Reach; readonly ref: string } | null;
  /** Globs over names of models; null for any. */
  readonly models: { readonly allow: readonly string[]; readonly ref: string } | null;
  /** Paths such as `args.card.number`, `result.users.*.email`, `args.**.password`. */
  readonly redact: readonly string[];
}

export interface WrittenPolicy {
  readonly mode: 'enforce' | 'audit';
  /** `file:line` where agents are declared: what an agent meets that is not among them. */
  readonly ref: string;
  readonly agents: readonly WrittenAgent[];
}

/** What the conditions of rules can look at. What is not known is null, and reading on from it is an error: the rule denies. */
export interface RuleCall {
  /** By which rules name it: the tool, or `workflow/action` for an action that has a body of its own. */
  readonly tool: PolicyTool;
  readonly args: Json;
  readonly agent: { readonly name: string };
  readonly principal: { readonly tenant: string; readonly agent: string };
  readonly session: { readonly id: string | null; readonly seq: number; readonly workflow: string | null };
  /** `{ value, context }` of the workflow's state; null without one. */
  readonly state: Json;
  /** The model that the caller says it is. */
  readonly model: string | null;
  /** Where the tool's server is reached; null if that is no host. */
  readonly host: string | null;
  readonly nowMs: number;
}

export interface PolicyTool {
  readonly name: string;
  readonly effect: EffectClass;
  readonly reach: Reach;
  /** As its server lists them; empty if it does not. */
  readonly annotations: Readonly<Record<string, Json>>;
}

/** The answer to one call. */
export interface Judgement {
  readonly effect: RuleEffect;
  /** `file:line` of what decided. */
  readonly ref: string;
  readonly by: 'rule' | 'default' | 'ceiling' | 'broken_rule';
  readonly reason: string | null;
  /** Which rule, counted from 0; null if none decided. */
  readonly rule: number | null;
  /** Why a condition could not be evaluated; null if all could. */
  readonly problem: string | null;
}

/** One look at a rule on the way to the answer, for explanations. */
export interface RuleLook {
  readonly rule: number;
  readonly ref: string;
  readonly result: 'other_tool' | 'condition_false' | 'broken' | 'matched';
  readonly problem: string | null;
}

/** The rules of one agent, ready to judge. Pure, and never throws. */
export interface AgentPolicy {
  readonly written: WrittenAgent;
  judge(call: RuleCall): Judgement;
  /** The same with every look on the way. */
  explain(call: RuleCall): { readonly judgement: Judgement; readonly looks: readonly RuleLook[] };
  /** False if no call of this tool could ever be permitted or deferred, whatever its arguments. */
  couldPermit(tool: PolicyTool): boolean;
  permitsModel(model: string | null): boolean;
  /** With what must not be written or shown masked; the same value if nothing is. */
  mask(part: 'args' | 'result', value: Json): Json;
  /** Canonical text of what decides, without lines and comments: what approvals bind and the journal keeps. */
  readonly canonical: string;
  /** The same of one tool only: other rules may change without changing this. */
  canonicalFor(tool: string): string;
}

export interface Policy {
  readonly written: WrittenPolicy;
  readonly agents: ReadonlyMap<string, AgentPolicy>;
  readonly canonical: string;
}

/** What is wrong with a policy, and where in what was written. */
export interface PolicyProblem {
  readonly agent: string;
  /** Counted from 0; null if it is not about a rule. */
  readonly rule: number | null;
  readonly field: 'match' | 'when' | 'redact' | 'models' | 'rules';
  /** Which of the paths or globs, counted from 0. */
  readonly index?: number;
  readonly message: string;
  readonly fix: string;
  /** Inside the expression, from 1. */
  readonly at?: { readonly line: number; readonly column: number };
}

/** What could not be checked; the policy is enforced nevertheless. */
export interface PolicyWarning {
  readonly message: string;
  readonly fix: string;
}

/** What is known about a tool when a policy is compiled; from the lock, or from the server itself. */
export interface ToolShape {
  readonly name: string;
  /** JSON Schema of its arguments; null if it is not known. */
  readonly inputSchema: Json;
}
