/**
 * Imports a module of an author within a time limit. It may throw anything, wait forever or end the process; all of
 * that becomes a problem. Never rejects and never shows a stack.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeModuleError } from './describe-module-error.ts';

export type ImportedModule =
  | { readonly ok: true; readonly exported: unknown; readonly url: string; readonly shown: string }
  | RefusedModule;

export interface RefusedModule {
  readonly ok: false;
  readonly problems: readonly ModuleProblem[];
}

export interface ModuleProblem {
  readonly message: string;
  readonly fix: string;
}

/** A module that never finishes loading must not block a command forever. */
export const importTimeoutMs = 15_000;
const maxMessageChars = 500;
const runnable = /\.(?:ts|mts|js|mjs)$/;

/** `inYaml`: what to do about a file that is YAML. */
export async function importModule(
  file: string,
  timeoutMs = importTimeoutMs,
  inYaml?: (shown: string) => string,
): Promise<ImportedModule> {
  const shown = path.basename(file);
  if (!runnable.test(file)) {
    const fix = /\.ya?ml$/.test(file) && inYaml !== undefined ? inYaml(shown) : 'name a file that ends in .ts or .js';
    return refusedModule(`'${shown}' is no module`, fix);
  }
  const found = await sortOf(file);
  if (found === 'folder') return refusedModule(`'${shown}' is a folder`, 'name the module in it');
  if (found !== 'file')
    return refusedModule(
      `there is no module '${file}'`,
      'correct the path; it is read from the folder of the file it stands in',
    );
  return importUrl(pathToFileURL(file).href, { file, shown, timeoutMs });
}

export interface ImportOrder {
  readonly file: string;
  readonly shown: string;
  readonly timeoutMs: number;
}

export async function importUrl(url: string, { file, shown, timeoutMs }: ImportOrder): Promise<ImportedModule> {
  loading.add(shown);
  try {
    const exported = await withinTime(import(url) as Promise<unknown>, timeoutMs);
    if (exported === late)
      return refusedModule(
        `'${shown}' was not loaded within ${timeoutMs / 1_000} s`,
        'leave out of it what waits for something',
      );
    return { ok: true, exported, url, shown };
  } catch (error) {
    return failedModule(error, shown, file);
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

async function withinTime(loaded: Promise<unknown>, timeoutMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<typeof late>();
  const timer = setTimeout(() => resolve(late), timeoutMs);
  try {
    return await Promise.race([loaded, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** An author's error may be anything, so reading it must not throw. */
function failedModule(error: unknown, shown: string, file: string): RefusedModule {
  try {
    const { name, problems } = Object(error) as Record<string, unknown>;
    if (name === 'WorkflowDefinitionError' && Array.isArray(problems) && problems.length > 0) {
      return { ok: false, problems: problems.map((each) => splitProblem(`in '${shown}', ${cut(String(each))}`)) };
    }
    const { place, message, fix } = describeModuleError(error, file);
    return refusedModule(
      `'${shown}' cannot be loaded: ${place === null ? '' : `${place}: `}${cut(message)}`,
      isReadAsCommonJs(message)
        ? 'write "type": "module" into the package.json above it, or let its name end in .mts or .mjs'
        : (fix ?? 'correct the module; node shows more when it runs it by itself'),
    );
  } catch {
    return refusedModule(`'${shown}' cannot be loaded`, 'run it by itself with node to see why');
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

export function refusedModule(message: string, fix: string): RefusedModule {
  return { ok: false, problems: [{ message, fix }] };
}

const cut = (text: string): string => (text.length <= maxMessageChars ? text : `${text.slice(0, maxMessageChars)}…`);
