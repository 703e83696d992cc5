/** Finds which extension adds what, and which of them must be there for what a file uses. Pure. */
import { nearest } from '../values/nearest.ts';
import { type Addition, additions, type ExtensionProblem, type ExtensionShape } from './extension-shape.ts';

export interface Kinds {
  /** The extension that adds it; null if none does. */
  ownerOf(addition: Addition, kind: string): string | null;
  namesOf(addition: Addition): readonly string[];
  /** The known name that was probably meant, or all of them; for a fix. */
  suggest(addition: Addition, kind: string): string;
}

type Named = Pick<ExtensionShape, 'name' | 'adds'>;

/** Two extensions that add the same are a problem: nobody could tell which is meant. */
export function findKinds(extensions: readonly Named[]): {
  readonly kinds: Kinds;
  readonly problems: readonly ExtensionProblem[];
} {
  const owners = new Map<Addition, Map<string, string>>(additions.map((addition) => [addition, new Map()]));
  const problems: ExtensionProblem[] = [];
  for (const { name, adds } of extensions)
    for (const addition of additions)
      for (const kind of adds[addition]) {
        const owner = owners.get(addition)?.get(kind);
        if (owner === undefined) owners.get(addition)?.set(kind, name);
        else problems.push(addedTwice(addition, kind, [owner, name]));
      }
  const namesOf = (addition: Addition) => [...(owners.get(addition)?.keys() ?? [])];
  return {
    problems,
    kinds: {
      ownerOf: (addition, kind) => owners.get(addition)?.get(kind) ?? null,
      namesOf,
      suggest(addition, kind) {
        const names = namesOf(addition);
        const near = nearest(kind, names);
        if (near !== null) return `did you mean ${near}?`;
        const adder = `add the extension that has it to extensions`;
        return names.length === 0 ? adder : `use one of ${names.join(', ')}, or ${adder}`;
      },
    },
  };
}

const addedTwice = (addition: Addition, kind: string, [one, other]: readonly [string, string]): ExtensionProblem => ({
  code: 'ShapeInvalid',
  extension: other,
  message: `the extensions '${one}' and '${other}' both add '${kind}' to ${addition}`,
  fix: 'use only one of them, or give it another name in one',
});

/** Those that are used, and all that they need. */
export function withNeeds(
  used: ReadonlySet<string>,
  extensions: readonly Pick<ExtensionShape, 'name' | 'needs'>[],
): ReadonlySet<string> {
  const all = new Set<string>();
  const add = (name: string): void => {
    if (all.has(name)) return;
    all.add(name);
    for (const needed of extensions.find((each) => each.name === name)?.needs ?? []) add(needed);
  };
  for (const name of used) add(name);
  return all;
}
