/** Mounts a workflow that is written in YAML. What only `mount` finds out is told at the state that it is about, or at the workflow. */
import {
  mount,
  type MountedWorkflow,
  WorkflowDefinitionError,
} from '../../adapters/upstream-function/workflow/mount.ts';
import type { WrittenConfig } from '../../config/config.ts';
import type { Tell } from '../../config/problem.ts';
import { keyPlaceOf } from '../../config/shape/read-shape.ts';
import { workflowFromYaml } from '../../config/workflow/workflow-from-yaml.ts';
import { inTwo } from './load-workflow-module.ts';

/** Null if anything is wrong, which has been told. */
export function mountWritten(written: WrittenConfig, tell: Tell): MountedWorkflow | null {
  const made = workflowFromYaml(written, tell);
  if (made === null) return null;
  try {
    return mount(made.machine, made.options as never) as unknown as MountedWorkflow;
  } catch (error) {
    if (!(error instanceof WorkflowDefinitionError)) throw error;
    for (const problem of error.problems) {
      const { message, fix } = inTwo(problem);
      const route = error.routes.get(problem)?.flatMap((name) => ['states', name]);
      tell(route === undefined ? written.tree.at : keyPlaceOf(written.tree, route), message, fix);
    }
    return null;
  }
}
