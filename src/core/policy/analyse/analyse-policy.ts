/**
 * What can be proven about a policy before anybody calls? Rules that never decide, rules for nothing, states in which an agent
 * gets stuck: each with what proves it. What is not proven is not claimed, and what was not decided is said.
 */
import type { Policy } from '../policy.ts';
import { callablesOf } from './callable.ts';
import { findIdle } from './find-idle-agents.ts';
import { findNeverComplete } from './find-never-complete.ts';
import { findNeverMatching } from './find-never-matching.ts';
import { explore, findPolicyDeadEnds } from './find-policy-dead-ends.ts';
import { findShadowed } from './find-shadowed.ts';
import { findUnknownTools } from './find-unknown-tools.ts';
import type { ReadAgent } from './may-permit.ts';
import {
  type PolicyAnalysis,
  type PolicyAnalysisLimits,
  policyAnalysisLimits,
  type PolicyContext,
  type PolicyFinding,
} from './policy-analysis.ts';
import { createProofWork, isFollowed, listRefs } from './proof-work.ts';
import { readRules } from './read-rules.ts';

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
  const found = agents.flatMap((agent): readonly PolicyFinding[] => {
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
