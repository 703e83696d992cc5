/**
 * Finds what `recourse check` calls an error in a project that could be loaded: rules that never decide or match no
 * tool, and workflow states without a way out. Each is proven and has a place. They stop `apply` and `up`.
 */
import type { Problem } from '../../config/problem.ts';
import { analysePolicy } from '../../core/policy/analyse/analyse-policy.ts';
import type { PolicyFinding } from '../../core/policy/analyse/policy-analysis.ts';
import { analyseWorkflow } from '../../core/workflow/analyse/analyse-workflow.ts';
import { knownCatalogue, type LiveTools } from './known-catalogue.ts';
import type { Project } from './load-project.ts';

/** `live`: the tools of connected servers; for the others the lock is used. */
export function checkErrors(project: Project, live?: LiveTools): readonly Problem[] {
  const { policy, workflows } = project;
  const stuck = workflows.flatMap(({ name, graph }) =>
    analyseWorkflow(graph)
      .findings.filter(({ severity }) => severity === 'error')
      .map(({ code, message, counterexample }) => {
        const by = counterexample.length === 0 ? '' : ` (by ${counterexample.join(' → ')})`;
        const at = project.config.workflows.find((each) => each.name === name)?.at;
        const place = { file: at?.file ?? name, line: at?.line ?? 1, column: at?.column ?? 1 };
        return problemOf(place, `${code} in workflow ${name}: ${message}${by}`, 'look at it with: recourse check');
      }),
  );
  if (policy === null) return stuck;
  const known = knownCatalogue(live === undefined ? project : { ...project, live });
  const { findings } = analysePolicy(policy, known);
  return [...findings.filter(({ severity }) => severity === 'error').map(policyProblem), ...stuck];
}

function policyProblem({ kind, refs, message, fix, counterexample }: PolicyFinding): Problem {
  const [, file = '', line = '1'] = /^(.*):(\d+)$/.exec(refs[0] ?? '') ?? [];
  return problemOf({ file, line: Number(line), column: 1 }, `${kind}: ${message} (${counterexample.says})`, fix);
}

const problemOf = (place: Pick<Problem, 'file' | 'line' | 'column'>, message: string, fix: string): Problem => ({
  code: 'ConfigSchemaViolation',
  ...place,
  text: '',
  message,
  fix,
});
