/**
 * Loads a project: reads recourse.yaml and the files that belong to it, imports modules, mounts workflows, compiles
 * the policy. Reports every problem at once, with its place. Starts nothing and must not print.
 */
import path from 'node:path';
import {
  type MountedWorkflow,
  mount,
  WorkflowDefinitionError,
} from '../../adapters/upstream-function/workflow/mount.ts';
import { compileConfigPolicy } from '../../config/compile-config-policy.ts';
import {
  type Config,
  configName,
  emptyConfig,
  upstreamsIn,
  type WorkflowConfig,
  type WrittenConfig,
} from '../../config/config.ts';
import { lockName } from '../../config/lock.ts';
import { type Problem, placeAt, type Warning, type Tell } from '../../config/problem.ts';
import { readConfig, type ReadConfig } from '../../config/read-config.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { HttpApi } from '../../adapters/upstream-http/http-api.ts';
import { declareHosted } from '../extensions/declare-hosted.ts';
import { type ExtensionSet, noExtensions } from '../extensions/extension-set.ts';
import { loadExtensions } from '../extensions/load-extensions.ts';
import { costFunctions, modelKindsOf } from '../extensions/use-extensions.ts';
import type { ModelKinds, ModelProvider } from '../../core/model/model-provider.ts';
import { loadApis } from './load-apis.ts';
import { loadModels } from '../upstreams/load-models.ts';
import { warnEgress } from './warn-egress.ts';
import { warnModels } from './warn-models.ts';
import { warnExposed } from './warn-exposed.ts';
import { checkCredentials } from './check-credentials.ts';
import { checkReversals } from './check-reversals.ts';
import { checkReconcile } from './check-reconcile.ts';
import { knownShapes } from './known-catalogue.ts';
import { splitProblem } from '../modules/import-module.ts';
import { loadWorkflowModule } from './load-workflow-module.ts';
import { displayPath, type ProjectFiles, readProjectFiles, type ReadRefusal, readText } from './read-project-files.ts';
import { keyPlaceOf } from '../../config/shape/read-shape.ts';
import { workflowFromYaml } from '../../config/workflow/workflow-from-yaml.ts';

export interface ProjectRequest {
  readonly cwd: string;
  /** The configuration; recourse.yaml in `cwd` if not given. */
  readonly file?: string;
  /** What the configuration would say, in place of what the file says. */
  readonly text?: string;
  /** Only this workflow: its name in the configuration, or the path of its module. */
  readonly workflowArgument?: string;
  /** For `${NAME}`; that of the process if not given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The store of the gateway, given the configured one. Used to warn about servers that could read it. */
  readonly storeOf?: (written: string | null) => Promise<string | null>;
  /** The kinds of providers of models; those that need no extension if not given. */
  readonly kinds?: ModelKinds;
  /** The names with a key that may approve; null if unknown. */
  readonly findApprovers?: () => Promise<ReadonlySet<string> | null>;
}

export interface Project {
  /** Null without a configuration. */
  readonly file: string | null;
  /** Paths in it are absolute. */
  readonly config: Config;
  readonly apis: readonly HttpApi[];
  /** Loaded, and not started. */
  readonly extensions: ExtensionSet;
  readonly models: readonly ModelProvider[];
  readonly workflows: readonly MountedWorkflow[];
  /** Null without agents: then every tool may be called. */
  readonly policy: Policy | null;
  readonly warnings: readonly Warning[];
  /** Every file that can change it: the configuration, its includes, and its lock, even if missing. */
  readonly files: readonly string[];
}

export type LoadedProject = { readonly ok: true; readonly project: Project } | BrokenProject;

export interface BrokenProject {
  readonly ok: false;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
  /** The workflows that could be loaded, for further checks only. */
  readonly workflows: readonly MountedWorkflow[];
}

