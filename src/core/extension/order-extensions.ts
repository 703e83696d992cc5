/**
 * Orders extensions so that each starts after those that it needs; otherwise they keep the order in which they are
 * declared. Reports every name that is taken twice, every one that is missing, and each circle with its path. Pure.
 */
import { nearest } from '../values/nearest.ts';
import type { ExtensionProblem, ExtensionShape } from './extension-shape.ts';

type Node = Pick<ExtensionShape, 'name' | 'needs'>;

export type Ordered<Each extends Node> =
  | { readonly ok: true; readonly order: readonly Each[] }
  | { readonly ok: false; readonly problems: readonly ExtensionProblem[] };

export function orderExtensions<Each extends Node>(declared: readonly Each[]): Ordered<Each> {
  const known = new Map<string, Each>();
  const problems: ExtensionProblem[] = [];
  for (const each of declared)
    if (known.has(each.name)) problems.push(takenTwice(each.name));
    else known.set(each.name, each);
  for (const { name, needs } of known.values())
    for (const needed of new Set(needs))
      if (!known.has(needed)) problems.push(missing(name, needed, [...known.keys()]));
  const order: Each[] = [];
  const placed = new Set<string>();
  const path: string[] = [];
  const place = (each: Each): void => {
    if (placed.has(each.name)) return;
    const begun = path.indexOf(each.name);
    if (begun >= 0) return void problems.push(circle(path.slice(begun)));
    path.push(each.name);
    for (const needed of each.needs.flatMap((name) => known.get(name) ?? [])) place(needed);
    path.pop();
    // One that is in a circle is placed too, so that each circle is reported once.
    if (placed.has(each.name)) return;
    placed.add(each.name);
    order.push(each);
  };
  for (const each of known.values()) place(each);
  return problems.length === 0 ? { ok: true, order } : { ok: false, problems };
}

const takenTwice = (name: string): ExtensionProblem => ({
  code: 'ShapeInvalid',
  extension: name,
  message: `two extensions are called '${name}'`,
  fix: 'give one of them another name',
});

function missing(name: string, needed: string, known: readonly string[]): ExtensionProblem {
  const near = nearest(
    needed,
    known.filter((each) => each !== name),
  );
  return {
    code: 'DependencyMissing',
    extension: name,
    message: `the extension '${name}' needs '${needed}', and there is no such extension`,
    fix: near === null ? `add ${needed} to extensions` : `add ${needed} to extensions; or did its author mean ${near}?`,
  };
}

const circle = (path: readonly string[]): ExtensionProblem => ({
  code: 'DependencyCycle',
  extension: path[0] ?? '',
  message: `extensions need each other in a circle: ${[...path, path[0]].join(' -> ')}`,
  fix: 'take one of these out of needs',
});
