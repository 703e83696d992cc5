/**
 * Imports a workflow module within a time limit and finds the workflow that it exports. The module may throw anything,
 * wait forever or export something else; all of that becomes a problem. Never rejects and never shows a stack.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '../../core/values/json.ts';
import { describeModuleError } from './describe-module-error.ts';
import type { MountedWorkflow } from '../../adapters/upstream-function/workflow/mount.ts';
import { asTool, checkedTool, type Tool } from '../../adapters/upstream-function/tool.ts';

export type LoadedModule =
  | { readonly ok: true; readonly workflow: MountedWorkflow }
  | { readonly ok: false; readonly problems: readonly ModuleProblem[] };

export interface ModuleProblem {
  readonly message: string;
  readonly fix: string;
}

/** A module that never finishes loading must not block a command forever. */
const importTimeoutMs = 15_000;
const maxMessageChars = 500;
const runnable = /\.(?:ts|mts|js|mjs)$/;

export async function loadWorkflowModule(file: string, timeoutMs = importTimeoutMs): Promise<LoadedModule> {
  const shown = path.basename(file);
  if (!runnable.test(file)) {
    const fix = /\.ya?ml$/.test(file)
      ? `name a workflow that is in it, with --config ${shown}; in recourse.yaml put the file under include`
      : 'name a file that ends in .ts or .js';
    return refused(`'${shown}' is no module`, fix);
  }
  const found = await sortOf(file);
  if (found === 'folder') return refused(`'${shown}' is a folder`, 'name the module in it');
  if (found !== 'file')
    return refused(
      `there is no module '${file}'`,
      'correct the path; it is read from the folder of the file it stands in',
    );
  loading.add(shown);
  try {
    const url = pathToFileURL(file).href;
    const loaded = await withinTime(import(url) as Promise<unknown>, timeoutMs);
    if (loaded === late)
      return refused(
        `'${shown}' was not loaded within ${timeoutMs / 1_000} s`,
        'leave out of it what waits for something',
      );
    return exported(loaded, shown, url);
  } catch (error) {
    return failed(error, shown, file);
  } finally {
    loading.delete(shown);
  }
}

const loading = new Set<string>();

/** A module may end the process while it is loaded; this tells which. */
export const modulesBeingLoaded = (): readonly string[] => [...loading];

async function sortOf(file: string): Promise<'file' | 'folder' | null> {
  try {
    const found = await stat(file);
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : null;
  } catch {
    return null;
  }
}

const late = Symbol('late');

async function withinTime(loading: Promise<unknown>, timeoutMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<typeof late>();
  const timer = setTimeout(() => resolve(late), timeoutMs);
  try {
    return await Promise.race([loading, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function exported(loaded: unknown, shown: string, url: string): LoadedModule {
  if (isObject(loaded))
    for (const name of ['default', 'workflow'])
      if (isMounted(loaded[name])) return { ok: true, workflow: inModuleThread(loaded[name], url) };
  const others = isObject(loaded) ? Object.keys(loaded).filter((name) => isMounted(loaded[name])) : [];
  if (others.length > 0) {
    const fix = others.length === 1 ? 'call it workflow, or export it as the default' : 'give each a module of its own';
    return refused(`'${shown}' exports no workflow as 'workflow' or as its default, but '${others.join("', '")}'`, fix);
  }
  return refused(`'${shown}' exports no workflow`, 'write export const workflow = mount(machine, { … })');
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

/** An author's error may be anything, so reading it must not throw. */
function failed(error: unknown, shown: string, file: string): LoadedModule {
  try {
    const { name, problems } = Object(error) as Record<string, unknown>;
    if (name === 'WorkflowDefinitionError' && Array.isArray(problems) && problems.length > 0) {
      return { ok: false, problems: problems.map((each) => splitProblem(`in '${shown}', ${cut(String(each))}`)) };
    }
    const { place, message, fix } = describeModuleError(error, file);
    return refused(
      `'${shown}' cannot be loaded: ${place === null ? '' : `${place}: `}${cut(message)}`,
      isReadAsCommonJs(message)
        ? 'write "type": "module" into the package.json above it, or let its name end in .mts or .mjs'
        : (fix ?? 'correct the module; node shows more when it runs it by itself'),
    );
  } catch {
    return refused(`'${shown}' cannot be loaded`, 'run it by itself with node to see why');
  }
}

/** The messages of Node for a module that "type": "commonjs" makes it read as a script. */
function isReadAsCommonJs(message: string): boolean {
  return /^(Cannot use import statement outside a module|Unexpected token 'export'|await is only valid)/.test(message);
}

/** A problem of `mount` says what is wrong and, after a semicolon, what to do. */
export function splitProblem(problem: string): ModuleProblem {
  const [message = '', ...fix] = problem.split('; ');
  return { message, fix: fix.join('; ') || 'correct the workflow' };
}

function refused(message: string, fix: string): LoadedModule {
  return { ok: false, problems: [{ message, fix }] };
}

const cut = (text: string): string => (text.length <= maxMessageChars ? text : `${text.slice(0, maxMessageChars)}…`);

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
