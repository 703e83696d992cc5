/**
 * The types of policy: what is written, what it compiles to, what it answers. Data and signatures only;
 * compile-policy.ts compiles.
 */
import type { ApprovalTerms } from '../approval/approval.ts';
import type { EgressList } from '../egress/egress-list.ts';
import type { ArgumentPath } from '../egress/find-urls.ts';
import type { Json } from '../values/json.ts';
import type { EffectClass } from '../taxonomy.ts';
import type { Budget, WrittenBudget } from '../budget/budget.ts';
import type { RateLimit, WrittenLimit } from '../rate/rate-limit.ts';

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
  /** How a rule that defers wants to be asked for; the usual way if it does not say. */
  readonly terms?: ApprovalTerms;
}

/** What must hold before an agent may say that it is done, beside that nothing is pending and nothing in doubt. */
export interface WrittenCompletion {
  /** Tools, or actions of its workflow, that must have succeeded in the session. */
  readonly require: readonly string[];
  /** CEL: whether `require` counts; null if it always does. */
  readonly when: string | null;
  /** CEL: what must be true; null for nothing. */
  readonly condition: string | null;
  /** `file:line` of it. */
  readonly ref: string;
}

/** The parts of a completion that are conditions. */
export const completionParts = ['when', 'condition'] as const;

/** Which hosts the tools of an agent may reach, and in which arguments they are given URLs. */
export interface WrittenEgress {
  /** Names, `*.` and a name, addresses and ranges, each with a port if wanted. */
  readonly allow: readonly string[];
  /** Paths such as `args.url`, by a glob over names of tools. */
  readonly urls: Readonly<Record<string, readonly string[]>>;
  /** `file:line` of it. */
  readonly ref: string;
}

/** The same, ready to ask. */
export interface AgentEgress {
  readonly list: EgressList;
  /** Where the arguments of this tool have URLs. */
  pathsFor(tool: string): readonly ArgumentPath[];
}

/** Everything that is written about one agent and decides calls. */
export interface WrittenAgent {
  readonly agent: string;
  /** `file:line` of the agent: what a call meets that no rule and no default decides. */
  readonly ref: string;
  /** Null denies, by `ref`. */
  readonly default: {
    readonly effect: RuleEffect;
    readonly ref: string;
    /** Of one that defers; the usual way if it does not say. */
    readonly terms?: ApprovalTerms;
  } | null;
  readonly rules: readonly WrittenRule[];
  /** The highest reach of its sessions; null for any. */
  readonly ceiling: { readonly reach: Reach; readonly ref: string } | null;
  /** Globs over names of models; null for any. */
  readonly models: { readonly allow: readonly string[]; readonly ref: string } | null;
  /** Paths such as `args.card.number`, `result.users.*.email`, `args.**.password`. */
  readonly redact: readonly string[];
  readonly completion?: WrittenCompletion;
  readonly limits?: readonly WrittenLimit[];
  readonly budgets?: readonly WrittenBudget[];
  /** Absent: any host with a public address. */
  readonly egress?: WrittenEgress;
}

export interface WrittenPolicy {
  readonly mode: 'enforce' | 'audit';
  /** `file:line` where agents are declared: what an agent meets that is not among them. */
  readonly ref: string;
  readonly agents: readonly WrittenAgent[];
  /** Who has which role, by the names of their keys. */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  /** Of the whole tenant: every agent draws from the same bucket. */
  readonly limits?: readonly WrittenLimit[];
  /** That several agents share, or all of the tenant. */
  readonly budgets?: readonly WrittenBudget[];
}

/**
 * What the conditions of rules can look at. What is not known is null, and reading on from it is an error: the rule
 * denies.
 */
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
  /** How a deferred call is to be asked for; null unless it defers. */
  readonly terms: ApprovalTerms | null;
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
  /** False if no call of this tool could ever be permitted or deferred, whatever its arguments; by a rule with its exact name alone, if that is asked. */
  couldPermit(tool: PolicyTool, exactly?: 'exactly'): boolean;
  permitsModel(model: string | null): boolean;
  /** With what must not be written or shown masked; the same value if nothing is. */
  mask(part: 'args' | 'result', value: Json): Json;
  /** Canonical text of what decides, without lines and comments: what approvals bind and the journal keeps. */
  readonly canonical: string;
  /** The same of one tool only: other rules may change without changing this. */
  canonicalFor(tool: string): string;
  /** Whether its completion may be said; null if nothing more is asked for. */
  readonly completion: CompletionRule | null;
  /** The rate limits and the budgets of a tool: its own, then those that it shares. */
  limitsFor(tool: string): readonly RateLimit[];
  budgetsFor(tool: string): readonly Budget[];
  /** Null: any host with a public address. */
  readonly egress: AgentEgress | null;
}

/** The conditions of a completion, ready to ask. Never throws: a condition that cannot be evaluated does not hold. */
export interface CompletionRule {
  readonly written: WrittenCompletion;
  /** Which of `require` count in this session now. */
  required(session: CompletionCall): readonly string[];
  holds(session: CompletionCall): boolean;
}

/** What the conditions of a completion can look at. */
export type CompletionCall = Pick<RuleCall, 'agent' | 'principal' | 'session' | 'state' | 'nowMs'>;

export interface Policy {
  readonly written: WrittenPolicy;
  readonly agents: ReadonlyMap<string, AgentPolicy>;
  readonly canonical: string;
  /** Every budget, each once. */
  readonly budgets: readonly Budget[];
  /** Every rate limit, each once: shared ones first. */
  readonly limits: readonly RateLimit[];
}

/** What is wrong with a policy, and where in what was written. */
export interface PolicyProblem {
  readonly agent: string;
  /** Counted from 0; null if it is not about a rule. */
  readonly rule: number | null;
  readonly field:
    | 'match'
    | 'when'
    | 'redact'
    | 'models'
    | 'rules'
    | 'completion'
    | 'approvers'
    | 'needs'
    | 'expires'
    | 'limits'
    | 'budgets'
    | 'egress';
  /** The name of the budget that it is about. */
  readonly budget?: string;
  /** The key of the budget that it is about; its cost if not given. */
  readonly part?: string;
  /** Which of the paths, globs or approvers, or of `completionParts`, counted from 0. */
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
