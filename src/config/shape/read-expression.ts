/** Compiles an expression of a tool's declaration, and reports what is wrong with it at its place. */
import { compileCel, type CompiledCel } from '../../core/cel/compile-cel.ts';
import type { Json } from '../../core/values/json.ts';
import type { Tell } from '../problem.ts';
import { findScalar, placeOf } from './read-shape.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

export interface ReadingParts {
  readonly tree: Tree;
  readonly tell: Tell;
}

type Path = readonly string[];

export interface ExpressionRule {
  readonly over: readonly string[];
  readonly gives?: 'bool' | 'string' | 'map';
}

export interface Expression {
  readonly text: string;
  /** Null if it fails. */
  readonly valueOf: (values: Readonly<Record<string, Json>>) => Json;
}

const wordFor = { bool: 'true or false', string: 'a text', map: 'a map' } as const;

/** Null if it is missing, or wrong and told. */
export function compileAt(
  text: Json | undefined,
  path: Path,
  { over, gives }: ExpressionRule,
  { tree, tell }: ReadingParts,
): Expression | null {
  if (typeof text !== 'string') return null;
  const variables = Object.fromEntries(over.map((name) => [name, 'dyn' as const]));
  const compiled = compileCel(text, {
    variables,
    // INVARIANT: an error is not made up for by `||`: what cannot be evaluated decides nothing.
    strict: true,
    ...(gives === undefined || gives === 'map' ? {} : { returns: gives }),
  });
  const fix = `write an expression over ${over.join(' and ')}${gives === undefined ? '' : ` that gives ${wordFor[gives]}`}`;
  if (!compiled.ok) {
    const inside = compiled.at === undefined ? undefined : findScalar(tree, path)?.inside(compiled.at);
    tell(inside ?? placeOf(tree, path), `this expression is wrong: ${compiled.problem}`, fix);
    return null;
  }
  if (gives === 'map' && !mayGiveMap(compiled)) {
    tell(placeOf(tree, path), 'this expression gives no map, and the arguments of a tool are one', fix);
    return null;
  }
  return { text, valueOf: (values) => valueOf(compiled, values) };
}

const mayGiveMap = ({ gives }: CompiledCel): boolean => gives === 'map' || gives === 'dyn';

function valueOf({ evaluate }: CompiledCel, values: Readonly<Record<string, Json>>): Json {
  const evaluated = evaluate(values);
  return evaluated.ok ? evaluated.value : null;
}
