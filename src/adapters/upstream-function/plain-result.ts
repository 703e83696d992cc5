/**
 * What is the result of a body, as it will be written? Whoever looks for keys or masks values must see what is recorded and answered,
 * not an object that says something else of itself later. Never throws.
 */
import { canonicalise } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { Failure } from '../../ports/upstream.ts';
import { failure } from './describe-throw.ts';

export type PlainResult =
  | { readonly ok: true; readonly output: Json }
  | { readonly ok: false; readonly failure: Failure };

/** A copy: the body may still hold, and change, what it returned. */
export function plainResult(output: unknown, maxDepth: number): PlainResult {
  const written = canonicalise(output === undefined ? null : output, { maxDepth });
  if (written.ok) return { ok: true, output: JSON.parse(written.text) as Json };
  const message = `the result is not JSON at '${written.path}': ${written.problem}`;
  return {
    ok: false,
    failure: failure('schema_validation', message, { subject: 'response', errorType: 'OutputMalformed' }),
  };
}
