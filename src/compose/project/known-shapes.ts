/** What is known about the arguments of everything that rules can speak of, without starting any server? */
import { isDeepStrictEqual } from 'node:util';
import { callablesOf } from '../../core/policy/analyse/callable.ts';
import type { ToolShape } from '../../core/policy/policy.ts';
import { type KnownParts, knownCatalogue } from './known-catalogue.ts';

/** Null if there are tools that nobody pinned. */
export function knownShapes(parts: KnownParts): readonly ToolShape[] | null {
  const known = knownCatalogue(parts);
  if (known.tools === null) return null;
  const shapes = new Map<string, ToolShape>();
  for (const { tool, schema } of callablesOf(known)) {
    const before = shapes.get(tool.name);
    // An action goes by the name of its tool, and may take other arguments: of such a name nothing is certain.
    const isSure = before === undefined || isDeepStrictEqual(before.inputSchema, schema);
    shapes.set(tool.name, { name: tool.name, inputSchema: isSure ? schema : null });
  }
  return [...shapes.values()];
}