export async function loadProject(request: ProjectRequest): Promise<LoadedProject> {
  const { cwd, workflowArgument: wanted } = request;
  const file = path.resolve(cwd, request.file ?? configName);
  const read = request.text === undefined ? await readText(file) : ({ ok: true, text: request.text } as const);
  if (!read.ok) return loadWithoutConfig(request, read);
  const shown = path.relative(cwd, file) || file;
  const beside = await readProjectFiles(file, read.text, cwd);
  const written = readConfig(read.text, shown, { env: request.env ?? process.env, ...beside });
  const { apis, declared, files } = await loadApis(written.config, cwd, written.tell);
  const extensions = await loadExtensions(written.config, cwd, written.tell);
  const models = loadModels(written.config, request.kinds ?? modelKindsOf(extensions), written.tell);
  const hosted = declareHosted(written.config, extensions, written.tell);
  const all = new Map([...declared, ...models.declared, ...hosted]);
  const config = { ...written, config: { ...written.config, declared: all } };
  const { workflows, problems } =
    wanted !== undefined && looksLikePath(wanted)
      ? await loadNamedModule(wanted, cwd, config.config)
      : await loadConfigured(wanted, config, { cwd, shown });
  // The actions of workflows that were not loaded are unknown.
  const shapes = wanted === undefined ? knownShapes({ config: config.config, workflows }) : null;
  const holders = await holdersFor(config.config, request);
  const policy = compileConfigPolicy(config, shapes, holders, costFunctions(extensions, config.config.uses));
  checkReconcile(config.config, config.tell);
  checkReversals(config.config, config.tell);
  warnEgress(config.config, models.providers, policy, config.warn);
  warnModels(config.config, policy, config.warn);
  const inPlace = inFolder(config.config, cwd, file);
  await checkCredentials(inPlace, { ...config, env: request.env ?? process.env });
  const store = (await request.storeOf?.(inPlace.runtime.store)) ?? null;
  if (store !== null) warnExposed(inPlace.tools, store, cwd, config.warn);
  const named = namedBy(request.file, beside.files, cwd);
  const told = [...config.allProblems(), ...lockProblems(beside), ...problems].map(named);
  const warnings = config.allWarnings().map(named);
  if (told.length > 0) return { ...broken(told), warnings, workflows };
  const served = { apis, models: models.providers, extensions, workflows };
  return {
    ok: true,
    project: { file, config: inPlace, ...served, policy, warnings, files: [...beside.files, ...files] },
  };
}

/** A module needs no configuration; a configuration that was named must exist. */
async function loadWithoutConfig(
  { cwd, file, workflowArgument: wanted }: ProjectRequest,
  { isMissing, message, fix }: ReadRefusal,
): Promise<LoadedProject> {
  if (wanted !== undefined && looksLikePath(wanted) && file === undefined && isMissing)
    return loadModuleAlone(path.resolve(cwd, wanted), wanted);
  return broken([problemOf(file ?? configName, message, fix)]);
}

const holdersFor = async ({ policy }: Config, { findApprovers }: ProjectRequest) =>
  policy === null || findApprovers === undefined ? null : findApprovers();

const lockProblems = ({ lockProblem }: ProjectFiles): readonly Problem[] =>
  lockProblem === null ? [] : [problemOf(lockName, lockProblem.message, lockProblem.fix)];

interface LoadedWorkflows {
  readonly workflows: readonly MountedWorkflow[];
  /** Problems without a place in the configuration; the others are reported there. */
  readonly problems: readonly Problem[];
}

/** The workflows of the configuration: all, or the one of the wanted name. */
async function loadConfigured(
  wanted: string | undefined,
  config: ReadConfig,
  { cwd, shown }: { readonly cwd: string; readonly shown: string },
): Promise<LoadedWorkflows> {
  const all = config.config.workflows;
  const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  const problems = wanted !== undefined && chosen.length === 0 ? [unknownWorkflow(wanted, all, shown)] : [];
  const loaded = await Promise.all(chosen.map((each) => loadOne(each, cwd, config)));
  return { workflows: loaded.flatMap((each) => each ?? []), problems };
}

/** A module that the command line names, beside a configuration. */
async function loadNamedModule(wanted: string, cwd: string, config: Config): Promise<LoadedWorkflows> {
  const alone = await loadModuleAlone(path.resolve(cwd, wanted), wanted);
  if (!alone.ok) return { workflows: [], problems: alone.problems };
  const { workflows } = alone.project;
  const taken = workflows.filter(({ name }) => upstreamsIn(config).some((server) => server.name === name));
  return { workflows, problems: taken.map(({ name }) => namedAsServer(name, wanted)) };
}

