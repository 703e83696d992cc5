/**
 * Proves facts about a policy before any call: rules that never decide, rules that match nothing, states where an
 * agent gets stuck. Claims only what is proven, and reports what was not decided.
 */
import type { Policy } from '../policy.ts';
import { callablesOf, type Callable } from './callable.ts';
import { findIdleQuotas } from './find-idle-quotas.ts';
import { findNeverComplete } from './find-never-complete.ts';
import { findNeverMatching } from './find-never-matching.ts';
import { explore, findPolicyDeadEnds } from './find-policy-dead-ends.ts';
import { findShadowed } from './find-shadowed.ts';
import { findUnmeetable } from './find-unmeetable.ts';
import { type ReadAgent, mayPermit } from './may-permit.ts';
import {
  type PolicyAnalysis,
  type PolicyAnalysisLimits,
  policyAnalysisLimits,
  type PolicyContext,
  type PolicyFinding,
  type Denied,
} from './policy-analysis.ts';
import { createProofWork, isFollowed, listRefs, type ProofWork } from './proof-work.ts';
import { readRules, decidesAlways, type ReadRule } from './read-rules.ts';
import { nearest } from '../../values/nearest.ts';
import { matchesTool } from '../tool-pattern.ts';

export function analysePolicy(
  policy: Policy,
  context: PolicyContext,
  limits: Partial<PolicyAnalysisLimits> = {},
): PolicyAnalysis {
  const bounds = { ...policyAnalysisLimits, ...limits };
  const work = createProofWork(bounds);
  const callables = context.tools === null ? null : callablesOf(context);
  const explored = [...context.workflows].map(([name, workflow]) => explore(name, workflow, bounds));
  const agents = [...policy.agents].map(([name, each]): ReadAgent => {
    return { name, policy: each, rules: readRules(each.written) };
  });
  const ofAgents = agents.flatMap((agent): readonly PolicyFinding[] => {
    const { name, rules } = agent;
    const never = findNeverMatching(name, rules, callables, work);
    const unmatched = new Set(never.map(({ rule }) => rule));
    const shadowed = findShadowed(name, rules, callables, work).filter(({ rule }) => !unmatched.has(rule));
    const dead = new Set([...never, ...shadowed].flatMap(({ rule }) => rule ?? []));
    const idle = findIdle(agent, callables, dead, work);
    return [
      ...shadowed,
      ...never,
      ...(callables === null ? [] : findUnknownTools(name, rules, callables)),
      ...explored.flatMap((each) => findPolicyDeadEnds(agent, each, work)),
      ...(idle === null ? [] : [idle]),
      ...findNeverComplete(agent, callables, context, work),
    ];
  });
  const found = [...ofAgents, ...findUnmeetable(policy), ...findIdleQuotas(policy, agents, callables, work)];
  const { findings, undecided } = listed(found, bounds.maxFindings);
  return {
    findings,
    undecided: [
      ...(callables === null
        ? ['which tools there are is not known: rules for tools that do not exist were not looked for.']
        : []),
      ...freeConditions(agents, found),
      ...work.undecided(),
      ...explored.flatMap(({ name, found: { complete, stopped } }) =>
        complete ? [] : [`workflow ${name} was not searched to its end: ${stopped.join(' ')}`],
      ),
      ...undecided,
    ],
  };
}

/** Taken to be able to hold, and not to hold. */
function freeConditions(agents: readonly ReadAgent[], found: readonly PolicyFinding[]): readonly string[] {
  const all = agents.flatMap(({ name, rules }) => {
    const told = new Set(found.filter(({ agent }) => agent === name).map(({ rule }) => rule));
    return rules.flatMap(({ index, written, condition }) => {
      if (written.when === null || told.has(index)) return [];
      return condition === null || !isFollowed(condition.root) ? [written.ref] : [];
    });
  });
  // One rule as it is written may be several.
  const refs = [...new Set(all)];
  return refs.length === 0
    ? []
    : [`conditions that calculate, call a function or compare two values were taken to be free: ${listRefs(refs)}.`];
}

function listed(found: readonly PolicyFinding[], most: number): PolicyAnalysis {
  const counts = new Map<string, number>();
  const shown = found.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= most;
  });
  const severe = (['error', 'warning'] as const).flatMap((severity) =>
    shown.filter((finding) => finding.severity === severity),
  );
  const undecided = [...counts].flatMap(([kind, count]) =>
    count > most ? [`${count - most} more of ${kind} are not listed.`] : [],
  );
  return { findings: severe, undecided };
}

