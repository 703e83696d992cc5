/**
 * Reads a recourse.yaml, its included files and its lock. Total: any text gives a configuration and all its problems,
 * each with its place and a fix. With problems the configuration is only for further checks; nothing may run on it.
 * Reads no files.
 */
import { isObject, type Json, type JsonObject } from '../core/values/json.ts';
import { defaultLimits, type Limits } from '../core/limits.ts';
import { nearest } from '../core/values/nearest.ts';
import type { PolicyProblem } from '../core/policy/policy.ts';
import { readApis } from './read-apis.ts';
import { checkAgents } from './check-agents.ts';
import { problemWithOptions } from './check-options.ts';
import { configShape, snakeCase } from './shape/config-shape.ts';
import { type Config, emptyConfig, type RuntimeConfig, upstreamsIn, type WorkflowConfig } from './config.ts';
import { type IncludedFiles, mergeFiles } from './yaml/merge-files.ts';
import { itemsOf, mapOf, numberOf, textOf } from './yaml/plain-values.ts';
import {
  createProblemList,
  type Place,
  placeAt,
  type Problem,
  type ProblemList,
  refOf,
  type Tell,
  type Warn,
  type Warning,
} from './problem.ts';
import { readCredentials } from './read-credentials.ts';
import { readModels } from './read-models.ts';
import { readNotify } from './read-notify.ts';
import { readPolicy } from './read-policy.ts';
import { readGatewayPlaybook } from './read-recovery.ts';
import { readServers } from './read-servers.ts';
import { readTickets } from './ticket/read-tickets.ts';
import { keyPlaceOf, placeOf, readShape, subtree } from './shape/read-shape.ts';
import { readExtensions, readHosted, readUses } from './extension/read-extensions.ts';
import { workflowShape } from './workflow/workflow-shape.ts';
import { readYaml, type Tree } from './yaml/yaml-tree.ts';
import { findLookAlikes } from '../core/values/look-alike.ts';
import { spellOut } from '../core/values/quote.ts';
import { type Lock, placeOfServer, readLock } from './lock.ts';

export interface ReadConfigOptions {
  /** `${NAME}` is replaced from it; without one it stays as it is written. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The files that `include` names; a missing one is reported as not read. */
  readonly included?: IncludedFiles;
  /** Null if there is none. */
  readonly lock?: LockText | null;
}

export interface ReadConfig {
  readonly config: Config;
  /** Those of the files themselves. */
  readonly problems: readonly Problem[];
  /** Reports a problem of the same files that is found later. */
  readonly tell: Tell;
  readonly warn: Warn;
  /** The place of a problem of the policy. */
  readonly placeOfPolicyProblem: (problem: PolicyProblem) => Place;
  /** All of them, those found later included. */
  readonly allProblems: () => readonly Problem[];
  readonly allWarnings: () => readonly Warning[];
}

export function readConfig(text: string, file: string, options: ReadConfigOptions = {}): ReadConfig {
  const list = createProblemList(file, text);
  const main = readYaml(text, file, list.tell);
  const tree = mergeFiles(main, file, options.included ?? new Map(), list);
  const read = tree === null ? undefined : readShape(tree, configShape, { tell: list.tell, env: options.env });
  const { config, placeOfPolicyProblem } =
    tree === null || !isObject(read)
      ? { config: emptyConfig, placeOfPolicyProblem: () => placeAt(file) }
      : toConfig(read as JsonObject, tree, list, options.lock ?? null);
  return {
    config,
    problems: list.problems(),
    tell: list.tell,
    warn: list.warn,
    placeOfPolicyProblem,
    allProblems: list.problems,
    allWarnings: list.warnings,
  };
}

function toConfig(read: JsonObject, tree: Tree, list: ProblemList, lockText: LockText | null) {
  const { tell, warn } = list;
  const runtime = toRuntime(mapOf(read['runtime']), tree, tell);
  const tools = readServers(mapOf(read['tools']), tree, tell);
  const apis = readApis(mapOf(read['tools']), tree, tell);
  const hosted = readHosted(mapOf(read['tools']), tree, tell);
  const models = readModels(mapOf(read['models']), tree, tell);
  const workflows = Object.entries(mapOf(read['workflows'])).map(([name, written]): WorkflowConfig => {
    const place = subtree(tree, ['workflows', name]);
    const at = keyPlaceOf(tree, ['workflows', name]);
    return typeof written === 'string'
      ? { kind: 'module', name, at, path: written, tree: place }
      : { kind: 'written', name, at, definition: mapOf(written), isWhole: isWhole(place), tree: place };
  });
  const { policy, agents, placeOfProblem } = readPolicy(read, tree, runtime.mode, { tell, file: tree.at.file });
  const config: Config = {
    runtime,
    tools,
    apis,
    models,
    declared: emptyConfig.declared,
    workflows,
    policy,
    agents,
    roles: mapOf(read['roles']),
    credentials: readCredentials(mapOf(read['credentials']), { tree, tell }),
    notify: readNotify(mapOf(read['notify']), { tree, tell, warn }),
    tickets: readTickets(mapOf(read['tickets']), { tree, tell }),
    playbook: readGatewayPlaybook(read['playbook'], { tree, tell }),
    extensions: readExtensions(mapOf(read['extensions']), tree),
    hosted,
    uses: readUses(read, tree),
    lock: checkLock(lockText, { tools, apis, models, hosted }, list),
  };
  checkBoundTools(config, tell);
  checkNames(config, tell);
  checkAgents(read, { tree, tell, warn });
  return { config, placeOfPolicyProblem: placeOfProblem };
}