/**
 * Shows places with the path by which the configuration was named. References of rules, which agents read, are not
 * changed.
 */
function namedBy(name: string | undefined, files: readonly string[], cwd: string) {
  const shown = new Map(files.map((file) => [path.relative(cwd, file), displayPath(name, file, cwd)]));
  return <Told extends { readonly file: string }>(told: Told): Told => ({
    ...told,
    file: shown.get(told.file) ?? told.file,
  });
}

const broken = (problems: readonly Problem[]): BrokenProject => ({ ok: false, problems, warnings: [], workflows: [] });

/** `./x` and `x.ts` are paths; a name of a workflow has neither / nor a dot. */
export function looksLikePath(argument: string): boolean {
  return /[./\\]/.test(argument);
}

async function loadOne(written: WorkflowConfig, cwd: string, { tell }: ReadConfig): Promise<MountedWorkflow | null> {
  if (written.kind === 'written') return mountWritten(written, tell);
  const loaded = await loadWorkflowModule(path.resolve(cwd, path.dirname(written.at.file), written.path));
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
  if (!loaded.ok) return broken(loaded.problems.map(({ message, fix }) => problemOf(shown, message, fix)));
  const nothing = { file: null, config: emptyConfig, apis: [], models: [], policy: null, warnings: [], files: [] };
  return { ok: true, project: { ...nothing, extensions: noExtensions, workflows: [loaded.workflow] } };
}

function unknownWorkflow(wanted: string, all: readonly WorkflowConfig[], shown: string): Problem {
  const names = all.map(({ name }) => name);
  const near = nearest(wanted, names);
  const known = names.length === 0 ? 'add it under workflows, or name a module' : `use one of ${names.join(', ')}`;
  return problemOf(shown, `there is no workflow '${wanted}'`, near === null ? known : `did you mean ${near}?`);
}

function namedAsServer(name: string, shown: string): Problem {
  const says = `the workflow '${name}' has the name of a server: rules could not tell them apart`;
  return problemOf(shown, says, 'give one of them another name');
}

function problemOf(file: string, message: string, fix: string): Problem {
  return { code: 'ShapeInvalid', ...placeAt(file), text: '', message, fix };
}

/** Resolves relative paths against the folder of their file, not the working folder. */
export function inFolder(config: Config, cwd: string, file: string): Config {
  const { store, ...runtime } = config.runtime;
  const tools = config.tools.map((server) => {
    const { connect } = server;
    if (connect.kind !== 'stdio') return server;
    // INVARIANT: a relative argument means the same wherever the command was started: a client may start it in '/'.
    const folder = path.resolve(cwd, path.dirname(server.at.file));
    return { ...server, connect: { ...connect, cwd: path.resolve(folder, connect.cwd ?? '.') } };
  });
  const credentials = config.credentials.map((each) => {
    const folder = path.resolve(cwd, path.dirname(each.places.get('name')?.file ?? file));
    if (each.source.provider === 'exec') return { ...each, source: { ...each.source, cwd: folder } };
    if (each.source.provider !== 'file') return each;
    return { ...each, source: { ...each.source, path: path.resolve(folder, each.source.path) } };
  });
  return {
    ...config,
    credentials,
    runtime: { ...runtime, store: store === null ? null : path.resolve(path.dirname(file), store) },
    tools,
  };
}

/** Null if anything is wrong, which has been reported. */
export function mountWritten(written: WrittenConfig, tell: Tell): MountedWorkflow | null {
  const made = workflowFromYaml(written, tell);
  if (made === null) return null;
  try {
    return mount(made.machine, made.options as never) as unknown as MountedWorkflow;
  } catch (error) {
    if (!(error instanceof WorkflowDefinitionError)) throw error;
    for (const problem of error.problems) {
      const { message, fix } = splitProblem(problem);
      const route = error.routes.get(problem)?.flatMap((name) => ['states', name]);
      tell(route === undefined ? written.tree.at : keyPlaceOf(written.tree, route), message, fix);
    }
    return null;
  }
}
