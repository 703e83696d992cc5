/** What do the written rules become? Compiled with what is known about the tools; problems are told where they are written. */
import { compilePolicy } from '../core/policy/compile-policy.ts';
import type { Policy, ToolShape } from '../core/policy/policy.ts';
import type { ReadConfig } from './read-config.ts';

/** `tools` is null if not all of them are known. Null without a policy, or with one that is wrong, which has been told. */
export function compileWritten(read: ReadConfig, tools: readonly ToolShape[] | null): Policy | null {
  const { config, tell, warn, placeOfPolicyProblem } = read;
  if (config.policy === null) return null;
  const compiled = compilePolicy(config.policy, tools);
  if (!compiled.ok) {
    for (const problem of compiled.problems) tell(placeOfPolicyProblem(problem), problem.message, problem.fix);
    return null;
  }
  // Servers that an existing lock does not know are warned about by name; without servers nothing can be pinned.
  const isSaid = tools === null && (config.lock !== null || config.tools.length === 0);
  const at = placeOfPolicyProblem({ agent: '', rule: null, field: 'rules', message: '', fix: '' });
  for (const { message, fix } of isSaid ? [] : compiled.warnings) warn(at, message, fix);
  return compiled.policy;
}
