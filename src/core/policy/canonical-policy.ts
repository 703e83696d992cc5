/**
 * The canonical text under which a policy is hashed: everything that decides, without lines and comments. Moving a
 * rule to another line changes nothing.
 */
import { type ApprovalTerms, defaultTerms } from '../approval/approval.ts';
import { canonicalText } from '../values/canonical.ts';
import type { Json } from '../values/json.ts';
import type { WrittenBudget } from '../budget/budget.ts';
import type { WrittenLimit } from '../rate/rate-limit.ts';
import type {
  AgentPolicy,
  WrittenAgent,
  WrittenCompletion,
  WrittenEgress,
  WrittenPolicy,
  WrittenRule,
} from './policy.ts';

const writeRule = ({ effect, match, when, terms }: WrittenRule): { readonly [key: string]: Json } => ({
  effect,
  match,
  when: writeCondition(when),
  ...writeTerms(effect, terms),
});

const writeCondition = (text: string | null): string | null => (text === null ? null : plainCondition(text));

/** How it is asked for is part of what was decided: a call that one person approved is not one that two must. */
function writeTerms(
  effect: WrittenRule['effect'],
  terms: ApprovalTerms = defaultTerms,
): { readonly [key: string]: Json } {
  if (effect !== 'defer') return {};
  const { roles, needed, expiresMs, onApprove, clientMayApprove } = terms;
  return { terms: { roles: roles === null ? null : writeSet(roles), needed, expiresMs, onApprove, clientMayApprove } };
}

/** The order of globs and paths means nothing. */
const writeSet = (items: readonly string[]): readonly string[] => [...new Set(items)].sort();

const writeFrame = ({ default: fallback, ceiling, redact, egress }: WrittenAgent) => ({
  default: fallback?.effect ?? 'deny',
  ...writeTerms(fallback?.effect ?? 'deny', fallback?.terms),
  ceiling: ceiling?.reach ?? null,
  redact: writeSet(redact),
  ...(egress === undefined ? {} : { egress: writeEgress(egress) }),
});

const writeEgress = ({ allow, urls }: WrittenEgress): Json => ({
  allow: writeSet(allow),
  urls: Object.fromEntries(Object.entries(urls).map(([match, paths]) => [match, writeSet(paths)])),
});

function writeAgent(agent: WrittenAgent): Json {
  return {
    ...writeFrame(agent),
    agent: agent.agent,
    models: agent.models === null ? null : writeSet(agent.models.allow),
    // What a rule says is part of what its caller was told.
    rules: agent.rules.map((rule) => ({ ...writeRule(rule), reason: rule.reason })),
    ...(agent.completion === undefined ? {} : { completion: writeCompletion(agent.completion) }),
    ...writeQuotas(agent),
  };
}

/** No part of what an approval is bound to: they are asked again when the call runs. */
const writeQuotas = ({ limits = [], budgets = [] }: Pick<WrittenAgent, 'limits' | 'budgets'>) => ({
  ...(limits.length === 0 ? {} : { limits: Object.fromEntries(limits.map(writeLimit)) }),
  ...(budgets.length === 0 ? {} : { budgets: Object.fromEntries(budgets.map(writeBudget)) }),
});

const writeLimit = ({ match, rate, burst }: WrittenLimit): readonly [string, Json] => [
  `${match} by the ${rate.split('/')[1] ?? ''}`,
  { rate: Number(rate.split('/')[0]), burst },
];

const writeBudget = (budget: WrittenBudget): readonly [string, Json] => [
  budget.name,
  {
    max: { ...budget.max },
    match: budget.match,
    cost: budget.costFunction === undefined ? writeCondition(budget.cost) : { function: budget.costFunction },
    reserve: budget.reserve === null ? null : { ...budget.reserve },
    window: budget.window,
    time_zone: budget.timeZone,
    warn_at: budget.warnAt,
    on_exceed: budget.onExceed,
    raise: { ...budget.raise },
    ...writeTerms(budget.onExceed === 'defer' ? 'defer' : 'deny', budget.terms),
    agents: budget.agents === null ? null : writeSet(budget.agents),
  },
];

const writeCompletion = ({ require, when, condition }: WrittenCompletion): Json => ({
  require: writeSet(require),
  when: writeCondition(when),
  condition: writeCondition(condition),
});

export const canonicalAgent = (agent: WrittenAgent): string => canonicalText(writeAgent(agent));

/** Roles are looked up at decision time: they bind no approval, but belong to the whole policy. */
const writeRoles = (roles: NonNullable<WrittenPolicy['roles']>): Json =>
  Object.fromEntries(Object.entries(roles).map(([role, people]) => [role, writeSet(people)]));

export const canonicalPolicy = ({ mode, agents, roles = {}, limits, budgets }: WrittenPolicy): string =>
  canonicalText({
    mode,
    agents: Object.fromEntries(agents.map((agent) => [agent.agent, writeAgent(agent)])),
    ...(Object.keys(roles).length === 0 ? {} : { roles: writeRoles(roles) }),
    ...writeQuotas({ ...(limits === undefined ? {} : { limits }), ...(budgets === undefined ? {} : { budgets }) }),
  });

/** Only what decides about one tool: other rules may come, go and move, and an approval of this one still stands. */
export const canonicalRules = (agent: WrittenAgent, rules: readonly WrittenRule[]): string =>
  canonicalText({ ...writeFrame(agent), agent: agent.agent, rules: rules.map(writeRule) });

export const canonicalFor = (policy: AgentPolicy, tool: string): string => policy.canonicalFor(tool);

/** Strings in which a quote may mean something else, and comments, which a line break ends. */
const uncertain = /[\\\r]|'''|"""|\/\//;
const stringOrGap = /'[^']*'|"[^"]*"|[ \t\n]+/g;

export function plainCondition(text: string): string {
  if (uncertain.test(text)) return text.trim();
  return text.replace(stringOrGap, (found) => (/^['"]/.test(found) ? found : ' ')).trim();
}