function toRuntime(runtime: JsonObject, tree: Tree, tell: Tell): RuntimeConfig {
  return {
    mode: runtime['mode'] === 'audit' ? 'audit' : 'enforce',
    coldStartGraceMs: numberOf(runtime['cold_start_grace']) ?? emptyConfig.runtime.coldStartGraceMs,
    store: textOf(runtime['store']),
    listen: toListen(runtime['listen'], tree, tell),
    ...('dns' in runtime ? { dns: itemsOf(runtime['dns']) } : {}),
    limits: toLimits(mapOf(runtime['limits']), tree, tell),
  };
}

function toListen(value: Json | undefined, tree: Tree, tell: Tell): Config['runtime']['listen'] {
  if (typeof value !== 'string' || value.includes('${')) return null;
  const cut = value.lastIndexOf(':');
  const port = Number(value.slice(cut + 1));
  if (port > 65_535) tell(placeOf(tree, ['runtime', 'listen']), `there is no port ${port}`, 'use 0 to 65535');
  return { host: value.slice(0, cut).replace(/^\[|\]$/g, ''), port };
}

function toLimits(given: JsonObject, tree: Tree, tell: Tell): Partial<Limits> {
  const entries = (Object.keys(defaultLimits) as (keyof Limits)[]).flatMap((name) => {
    const value = given[snakeCase(name)];
    if (value === undefined) return [];
    // The same check and messages as for the options of a program.
    const problem = problemWithOptions({ tools: [], limits: { [name]: value } });
    if (problem === null) return [[name, value] as const];
    tell(
      placeOf(tree, ['runtime', 'limits', snakeCase(name)]),
      problem.replaceAll(name, snakeCase(name)),
      'use another amount',
    );
    return [];
  });
  return Object.fromEntries(entries);
}

/** An action can only call a tool of a server that is configured. */
function checkBoundTools(config: Config, tell: Tell): void {
  const servers = upstreamsIn(config).map(({ name }) => name);
  for (const workflow of config.workflows) {
    if (workflow.kind !== 'written') continue;
    for (const [action, declared] of Object.entries(mapOf(workflow.definition['actions']))) {
      const tool = textOf(mapOf(declared)['tool']);
      const server = tool?.split('/')[0];
      if (server === undefined || servers.includes(server)) continue;
      const near = nearest(server, servers);
      const known =
        servers.length === 0 ? 'add it under tools' : `use one of ${servers.join(', ')}, or add it under tools`;
      tell(
        placeOf(workflow.tree, ['actions', action, 'tool']),
        `there is no server '${server}' under tools`,
        near === null ? known : `did you mean ${near}?`,
      );
    }
  }
}

/** INVARIANT: rules name `server/tool` and `workflow/action`, so no two of those that have tools share a name. */
function checkNames(config: Config, tell: Tell): void {
  const upstreams = upstreamsIn(config);
  for (const { name, at } of config.models) {
    const server = upstreams.find((each) => each.name === name && each.at !== at);
    if (server === undefined) continue;
    const says = `the provider '${name}' has the name of a server: rules could not tell them apart`;
    tell(at, `${says} (${refOf(server.at)})`, 'give one of them another name');
  }
  for (const { name, at } of config.workflows) {
    const server = upstreams.find((each) => each.name === name);
    if (server === undefined) continue;
    const says = `the workflow '${name}' has the name of a server: rules could not tell them apart`;
    tell(at, `${says} (${refOf(server.at)})`, 'give one of them another name');
  }
}

function isWhole(tree: Tree): boolean {
  let whole = true;
  const tell = () => {
    whole = false;
  };
  readShape(tree, workflowShape, { tell, env: undefined });
  return whole;
}

export interface LockText {
  readonly file: string;
  readonly text: string;
}

const pin = 'run recourse pin, and commit what it writes';

export function checkLock(
  given: LockText | null,
  upstreams: Pick<Config, 'tools' | 'apis' | 'models' | 'hosted'>,
  list: ProblemList,
): Lock | null {
  if (given === null) return null;
  list.addSource(given.file, given.text);
  const { lock, problems, warnings } = readLock(given.text, given.file);
  for (const { message, fix, code, ...place } of problems) list.tell(place, message, fix, code);
  for (const { message, fix, ...place } of warnings) list.warn(place, message, fix);
  if (lock === null) return null;
  // The tools of an HTTP API or a provider of models are known from the files, pinned or not.
  for (const { name, at: where } of upstreams.tools)
    if (!lock.servers.has(name))
      list.warn(where, `the server '${name}' is not in ${given.file}: its tools are not known here`, pin);
  for (const server of lock.servers.keys())
    if (!upstreamsIn(upstreams).some(({ name }) => name === server))
      list.warn(placeOfServer(given.text, given.file, server), `there is no server '${server}' any more`, pin);
  const names = [...lock.servers].flatMap(([server, tools]) => [...tools.keys()].map((tool) => `${server}/${tool}`));
  for (const { name, says } of findLookAlikes(names)) {
    const at = placeOfServer(given.text, given.file, name.slice(0, name.indexOf('/')));
    list.warn(at, `the tool ${spellOut(name)} ${says}`, 'make sure that rules name the tool that is meant');
  }
  return lock;
}
