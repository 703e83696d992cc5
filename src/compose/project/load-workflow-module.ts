/**
 * Imports a workflow module and finds the workflow that it exports; whatever else it exports becomes a problem. Never
 * rejects and never shows a stack.
 */
import { isObject } from '../../core/values/json.ts';
import { importModule, importTimeoutMs, type ModuleProblem, refusedModule } from '../modules/import-module.ts';
import type { MountedWorkflow } from '../../adapters/upstream-function/workflow/mount.ts';
import { asTool, checkedTool, type Tool } from '../../adapters/upstream-function/tool.ts';

export type LoadedModule =
  | { readonly ok: true; readonly workflow: MountedWorkflow }
  | { readonly ok: false; readonly problems: readonly ModuleProblem[] };

const inYaml = (shown: string): string =>
  `name a workflow that is in it, with --config ${shown}; in recourse.yaml put the file under include`;

export async function loadWorkflowModule(file: string, timeoutMs = importTimeoutMs): Promise<LoadedModule> {
  const imported = await importModule(file, timeoutMs, inYaml);
  return imported.ok ? exported(imported.exported, imported.shown, imported.url) : imported;
}

function exported(loaded: unknown, shown: string, url: string): LoadedModule {
  if (isObject(loaded))
    for (const name of ['default', 'workflow'])
      if (isMounted(loaded[name])) return { ok: true, workflow: inModuleThread(loaded[name], url) };
  const others = isObject(loaded) ? Object.keys(loaded).filter((name) => isMounted(loaded[name])) : [];
  if (others.length > 0) {
    const fix = others.length === 1 ? 'call it workflow, or export it as the default' : 'give each a module of its own';
    return refusedModule(
      `'${shown}' exports no workflow as 'workflow' or as its default, but '${others.join("', '")}'`,
      fix,
    );
  }
  return refusedModule(`'${shown}' exports no workflow`, 'write export const workflow = mount(machine, { … })');
}

/** Checked by shape: it may come from another copy of this package. */
function isMounted(value: unknown): value is MountedWorkflow {
  return (
    isObject(value) &&
    typeof value['name'] === 'string' &&
    typeof value['bind'] === 'function' &&
    typeof value['validate'] === 'function' &&
    Array.isArray(value['bodies']) &&
    isObject(value['graph'])
  );
}

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
