/**
 * Compiles the written rules with what is known about the tools. Problems are reported where the rules are written.
 */
import { defaultLimits } from '../core/limits.ts';
import { lookAtRules } from '../core/values/look-alike.ts';
import { findUnapprovable } from '../core/policy/analyse/find-unapprovable.ts';
import { compilePolicy } from '../core/policy/compile-policy.ts';
import type { CostFunctions } from '../core/policy/compile-quotas.ts';
import type { Policy, ToolShape, WrittenPolicy } from '../core/policy/policy.ts';
import type { ReadConfig } from './read-config.ts';

/**
 * `tools` is null if not all of them are known; `holders` of keys that may approve, if nobody knows. Null without a
 * policy, or with one that is wrong, which has been told.
 */
export function compileConfigPolicy(
  read: ReadConfig,
  tools: readonly ToolShape[] | null,
  holders: ReadonlySet<string> | null = null,
  costs: CostFunctions = new Map(),
): Policy | null {
  const { config, tell, warn, placeOfPolicyProblem } = read;
  if (config.policy === null) return null;
  const compiled = compilePolicy(config.policy, tools, {}, costs);
  const waitMs = config.runtime.limits.approvalWaitMs ?? defaultLimits.approvalWaitMs;
  const found = findUnapprovable(config.policy, { waitMs, holders });
  for (const each of found)
    (each.severity === 'error' ? tell : warn)(placeOfPolicyProblem(each), each.message, each.fix);
  warnLookAlikes(config.policy, tools ?? [], read);
  if (!compiled.ok) {
    for (const problem of compiled.problems) tell(placeOfPolicyProblem(problem), problem.message, problem.fix);
    return null;
  }
  // Servers that an existing lock does not know are warned about by name; without servers nothing can be pinned.
  const isSaid =
    tools === null && (config.lock !== null || config.tools.length + config.apis.length + config.hosted.length === 0);
  const at = placeOfPolicyProblem({ agent: '', rule: null, field: 'rules', message: '', fix: '' });
  for (const { message, fix } of isSaid ? [] : compiled.warnings) warn(at, message, fix);
  return found.some(({ severity }) => severity === 'error') ? null : compiled.policy;
}

/** A copied name may look right and be another. */
function warnLookAlikes(policy: WrittenPolicy, tools: readonly ToolShape[], read: ReadConfig): void {
  const look = lookAtRules(tools.map(({ name }) => name));
  const fix = 'type the name anew, as recourse.lock has it';
  for (const { agent, rules } of policy.agents)
    for (const [rule, { match }] of rules.entries()) {
      const message = look(match);
      if (message !== null)
        read.warn(read.placeOfPolicyProblem({ agent, rule, field: 'match', message, fix }), message, fix);
    }
}
