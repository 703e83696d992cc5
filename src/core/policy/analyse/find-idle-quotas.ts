/**
 * Finds rate limits and budgets that count nothing: their pattern matches no tool, or only tools that none of their
 * agents could ever call. Claims only what is proven.
 */
import { nearest } from '../../values/nearest.ts';
import type { Policy } from '../policy.ts';
import { compileToolPattern, matchesTool, type ToolPattern } from '../tool-pattern.ts';
import type { Callable } from './callable.ts';
import { mayPermit, type ReadAgent } from './may-permit.ts';
import type { Counterexample, Denied, PolicyFinding } from './policy-analysis.ts';
import type { ProofWork } from './proof-work.ts';
import { decidesAlways, type ReadRule } from './read-rules.ts';

interface Quota {
  readonly what: 'limit' | 'budget';
  /** `limit stripe/*`, `budget daily`. */
  readonly says: string;
  readonly pattern: ToolPattern;
  /** Those whose calls it counts. */
  readonly agents: readonly ReadAgent[];
  /** Empty if it is shared. */
  readonly owner: string;
  readonly ref: string;
}

export function findIdleQuotas(
  policy: Policy,
  agents: readonly ReadAgent[],
  callables: readonly Callable[] | null,
  work: ProofWork,
): readonly PolicyFinding[] {
  return quotasOf(policy, agents).flatMap((quota) => {
    // One that counts everything is idle only with its agents, of which it is told.
    if (quota.pattern.text === '**') return [];
    const idle = callables === null ? idleByRules(quota, work) : idleByTools(quota, callables, work);
    return idle === null ? [] : [idle];
  });
}

function quotasOf({ written }: Policy, agents: readonly ReadAgent[]): readonly Quota[] {
  const own = agents.flatMap((agent) => quotasIn(agent.policy.written, agent.name, () => [agent]));
  return [
    ...quotasIn(written, '', (named) => agents.filter(({ name }) => named === null || named.includes(name))),
    ...own,
  ];
}

function quotasIn(
  { limits = [], budgets = [] }: Pick<Policy['written'], 'limits' | 'budgets'>,
  owner: string,
  agentsOf: (named: readonly string[] | null) => readonly ReadAgent[],
): readonly Quota[] {
  const written = [
    ...limits.map(({ match, ref }) => ({ what: 'limit' as const, says: `limit ${match}`, match, ref, named: null })),
    ...budgets.map(({ name, match, agents: named, ref }) => {
      return { what: 'budget' as const, says: `budget ${name}`, match, ref, named };
    }),
  ];
  return written.flatMap(({ what, says, match, ref, named }): Quota[] => {
    const compiled = compileToolPattern(match);
    return compiled.ok ? [{ what, says, pattern: compiled.pattern, agents: agentsOf(named), owner, ref }] : [];
  });
}

function idleByTools(quota: Quota, callables: readonly Callable[], work: ProofWork): PolicyFinding | null {
  const { pattern, agents } = quota;
  const matching = callables.filter(({ tool }) => matchesTool(pattern, tool.name));
  if (matching.length === 0) return noTool(quota, callables);
  const denied: Denied[] = [];
  for (const callable of matching)
    for (const agent of agents) {
      const { may, ref } = mayPermit(agent, callable, null, work);
      if (may) return null;
      denied.push({ action: callable.tool.name, tool: callable.tool.name, ref });
    }
  return noCall(quota, denied);
}

/** Without knowing the tools: every name that it matches is denied by the rules of each of its agents. */
function idleByRules(quota: Quota, work: ProofWork): PolicyFinding | null {
  const denied: Denied[] = [];
  for (const agent of quota.agents) {
    const ref = deniesAll(agent, quota.pattern, work);
    if (ref === null) return null;
    denied.push({ action: quota.pattern.text, tool: quota.pattern.text, ref });
  }
  return noCall(quota, denied);
}

/** `file:line` of what denies the last of the names that the pattern matches; null if that is not proven. */
function deniesAll({ rules, policy: { written } }: ReadAgent, pattern: ToolPattern, work: ProofWork): string | null {
  for (const rule of rules) {
    if (rule.always === 'false' || !mayMeet(rule.pattern, pattern)) continue;
    if (rule.written.effect !== 'deny' && rule.always !== 'broken') return null;
    if (decides(rule, pattern, work)) return rule.written.ref;
  }
  const { effect, ref } = written.default ?? { effect: 'deny', ref: written.ref };
  return effect === 'deny' ? ref : null;
}

const decides = (rule: ReadRule, pattern: ToolPattern, work: ProofWork): boolean =>
  decidesAlways(rule) && work.covers(rule.pattern, pattern);

/** False only where no name is matched by both. */
function mayMeet(first: ToolPattern, second: ToolPattern): boolean {
  if (first.isLiteral) return matchesTool(second, first.text);
  return !second.isLiteral || matchesTool(first, second.text);
}

/** The server or workflow that a name belongs to. */
const familyOf = (name: string): string => name.split('/')[0] ?? '';

function noTool(quota: Quota, callables: readonly Callable[]): PolicyFinding {
  const { pattern, what } = quota;
  const names = [...new Set(callables.map(({ tool }) => tool.name))];
  const near = nearest(pattern.text, names);
  const none = pattern.isLiteral ? `there is no tool ${pattern.text}` : `no tool is called ${pattern.text}`;
  const looked = `none of ${names.length} known tools matches`;
  const fix = near === null ? `correct its match, or delete the ${what}` : `did you mean ${near}?`;
  const counterexample: Counterexample = {
    kind: 'name',
    says: near === null ? looked : `${looked}; the nearest is ${near}`,
    nearest: near,
  };
  // As for rules: a pattern may be meant for tools to come.
  const isWrong =
    pattern.isLiteral && names.some((name) => name.includes('/') && familyOf(name) === familyOf(pattern.text));
  return findingOf(quota, { severity: isWrong ? 'error' : 'warning', why: none, fix, counterexample });
}

/** How many tools the proof names. */
const maxNamed = 8;

function noCall(quota: Quota, denied: readonly Denied[]): PolicyFinding {
  const shown = denied.slice(0, maxNamed).map(({ tool, ref }) => `${tool} is denied at ${ref}`);
  const more = denied.length > maxNamed ? ` and ${denied.length - maxNamed} more` : '';
  const who = quota.owner === '' ? 'none of its agents may' : `${quota.owner} may never`;
  return findingOf(quota, {
    severity: 'warning',
    why: `${who} call what it matches`,
    fix: `permit or defer what it matches, or delete the ${quota.what}`,
    counterexample: { kind: 'denied', says: `${shown.join(', ') || 'it has no agents'}${more}`, denied },
  });
}

interface Idle {
  readonly severity: PolicyFinding['severity'];
  readonly why: string;
  readonly fix: string;
  readonly counterexample: Counterexample;
}

const findingOf = ({ says, owner, ref, what }: Quota, { severity, why, fix, counterexample }: Idle): PolicyFinding => ({
  kind: what === 'limit' ? 'idle_limit' : 'idle_budget',
  severity,
  agent: owner,
  rule: null,
  refs: [ref],
  message: `${says} counts nothing: ${why}`,
  fix,
  counterexample,
  mayBreak: false,
});
