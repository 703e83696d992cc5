/** Compiles a written policy, or reports every problem with its fix. Reads no files. */
import { compileEgress, type TellEgress } from '../egress/compile-egress.ts';
import { createAgentPolicy } from './agent-policy.ts';
import { canonicalPolicy } from './canonical-policy.ts';
import { compileCompletion } from './compile-completion.ts';
import { conditionVariables, type Conditions, createConditions } from './compile-conditions.ts';
import {
  compileBudget,
  compileLimits,
  type CostFunctions,
  findByTool,
  type QuotaBounds,
  type TellQuota,
} from './compile-quotas.ts';
import type { Budget } from '../budget/budget.ts';
import type { RateLimit } from '../rate/rate-limit.ts';
import type {
  AgentPolicy,
  Policy,
  PolicyProblem,
  PolicyWarning,
  ToolShape,
  WrittenAgent,
  WrittenPolicy,
} from './policy.ts';
import { defaultPolicyLimits, type PolicyLimits } from './policy-limits.ts';
import { compileRedact } from './redact-paths.ts';
import type { CompiledRule } from './rule-index.ts';
import { compileToolPattern, type ToolPattern } from './tool-pattern.ts';

export type CompiledPolicy =
  | { readonly ok: true; readonly policy: Policy; readonly warnings: readonly PolicyWarning[] }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

/** `tools` is what the lock or the servers say about tools; null if there is no lock. */
export function compilePolicy(
  written: WrittenPolicy,
  tools: readonly ToolShape[] | null,
  given: Partial<PolicyLimits> = {},
  costs: CostFunctions = new Map(),
): CompiledPolicy {
  const limits = { ...defaultPolicyLimits, ...given };
  const problems: PolicyProblem[] = checkSizes(written, limits);
  // What is too large is not looked through: that is what the limits are for.
  if (problems.length > 0) return { ok: false, problems };
  const conditions = createConditions(tools);
  const agents = new Map<string, AgentPolicy>();
  const tellOf = (agent: string) => (problem: Omit<PolicyProblem, 'agent'>) => {
    if (problems.length < limits.maxProblems) problems.push({ agent, ...problem });
  };
  const bounds = { limits, costs };
  const shared = compileShared(written, bounds, tellOf(''));
  const budgets = shared.budgets.map(({ budget }) => budget);
  const rates = [...shared.limits];
  for (const agent of written.agents) {
    const tell = tellOf(agent.agent);
    if (agents.has(agent.agent)) tell({ rule: null, field: 'rules', ...declaredTwice(agent.agent) });
    const quotas = compileQuotas(agent, shared, bounds, tell);
    budgets.push(...quotas.own);
    rates.push(...quotas.ownLimits);
    agents.set(agent.agent, compileAgent(agent, quotas, conditions, limits, tell));
  }
  if (problems.length > 0) return { ok: false, problems };
  const policy = { written, agents, canonical: canonicalPolicy(written), budgets, limits: rates };
  return { ok: true, policy, warnings: conditions.warnings() };
}

type Tell = (problem: Omit<PolicyProblem, 'agent'>) => void;

function checkSizes({ agents }: WrittenPolicy, limits: PolicyLimits): PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  if (agents.length > limits.maxAgents)
    problems.push(tooMany(agents[limits.maxAgents]?.agent ?? '', 'rules', 'agents', limits.maxAgents));
  let rulesLeft = limits.maxRules;
  for (const { agent, rules, redact, models, egress } of agents.slice(0, limits.maxAgents)) {
    if (rules.length > limits.maxRulesPerAgent)
      problems.push(tooMany(agent, 'rules', 'rules', limits.maxRulesPerAgent));
    if (rulesLeft >= 0 && (rulesLeft -= rules.length) < 0)
      problems.push(tooMany(agent, 'rules', 'rules of all agents together', limits.maxRules));
    if (redact.length > limits.maxRedactPaths)
      problems.push(tooMany(agent, 'redact', 'paths to redact', limits.maxRedactPaths));
    if ((models?.allow.length ?? 0) > limits.maxModels)
      problems.push(tooMany(agent, 'models', 'globs over models', limits.maxModels));
    if ((egress?.allow.length ?? 0) > limits.maxHosts)
      problems.push(tooMany(agent, 'egress', 'hosts', limits.maxHosts));
  }
  return problems.slice(0, limits.maxProblems);
}

const tooMany = (agent: string, field: PolicyProblem['field'], what: string, max: number): PolicyProblem => ({
  agent,
  rule: null,
  field,
  message: `there are more than ${max} ${what}`,
  fix: 'put what they have in common into fewer patterns',
});

const declaredTwice = (agent: string) => ({
  message: `agent ${agent} is declared twice`,
  fix: 'put its rules into one place',
});

