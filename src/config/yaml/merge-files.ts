/**
 * Merges a file and the files it includes into one tree, in which each part knows its file. What is defined twice is
 * reported with both places. Reads no files: the caller passes their texts.
 */
import { maxIncludes, onlyInMainFile } from '../shape/config-shape.ts';
import { placeAt, type ProblemList, refOf, type Tell } from '../problem.ts';
import { readYaml, type Tree, type TreeEntry } from './yaml-tree.ts';

/** A file that is included, or why it could not be read. */
export type IncludedFile =
  | { readonly ok: true; readonly file: string; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly fix: string };

/** By its path as it is written under `include`. */
export type IncludedFiles = ReadonlyMap<string, IncludedFile>;

type TreeMap = Tree & { readonly kind: 'map' };

/** The distinct paths under `include`, as written. Their problems are reported when the file is read. */
export function includesIn(text: string): readonly string[] {
  const tree = readYaml(text, '', () => undefined);
  const items = includeItems(tree).slice(0, maxIncludes);
  return [...new Set(items.flatMap((each) => pathOf(each) ?? []))];
}

export function mergeFiles(main: Tree | null, file: string, included: IncludedFiles, list: ProblemList): Tree | null {
  const trees = includedTrees(main, file, included, list);
  if (trees.length === 0 || (main !== null && main.kind !== 'map')) return main;
  const entries = new Map(main?.entries);
  for (const tree of trees) addEntries(tree, entries, list.tell);
  return { kind: 'map', at: main?.at ?? placeAt(file), entries };
}

/** The included files that could be read, as maps; what is wrong with the others is reported. */
function includedTrees(main: Tree | null, file: string, included: IncludedFiles, list: ProblemList): TreeMap[] {
  const { tell } = list;
  const trees: TreeMap[] = [];
  const seen = new Set([file]);
  const items = includeItems(main);
  for (const item of items.length > maxIncludes ? [] : items) {
    const written = pathOf(item);
    // The shape check reports what is not a path.
    if (written === null) continue;
    const found = included.get(written) ?? notRead(written);
    if (!found.ok) {
      tell(item.at, found.message, found.fix, 'ShapeInvalid');
      continue;
    }
    if (seen.has(found.file)) {
      tell(item.at, `'${found.file}' is read already`, 'leave it out');
      continue;
    }
    seen.add(found.file);
    list.addSource(found.file, found.text);
    const tree = readYaml(found.text, found.file, tell);
    if (tree?.kind === 'map') trees.push(tree);
    else if (tree !== null)
      tell(tree.at, `a ${tree.kind} stands here`, 'write a map with keys such as agents or tools');
  }
  return trees;
}

const notRead = (written: string): IncludedFile => ({
  ok: false,
  message: `'${written}' was not read`,
  fix: 'name it by its path from the folder of this file',
});

function includeItems(tree: Tree | null): readonly Tree[] {
  const list = tree?.kind === 'map' ? tree.entries.get('include')?.value : undefined;
  return list?.kind === 'list' ? list.items : [];
}

const pathOf = (tree: Tree): string | null =>
  tree.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : null;

function addEntries(tree: TreeMap, entries: Map<string, TreeEntry>, tell: Tell): void {
  for (const [key, entry] of tree.entries) {
    const before = entries.get(key);
    if (onlyInMainFile.includes(key))
      tell(
        entry.keyAt,
        `'${key}' cannot stand in a file that is included`,
        'move it to the file that includes this one',
      );
    else if (before === undefined) entries.set(key, entry);
    else if (before.value.kind === 'map' && entry.value.kind === 'map')
      entries.set(key, { ...before, value: joined(before.value, entry.value, tell) });
    // If neither is a map, one is kept, and the shape check reports it.
    else if (entry.value.kind !== 'map')
      tell(entry.value.at, `this cannot be joined with ${refOf(before.keyAt)}`, 'write a map');
    else entries.set(key, { ...entry, value: wrongFirst(before, entry.value, tell) });
  }
}

function joined(first: TreeMap, second: TreeMap, tell: Tell): TreeMap {
  const entries = new Map(first.entries);
  for (const [name, entry] of second.entries) {
    const before = entries.get(name);
    if (before === undefined) entries.set(name, entry);
    else
      tell(
        entry.keyAt,
        `'${name}' stands in ${refOf(before.keyAt)} already`,
        'keep one of them, or give it another name',
      );
  }
  return { ...first, entries };
}

function wrongFirst(before: TreeEntry, value: TreeMap, tell: Tell): TreeMap {
  tell(before.value.at, `this cannot be joined with ${refOf(value.at)}`, 'write a map');
  return value;
}
