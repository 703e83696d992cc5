/**
 * Warns about keys that this version reads and checks but does not enforce. Enforced keys are removed from the table.
 */
import type { Place, Warn } from './problem.ts';
import type { Tree } from './yaml/yaml-tree.ts';

interface Unenforced {
  /** Keys from the top; * for any name, or any item of a list. */
  readonly path: string;
  /** Any value but these. */
  readonly except?: readonly string[];
  readonly says?: string;
}

export const unenforced: readonly Unenforced[] = [{ path: 'extensions' }];

export function warnUnenforced(tree: Tree, warn: Warn): void {
  for (const { path, except, says = 'read and checked, not enforced by this version yet' } of unenforced) {
    const steps = path.split('.');
    for (const found of findAll(tree, steps, tree.at)) {
      const value = found.tree.kind === 'scalar' ? String(found.tree.value) : '';
      if (except?.includes(value)) continue;
      const name = except === undefined ? steps.at(-1) : value;
      warn(found.at, `${name}: ${says}`, 'do not rely on it yet');
    }
  }
}

interface Found {
  readonly at: Place;
  readonly tree: Tree;
}

function findAll(tree: Tree, [step, ...rest]: readonly string[], at: Place): readonly Found[] {
  if (step === undefined) return [{ at, tree }];
  if (tree.kind === 'list' && step === '*') return tree.items.flatMap((each) => findAll(each, rest, each.at));
  if (tree.kind !== 'map') return [];
  if (step === '*') return [...tree.entries.values()].flatMap(({ keyAt, value }) => findAll(value, rest, keyAt));
  const entry = tree.entries.get(step);
  return entry === undefined ? [] : findAll(entry.value, rest, entry.keyAt);
}