/** The limits and budgets that agents share, and the agents that share each budget. */
interface Shared {
  readonly limits: readonly RateLimit[];
  readonly budgets: readonly { readonly budget: Budget; readonly agents: ReadonlySet<string> | null }[];
}

function compileShared({ limits = [], budgets = [], agents }: WrittenPolicy, bounds: QuotaBounds, tell: Tell): Shared {
  const tellQuota: TellQuota = (problem) => tell({ rule: null, ...problem });
  const known = new Set(agents.map(({ agent }) => agent));
  return {
    limits: compileLimits(limits, 'tenant', bounds.limits, tellQuota),
    budgets: budgets.flatMap((written) => {
      const budget = compileBudget(written, `pool/${written.name}`, bounds, tellQuota);
      const stranger = written.agents?.find((agent) => !known.has(agent));
      if (stranger !== undefined)
        tellQuota({ field: 'budgets', budget: written.name, ...notAnAgent(stranger, written.name) });
      return budget === null ? [] : [{ budget, agents: written.agents === null ? null : new Set(written.agents) }];
    }),
  };
}

const notAnAgent = (agent: string, budget: string) => ({
  message: `the budget ${budget} is shared by ${agent}, and no agent has that name`,
  fix: 'declare it under agents, or take it out of the list',
});

interface Quotas extends Pick<AgentPolicy, 'limitsFor' | 'budgetsFor'> {
  readonly own: readonly Budget[];
  readonly ownLimits: readonly RateLimit[];
}

function compileQuotas(
  { agent, limits = [], budgets = [] }: WrittenAgent,
  shared: Shared,
  bounds: QuotaBounds,
  tell: Tell,
): Quotas {
  const tellQuota: TellQuota = (problem) => tell({ rule: null, ...problem });
  const own = budgets.flatMap((each) => compileBudget(each, `agent/${agent}/${each.name}`, bounds, tellQuota) ?? []);
  const joined = shared.budgets.flatMap(({ budget, agents }) => (agents?.has(agent) === false ? [] : [budget]));
  const ownLimits = compileLimits(limits, `agent/${agent}`, bounds.limits, tellQuota);
  const rates = [...ownLimits, ...shared.limits];
  return {
    own,
    ownLimits,
    limitsFor: findByTool(rates, bounds.limits.maxKeptTools),
    budgetsFor: findByTool([...own, ...joined], bounds.limits.maxKeptTools),
  };
}

function compileAgent(
  written: WrittenAgent,
  quotas: Quotas,
  conditions: Conditions,
  limits: PolicyLimits,
  tell: Tell,
): AgentPolicy {
  const rules = compileRules(written, conditions, limits, tell);
  const models = written.models === null ? null : compileModels(written.models.allow, limits, tell);
  const { mask, problems } = compileRedact(written.redact, limits);
  for (const problem of problems) tell({ rule: null, field: 'redact', ...problem });
  const completion = written.completion === undefined ? null : compileCompletion(written.completion, tell);
  const tellEgress: TellEgress = ({ index, ...problem }) =>
    tell({ rule: null, field: 'egress', ...(index === null ? {} : { index }), ...problem });
  const egress = written.egress === undefined ? null : compileEgress(written.egress, limits, tellEgress);
  return createAgentPolicy({ written, rules, models, mask, completion, quotas, egress }, limits);
}

function compileRules(
  { rules }: WrittenAgent,
  conditions: Conditions,
  limits: PolicyLimits,
  tell: Tell,
): readonly CompiledRule[] {
  const compiled: CompiledRule[] = [];
  for (const [index, rule] of rules.entries()) {
    const found = compileToolPattern(rule.match, limits);
    if (!found.ok) tell({ rule: index, field: 'match', message: found.problem, fix: found.fix });
    // A condition is read even where its pattern is wrong, so that everything is told at once.
    const pattern = found.ok ? found.pattern : noTool;
    const condition = rule.when === null ? null : conditions.compile(rule.when, pattern);
    if (condition !== null && !condition.ok) {
      const at = condition.at === undefined ? {} : { at: condition.at };
      tell({
        rule: index,
        field: 'when',
        message: `the condition is wrong: ${condition.problem}`,
        fix: writeOver,
        ...at,
      });
    } else if (found.ok) {
      const { holds, ofTool } = condition ?? { holds: null, ofTool: true };
      compiled.push({ index, written: rule, pattern, holds, ofTool });
    }
  }
  return compiled;
}

const writeOver = `write a condition over ${conditionVariables.join(', ')} that gives true or false`;

const noTool: ToolPattern = { text: '', segments: [['']], isLiteral: true };

function compileModels(allow: readonly string[], limits: PolicyLimits, tell: Tell): readonly ToolPattern[] {
  return allow.flatMap((text, index) => {
    const compiled = compileToolPattern(text, limits);
    if (compiled.ok) return [compiled.pattern];
    tell({ rule: null, field: 'models', index, message: compiled.problem, fix: compiled.fix });
    return [];
  });
}
