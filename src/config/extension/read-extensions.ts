/**
 * Reads which extensions there are, the servers that are of their kinds, and every use of what they add. Whether an
 * extension has what is used is known only when its module is loaded. Loads nothing.
 */
import type { Addition } from '../../core/extension/extension-shape.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { HostedConfig } from '../config.ts';
import type { ExtensionConfig, KindUse } from './extension-config.ts';
import type { Tell } from '../problem.ts';
import { readServerRecovery, readToolRecovery } from '../read-recovery.ts';
import { toRule } from '../read-servers.ts';
import { requestFields } from '../shape/http-shape.ts';
import { keyPlaceOf, placeOf, subtree } from '../shape/read-shape.ts';
import { mapOf, numberOf, textOf } from '../yaml/plain-values.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

export function readExtensions(written: JsonObject, tree: Tree): readonly ExtensionConfig[] {
  return Object.entries(written).flatMap(([name, each]) => {
    const here = ['extensions', name];
    const module = textOf(each) ?? textOf(mapOf(each)['module']);
    const settings = subtree(tree, [...here, 'settings']);
    return module === null
      ? []
      : [{ name, at: keyPlaceOf(tree, here), module, settings: mapOf(mapOf(each)['settings']), tree: settings }];
  });
}

export function readHosted(tools: JsonObject, tree: Tree, tell: Tell): readonly HostedConfig[] {
  return Object.entries(tools).flatMap(([name, server]) =>
    isObject(mapOf(server)['extension']) ? [toHosted(name, mapOf(server), tree, tell)] : [],
  );
}

/** Have no meaning for a server of an extension: its author says them. */
const foreign = ['annotations', 'on_error', 'egress'];
const foreignToRules = [...Object.keys(requestFields), 'on_error'];

function toHosted(name: string, read: JsonObject, tree: Tree, tell: Tell): HostedConfig {
  const here = ['tools', name];
  const strange = (path: readonly string[], key: string) =>
    tell(keyPlaceOf(tree, [...path, key]), `'${key}' has no meaning with extension`, 'leave it out');
  for (const key of foreign) if (key in read) strange(here, key);
  const rules = Object.entries(mapOf(read['tools'])).map(([match, each]) => {
    const at = [...here, 'tools', match];
    const rule = mapOf(each);
    for (const key of foreignToRules) if (key in rule) strange(at, key);
    return {
      ...toRule(match, rule, (message, fix) => tell(keyPlaceOf(tree, at), message, fix)),
      ...readToolRecovery(rule, at, { tree, tell }),
      at: keyPlaceOf(tree, at),
    };
  });
  return {
    name,
    at: keyPlaceOf(tree, here),
    kind: textOf(mapOf(read['extension'])['kind']) ?? '',
    settings: mapOf(mapOf(read['extension'])['settings']),
    timeoutMs: numberOf(read['timeout']),
    ...(read['names'] === 'bare' ? { names: 'bare' } : {}),
    rules,
    ...readServerRecovery(read, here, { tree, tell }),
  };
}

/** Every place that names something that an extension adds. */
export function readUses(read: JsonObject, tree: Tree): readonly KindUse[] {
  const uses: KindUse[] = [];
  const add = (addition: Addition, path: readonly string[], key: string, written: Json | undefined): void => {
    const name = textOf(mapOf(written)[key]);
    if (name === null) return;
    const settings = mapOf(mapOf(written)['settings']);
    const at = placeOf(tree, [...path, key]);
    uses.push({ addition, kind: name, settings, at, tree: subtree(tree, [...path, 'settings']) });
  };
  const each = (section: Json | undefined) =>
    Object.entries(mapOf(section)).map(([name, of]) => [name, mapOf(of)] as const);
  for (const [server, of] of each(read['tools'])) {
    add('upstreams', ['tools', server, 'extension'], 'kind', of['extension']);
    for (const [tool, rule] of each(of['tools'])) add('validators', ['tools', server, 'tools', tool], 'validate', rule);
  }
  for (const [section, addition] of [
    ['credentials', 'credentials'],
    ['notify', 'notifiers'],
  ] as const)
    for (const [name, of] of each(read[section])) add(addition, [section, name, 'extension'], 'kind', of['extension']);
  const addCosts = (path: readonly string[], of: JsonObject) => {
    for (const [name, budget] of each(of['budgets']))
      add('costs', [...path, 'budgets', name, 'cost'], 'function', budget['cost']);
  };
  addCosts([], read);
  for (const [agent, of] of each(read['agents'])) addCosts(['agents', agent], of);
  return uses;
}
