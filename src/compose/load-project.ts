/**
 * What does a project consist of? Reads recourse.yaml, imports the modules it names, mounts the workflows that are written in
 * it, and tells every problem at once, with its place. Starts nothing. Must not print.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { MountedWorkflow } from '../adapters/upstream-function/mount.ts';
import { type Config, emptyConfig, type WorkflowConfig } from '../config/config.ts';
import type { Place, Problem } from '../config/problem.ts';
import { readConfig, type ReadConfig } from '../config/read-config.ts';
import { nearest } from '../core/nearest.ts';
import { loadWorkflowModule } from './load-workflow-module.ts';
import { mountWritten } from './load-written-workflow.ts';

export interface ProjectRequest {
  readonly cwd: string;
  /** The configuration; recourse.yaml in `cwd` if not given. */
  readonly file?: string;
  /** Only this workflow: its name in the configuration, or the path of its module. */
  readonly workflowArgument?: string;
  /** For `${NAME}`; that of the process if not given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Project {
  /** Null without a configuration. */
  readonly file: string | null;
  /** Paths in it are absolute. */
  readonly config: Config;
  readonly workflows: readonly MountedWorkflow[];
  readonly warnings: readonly string[];
}

export type LoadedProject =
  | { readonly ok: true; readonly project: Project }
  /** `workflows` are those that could be loaded nevertheless, for further checks only. */
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly workflows: readonly MountedWorkflow[] };

export const configName = 'recourse.yaml';
const start: Place = { line: 1, column: 1 };

export async function loadProject(request: ProjectRequest): Promise<LoadedProject> {
  const { cwd, workflowArgument: wanted } = request;
  const file = path.resolve(cwd, request.file ?? configName);
  const read = await readText(file);
  const module = wanted === undefined || !looksLikePath(wanted) ? null : path.resolve(cwd, wanted);
  if (!read.ok) {
    // A module can stand for itself; a configuration that was named must be there.
    if (module !== null && request.file === undefined && read.isMissing) return loadModuleAlone(module, wanted ?? '');
    return { ok: false, problems: [problemOf(request.file ?? configName, read.message, read.fix)], workflows: [] };
  }
  const shown = path.relative(cwd, file) || file;
  const config = readConfig(read.text, shown, { env: request.env ?? process.env });
  const folder = path.dirname(file);
  const all = config.config.workflows;
  const chosen =
    wanted === undefined || module !== null ? (module === null ? all : []) : all.filter(({ name }) => name === wanted);
  const problems: Problem[] = [];
  if (wanted !== undefined && module === null && chosen.length === 0)
    problems.push(unknownWorkflow(wanted, all, shown));
  const workflows = (await Promise.all(chosen.map((each) => loadOne(each, folder, config)))).flatMap(
    (each) => each ?? [],
  );
  if (module !== null) {
    const alone = await loadModuleAlone(module, wanted ?? '');
    if (alone.ok) workflows.push(...alone.project.workflows);
    else problems.push(...alone.problems);
  }
  const told = [...config.allProblems(), ...problems];
  if (told.length > 0) return { ok: false, problems: told, workflows };
  return { ok: true, project: { file, config: inFolder(config.config, folder), workflows, warnings: [] } };
}

/** `./x` and `x.ts` are paths; a name of a workflow has neither / nor a dot. */
export function looksLikePath(argument: string): boolean {
  return /[./\\]/.test(argument);
}

async function loadOne(written: WorkflowConfig, folder: string, { tell }: ReadConfig): Promise<MountedWorkflow | null> {
  if (written.kind === 'written') return mountWritten(written, tell);
  const loaded = await loadWorkflowModule(path.resolve(folder, written.path));
  if (!loaded.ok) {
    for (const { message, fix } of loaded.problems) tell(written.tree.at, message, fix);
    return null;
  }
  if (loaded.workflow.name === written.name) return loaded.workflow;
  tell(
    written.tree.at,
    `the module calls its workflow '${loaded.workflow.name}', and here it is '${written.name}'`,
    `call both the same: mount(machine, { name: '${written.name}', … })`,
  );
  return null;
}

async function loadModuleAlone(file: string, shown: string): Promise<LoadedProject> {
  const loaded = await loadWorkflowModule(file);
  if (!loaded.ok)
    return {
      ok: false,
      problems: loaded.problems.map(({ message, fix }) => problemOf(shown, message, fix)),
      workflows: [],
    };
  return { ok: true, project: { file: null, config: emptyConfig, workflows: [loaded.workflow], warnings: [] } };
}

function unknownWorkflow(wanted: string, all: readonly WorkflowConfig[], shown: string): Problem {
  const names = all.map(({ name }) => name);
  const near = nearest(wanted, names);
  const known = names.length === 0 ? 'add it under workflows, or name a module' : `use one of ${names.join(', ')}`;
  return problemOf(shown, `there is no workflow '${wanted}'`, near === null ? known : `did you mean ${near}?`);
}

function problemOf(file: string, message: string, fix: string): Problem {
  return { code: 'ShapeInvalid', file, ...start, text: '', message, fix };
}

type ReadText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly isMissing: boolean; readonly message: string; readonly fix: string };

async function readText(file: string): Promise<ReadText> {
  try {
    return { ok: true, text: await readFile(file, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return {
        ok: false,
        isMissing: true,
        message: 'this file does not exist',
        fix: `write one, or name another; a module of a workflow works too`,
      };
    if (code === 'EISDIR')
      return {
        ok: false,
        isMissing: false,
        message: 'this is a folder',
        fix: `name the file in it, such as ${configName}`,
      };
    return { ok: false, isMissing: false, message: `it cannot be read (${code})`, fix: 'check its owner and mode' };
  }
}

/** What is written relative to the configuration lies beside it, wherever the command was started. */
function inFolder(config: Config, folder: string): Config {
  const { store } = config.runtime;
  const tools = config.tools.map((server) => {
    const { connect } = server;
    if (connect.kind !== 'stdio' || connect.cwd === null) return server;
    return { ...server, connect: { ...connect, cwd: path.resolve(folder, connect.cwd) } };
  });
  return {
    ...config,
    runtime: { ...config.runtime, store: store === null ? null : path.resolve(folder, store) },
    tools,
  };
}
