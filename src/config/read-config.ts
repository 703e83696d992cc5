/**
 * What does a recourse.yaml say? Total: any text gives a configuration and all of its problems, each with its place and what
 * to write instead. With problems the configuration is what could be read, for further checks only; nothing may run on it.
 */
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { defaultLimits, type Limits } from '../core/limits.ts';
import { nearest } from '../core/nearest.ts';
import type { EffectClass } from '../core/taxonomy.ts';
import { problemWithOptions } from './check-options.ts';
import { configShape, snakeCase } from './config-shape.ts';
import {
  type Config,
  type Connection,
  emptyConfig,
  type ServerConfig,
  type ToolRule,
  type WorkflowConfig,
} from './config.ts';
import { createProblemList, inOrder, type Problem, type Tell } from './problem.ts';
import { mapOf, numberOf, textOf, textsOf } from './plain-values.ts';
import { keyPlaceOf, placeOf, readShape } from './read-shape.ts';
import { workflowShape } from './workflow-shape.ts';
import { readYaml, type Tree } from './yaml-tree.ts';

export interface ReadConfigOptions {
  /** `${NAME}` is replaced from it; without one it stays as it is written. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface ReadConfig {
  readonly config: Config;
  readonly problems: readonly Problem[];
  /** Tells a problem of the same file, found later. */
  readonly tell: Tell;
  /** All of them, those found later included. */
  readonly allProblems: () => readonly Problem[];
}

export function readConfig(text: string, file: string, { env }: ReadConfigOptions = {}): ReadConfig {
  const list = createProblemList(file, text);
  const allProblems = () => inOrder(list.problems);
  const tree = readYaml(text, list.tell);
  const read = tree === null ? undefined : readShape(tree, configShape, { tell: list.tell, env });
  const config = tree === null || !isObject(read) ? emptyConfig : toConfig(read as JsonObject, tree, list.tell);
  return { config, problems: allProblems(), tell: list.tell, allProblems };
}

function toConfig(read: JsonObject, tree: Tree, tell: Tell): Config {
  const runtime = mapOf(read['runtime']);
  const tools = Object.entries(mapOf(read['tools'])).map(([name, server]) => toServer(name, mapOf(server), tree, tell));
  const workflows = Object.entries(mapOf(read['workflows'])).map(([name, written]): WorkflowConfig => {
    const place = subtree(tree, ['workflows', name]);
    return typeof written === 'string'
      ? { kind: 'module', name, path: written, tree: place }
      : { kind: 'written', name, definition: mapOf(written), isWhole: isWhole(place), tree: place };
  });
  const config = {
    runtime: {
      store: textOf(runtime['store']),
      listen: toListen(runtime['listen'], tree, tell),
      limits: toLimits(mapOf(runtime['limits']), tree, tell),
    },
    tools,
    workflows,
  };
  checkBoundTools(config, tell);
  return config;
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
    // The same judge as for a program's own options, in its own words.
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

function toServer(name: string, read: JsonObject, tree: Tree, tell: Tell): ServerConfig {
  const here = ['tools', name];
  const mcp = mapOf(read['mcp']);
  const foreign = 'url' in mcp ? ['args', 'env', 'cwd'] : ['headers'];
  for (const key of foreign)
    if (key in mcp && ('url' in mcp || 'command' in mcp))
      tell(
        keyPlaceOf(tree, [...here, 'mcp', key]),
        `'${key}' has no meaning with ${'url' in mcp ? 'url' : 'command'}`,
        'leave it out',
      );
  if (typeof mcp['url'] === 'string' && !mcp['url'].includes('${') && URL.parse(mcp['url']) === null)
    tell(
      placeOf(tree, [...here, 'mcp', 'url']),
      'this is no address',
      'write the whole of it, such as https://host/mcp',
    );
  const rules = Object.entries(mapOf(read['tools'])).map(([match, rule]) =>
    toRule(match, mapOf(rule), (message, fix) => tell(keyPlaceOf(tree, [...here, 'tools', match]), message, fix)),
  );
  return {
    name,
    connect: toConnection(mcp),
    timeoutMs: numberOf(read['timeout']),
    trustAnnotations: read['annotations'] === 'trust',
    rules,
  };
}

function toConnection(mcp: JsonObject): Connection {
  if (typeof mcp['url'] === 'string') return { kind: 'http', url: mcp['url'], headers: textsOf(mcp['headers']) };
  const args = Array.isArray(mcp['args']) ? mcp['args'].filter((each): each is string => typeof each === 'string') : [];
  return {
    kind: 'stdio',
    command: textOf(mcp['command']) ?? '',
    args,
    env: textsOf(mcp['env']),
    cwd: textOf(mcp['cwd']),
  };
}

function toRule(match: string, rule: JsonObject, tell: (message: string, fix: string) => void): ToolRule {
  const effect = textOf(rule['effect']) as EffectClass | null;
  const dedupeWindowMs = numberOf(rule['dedupe_window']);
  if (effect === 'keyed' && dedupeWindowMs === null)
    tell(`'${match}' is keyed without a window`, 'add dedupe_window: how long the server remembers our key');
  if (effect !== 'keyed' && dedupeWindowMs !== null)
    tell(`'${match}' has a window for keys and is not keyed`, 'add effect: keyed, or leave dedupe_window out');
  return { match, effect, timeoutMs: numberOf(rule['timeout']), dedupeWindowMs };
}

/** An action can only call a tool of a server that is configured. */
function checkBoundTools({ tools, workflows }: Config, tell: Tell): void {
  const servers = tools.map(({ name }) => name);
  for (const workflow of workflows) {
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

function isWhole(tree: Tree): boolean {
  let whole = true;
  const tell = () => {
    whole = false;
  };
  readShape(tree, workflowShape, { tell, env: undefined });
  return whole;
}

function subtree(tree: Tree, path: readonly string[]): Tree {
  let here = tree;
  for (const step of path) here = (here.kind === 'map' ? here.entries.get(step)?.value : undefined) ?? here;
  return here;
}
