/** Edges on how a step ended: which error they are for, in names that are checked, as a condition in CEL. */
import type { CelType } from '../../core/cel/check-types.ts';
import { matchableFields, matchText, unknownNamesIn } from '../../core/workflow/match-error.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Tell } from '../problem.ts';
import { keyPlaceOf, placeOf } from '../shape/read-shape.ts';
import type { Tree } from '../yaml/yaml-tree.ts';
import type { Path } from './workflow-expressions.ts';

/** `pay.failed` is about the action `pay`; null for any other name. */
export function outcomeOf(event: string): { readonly action: string; readonly outcome: string } | null {
  const dot = event.indexOf('.');
  return dot < 1 ? null : { action: event.slice(0, dot), outcome: event.slice(dot + 1) };
}

/** What is known of an error: a verdict may be null. */
export const errorType: CelType = {
  fields: {
    error: 'string',
    class: 'string',
    code: 'string',
    verdict: 'dyn',
    effect: 'string',
    message: 'string',
  },
};

/** The guard of an edge with what it asks of the error; what was written if it asks nothing. */
export function withErrorMatch(edge: JsonObject): Json | undefined {
  const { guard } = edge;
  const asked = matchText(edge);
  if (asked === '') return guard;
  return typeof guard === 'string' ? `${asked} && (${guard})` : asked;
}

export function checkErrorEdge(edge: JsonObject, path: Path, isOutcome: boolean, tree: Tree, tell: Tell): void {
  for (const field of isOutcome ? [] : matchableFields)
    if (field in edge)
      tell(
        keyPlaceOf(tree, [...path, field]),
        `'${field}' asks for the error of a step, and this edge is on its success`,
        'write it under <action>.failed, or leave it out',
      );
  const { guard } = edge;
  for (const { name, fix } of isOutcome && typeof guard === 'string' ? unknownNamesIn(guard) : [])
    tell(placeOf(tree, [...path, 'guard']), `no error has the name '${name}'`, fix);
}
