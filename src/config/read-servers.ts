/** Reads the MCP servers under `tools` and reports what does not fit together. Starts nothing. */
import type { JsonObject } from '../core/values/json.ts';
import type { Reach } from '../core/policy/policy.ts';
import type { EffectClass } from '../core/taxonomy.ts';
import type { Connection, ErrorMeaning, ServerConfig, ServerEgress, ToolRule } from './config.ts';
import { readEntry } from '../core/egress/egress-list.ts';
import { itemsOf, mapOf, numberOf, textOf, textsOf } from './yaml/plain-values.ts';
import type { Tell } from './problem.ts';
import { requestFields } from './shape/http-shape.ts';
import { readServerRecovery, readToolRecovery } from './read-recovery.ts';
import { keyPlaceOf, placeOf } from './shape/read-shape.ts';
import type { Tree } from './yaml/yaml-tree.ts';

export function readServers(tools: JsonObject, tree: Tree, tell: Tell): readonly ServerConfig[] {
  return Object.entries(tools)
    .filter(([, server]) => !('http' in mapOf(server)) && !('extension' in mapOf(server)))
    .map(([name, server]) => toServer(name, mapOf(server), tree, tell));
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
  for (const [match, rule] of Object.entries(mapOf(read['tools'])))
    for (const key of Object.keys(requestFields))
      if (key in mapOf(rule))
        tell(keyPlaceOf(tree, [...here, 'tools', match, key]), `'${key}' has no meaning with mcp`, 'leave it out');
  const rules = Object.entries(mapOf(read['tools'])).map(([match, rule]) => ({
    ...toRule(match, mapOf(rule), (message, fix) => tell(keyPlaceOf(tree, [...here, 'tools', match]), message, fix)),
    ...readToolRecovery(mapOf(rule), [...here, 'tools', match], { tree, tell }),
  }));
  return {
    name,
    at: keyPlaceOf(tree, here),
    connect: toConnection(mcp),
    timeoutMs: numberOf(read['timeout']),
    trustAnnotations: read['annotations'] === 'trust',
    onError: textOf(read['on_error']) as ErrorMeaning | null,
    rules,
    ...(read['names'] === 'bare' ? { names: 'bare' } : {}),
    ...readEgress(mcp, read, here, { tree, tell }),
    ...readServerRecovery(read, here, { tree, tell }),
  };
}

/** Only of a process that we start: an address has the list of whoever calls it. */
function readEgress(
  mcp: JsonObject,
  read: JsonObject,
  here: readonly string[],
  { tree, tell }: { readonly tree: Tree; readonly tell: Tell },
): Pick<ServerConfig, 'egress'> {
  if (!('egress' in read)) return {};
  if ('url' in mcp)
    tell(keyPlaceOf(tree, [...here, 'egress']), "'egress' has no meaning with url", 'use egress of the agents');
  const written = mapOf(read['egress']);
  const allow = itemsOf(written['allow']);
  for (const [index, entry] of allow.entries()) {
    const judged = readEntry(entry);
    if (!judged.ok) tell(placeOf(tree, [...here, 'egress', 'allow', index]), judged.message, judged.fix);
  }
  return { egress: { allow, hold: (textOf(written['hold']) ?? 'proxy') as ServerEgress['hold'] } };
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

export function toRule(match: string, rule: JsonObject, tell: (message: string, fix: string) => void): ToolRule {
  const effect = textOf(rule['effect']) as EffectClass | null;
  const dedupeWindowMs = numberOf(rule['dedupe_window']);
  if (effect === 'keyed' && dedupeWindowMs === null)
    tell(`'${match}' is keyed without a window`, 'add dedupe_window: how long the server remembers our key');
  if (effect !== 'keyed' && dedupeWindowMs !== null)
    tell(`'${match}' has a window for keys and is not keyed`, 'add effect: keyed, or leave dedupe_window out');
  const reach = textOf(rule['reach']) as Reach | null;
  const reportsWithinMs = numberOf(rule['reports_within']);
  const onError = textOf(rule['on_error']) as ErrorMeaning | null;
  if (effect === 'pure' && onError === 'unknown')
    tell(`'${match}' is pure, and a read that fails has had no effect`, 'leave on_error out, or correct effect');
  const validate = textOf(rule['validate']);
  return {
    match,
    effect,
    timeoutMs: numberOf(rule['timeout']),
    dedupeWindowMs,
    reportsWithinMs,
    reach,
    onError,
    ...(validate === null ? {} : { validate }),
  };
}
