/** A workflow that a module mounts, with its bodies in a thread of that module: all that do not say where they run. */
import type { MountedWorkflow } from '../workflow/mount.ts';
import { asTool, checkedTool, type Tool } from '../tool.ts';

export function inModuleThread(workflow: MountedWorkflow, url: string): MountedWorkflow {
  return Object.freeze({ ...workflow, bodies: workflow.bodies.map((body) => moved(body, url)) });
}

function moved(definition: Tool, url: string): Tool {
  const checked = checkedTool(definition);
  const { body, name } = checked;
  if (body.kind !== 'here' || body.neverBlocks) return definition;
  const text = Function.prototype.toString.call(body.run);
  return asTool({ ...checked, body: { kind: 'thread', url, tool: name, text } });
}
