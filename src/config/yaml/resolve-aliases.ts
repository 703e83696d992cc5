/**
 * What does each alias of a YAML document stand for? The nearest anchor of its name that is written before it. One walk
 * over the document, however many aliases it has: the parser's own way walks it once for each.
 */
import { type Alias, isAlias, isMap, isSeq, type Node } from 'yaml';

/** `tooDeep` is called, and must throw, at what lies deeper than `maxDepth`. */
export function resolveAliases(
  contents: Node | null,
  maxDepth: number,
  tooDeep: (node: Node) => never,
): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const meant = new Map<Alias, Node>();
  const walk = (node: Node | null, depth: number): void => {
    if (node === null) return;
    if (depth > maxDepth) tooDeep(node);
    if (isAlias(node)) {
      const found = anchors.get(node.source);
      if (found !== undefined) meant.set(node, found);
      return;
    }
    const { anchor } = node as { readonly anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node);
    if (isSeq(node)) for (const each of node.items) walk(each as Node | null, depth + 1);
    if (isMap(node))
      for (const { key, value } of node.items) {
        walk(key as Node | null, depth + 1);
        walk(value as Node | null, depth + 1);
      }
  };
  walk(contents, 0);
  return meant;
}
