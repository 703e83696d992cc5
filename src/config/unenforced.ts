/** What does this version read and check, and not enforce? Each use is warned about; a line leaves the table when it is enforced. */
import type { Place, Warn } from './problem.ts';
import type { Tree } from './yaml-tree.ts';

interface Unenforced {
  /** Keys from the top; * for any name, or any item of a list. */
  readonly path: string;
  /** Only this value. */
  readonly value?: string;
  readonly says?: string;
}

const deferred = 'read and checked; such a call is denied until approvals exist';

export const unenforced: readonly Unenforced[] = [
  { path: 'agents.*.default', value: 'defer', says: deferred },
  { path: 'agents.*.rules.*.defer', says: deferred },
  { path: 'agents.*.rules.*.approvers' },
  { path: 'agents.*.rules.*.expires' },
  { path: 'agents.*.rules.*.on_approve' },
  { path: 'agents.*.limits' },
  { path: 'agents.*.budgets' },
  { path: 'agents.*.egress' },
  { path: 'agents.*.completion' },
  { path: 'agents.*.approvers' },
  { path: 'roles' },
  { path: 'credentials' },
  { path: 'notify' },
  { path: 'playbook' },
  { path: 'extensions' },
];

export function warnUnenforced(tree: Tree, warn: Warn): void {
  for (const { path, value, says = 'read and checked, not enforced by this version yet' } of unenforced) {
    const steps = path.split('.');
    for (const found of findAll(tree, steps, tree.at)) {
      if (value !== undefined && (found.tree.kind !== 'scalar' || found.tree.value !== value)) continue;
      const name = value === undefined ? steps.at(-1) : `${steps.at(-1)}: ${value}`;
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
