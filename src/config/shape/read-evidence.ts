/** Reads which reads a tool declares as the evidence of its calls. */
import type { DeclaredRead } from '../../core/evidence/declared-read.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { ToolRule } from '../config.ts';
import { compileAt, type ReadingParts } from './read-expression.ts';
import { keyPlaceOf } from './read-shape.ts';

export function readEvidence(
  read: JsonObject,
  path: readonly string[],
  parts: ReadingParts,
): Pick<ToolRule, 'evidence'> {
  const written = read['evidence'];
  if (!Array.isArray(written)) return {};
  if (read['effect'] === 'pure')
    parts.tell(keyPlaceOf(parts.tree, path), 'a read relies on nothing', 'leave evidence out');
  const evidence = (written as readonly Json[]).flatMap((each, index): readonly DeclaredRead[] => {
    const { tool, args } = each as JsonObject;
    const ask = compileAt(args, [...path, String(index), 'args'], { over: ['args'], gives: 'map' }, parts);
    if (typeof tool !== 'string' || ask === null) return [];
    const make = (sent: Json): Json | null => {
      const made = ask.valueOf({ args: sent });
      return isObject(made) ? (made as JsonObject) : null;
    };
    return [{ tool, ask: make, declared: canonicalText({ tool, args: ask.text }) }];
  });
  return { evidence };
}