/** How many tools the proof names. */
const maxNamed = 8;

/** `dead` are the rules that are proven never to decide. */
function findIdle(
  agent: ReadAgent,
  callables: readonly Callable[] | null,
  dead: ReadonlySet<number>,
  work: ProofWork,
): PolicyFinding | null {
  const { written } = agent.policy;
  const denied = callables === null ? deniedByRules(agent, dead) : deniedTools(agent, callables, work);
  if (denied === null) return null;
  const shown = denied.slice(0, maxNamed).map(({ tool, ref }) => `${tool} is denied at ${ref}`);
  const more = denied.length > maxNamed ? ` and ${denied.length - maxNamed} more` : '';
  return {
    kind: 'idle_agent',
    severity: 'warning',
    agent: agent.name,
    rule: null,
    refs: [written.ref],
    message: `nothing could ever be permitted to ${agent.name}`,
    fix: 'add a rule that permits or defers a tool, or delete the agent',
    counterexample: { kind: 'denied', says: `${shown.join(', ') || 'there are no tools at all'}${more}`, denied },
    mayBreak: false,
  };
}

function deniedTools(agent: ReadAgent, callables: readonly Callable[], work: ProofWork): readonly Denied[] | null {
  const denied: Denied[] = [];
  for (const callable of callables) {
    const { may, ref } = mayPermit(agent, callable, null, work);
    if (may) return null;
    denied.push({ action: callable.tool.name, tool: callable.tool.name, ref });
  }
  return denied;
}

/** Without knowing the tools: no rule that can decide permits anything, and neither does the default. */
function deniedByRules({ rules, policy: { written } }: ReadAgent, dead: ReadonlySet<number>): readonly Denied[] | null {
  const live = rules.filter(({ index }) => !dead.has(index));
  if (live.some(({ written: rule, always }) => rule.effect !== 'deny' && always !== 'broken')) return null;
  const last = live.find((rule) => rule.pattern.text === '**' && decidesAlways(rule))?.written;
  const { effect, ref } = last ?? written.default ?? { effect: 'deny', ref: written.ref };
  return effect === 'deny' || last !== undefined ? [{ action: 'every tool', tool: 'every tool', ref }] : null;
}

/** For so many rules of an agent the name is looked for that was probably meant. */
const maxHints = 50;

function findUnknownTools(
  agent: string,
  rules: readonly ReadRule[],
  callables: readonly Callable[],
): readonly PolicyFinding[] {
  const names = [...new Set(callables.map(({ tool }) => tool.name))];
  const known = new Set(names);
  let hintsLeft = maxHints;
  const families = new Set(names.filter((name) => name.includes('/')).map(familyOf));
  return rules.flatMap(({ index, written, pattern }): PolicyFinding[] => {
    if (pattern.isLiteral ? known.has(pattern.text) : names.some((name) => matchesTool(pattern, name))) return [];
    // A list of names may be long, and so may the list of rules.
    const near = hintsLeft-- > 0 ? nearestTo(pattern.text, names) : null;
    const none = pattern.isLiteral ? `there is no tool ${pattern.text}` : `no tool is called ${pattern.text}`;
    const looked = names.length === 0 ? 'there are no tools at all' : `none of ${count(names.length)} matches`;
    return [
      {
        kind: 'unknown_tool',
        // A pattern may be meant for tools to come, and a program may have tools that are in no file.
        severity: pattern.isLiteral && families.has(familyOf(pattern.text)) ? 'error' : 'warning',
        agent,
        rule: index,
        refs: [written.ref],
        message: `${written.effect} ${written.match} is for nothing: ${none}`,
        fix: near === null ? 'correct the name, or pin the tools again with: recourse pin' : `did you mean ${near}?`,
        counterexample: {
          kind: 'name',
          says: near === null ? looked : `${looked}; the nearest is ${near}`,
          nearest: near,
        },
        mayBreak: false,
      },
    ];
  });
}

/** The server or workflow that a name belongs to. */
const familyOf = (name: string): string => name.split('/')[0] ?? '';

const count = (tools: number): string => (tools === 1 ? 'the one tool there is' : `the ${tools} tools there are`);

/** Of a pattern only its first segment can be nearly right. */
function nearestTo(pattern: string, names: readonly string[]): string | null {
  const whole = nearest(pattern, names);
  if (whole !== null || !pattern.includes('*')) return whole;
  const [first = '', ...rest] = pattern.split('/');
  const server = nearest(first, [...new Set(names.map(familyOf))]);
  return server === null || server === first ? null : [server, ...rest].join('/');
}
